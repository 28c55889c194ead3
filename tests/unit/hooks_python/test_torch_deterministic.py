"""INQUEST_DETERMINISTIC: put_ has no deterministic implementation on any device, the CPU included."""
import unittest

from hook_case import TorchCase

PROGRAM = """
    import sys, torch
    print(sorted(name for name in sys.modules if name in ("torch._inductor", "inquest_hook.patches.deterministic")))
    flags = torch.backends.cudnn
    print(torch.get_deterministic_debug_mode(), flags.deterministic, flags.benchmark, flags.allow_tf32, torch.cuda.is_initialized())
    torch.zeros(2).put_(torch.tensor([0, 0]), torch.tensor([1.0, 2.0]))  # put
    print("went on")
    """


class Deterministic(TorchCase):
    def run_program(self, text=PROGRAM, **options):
        self.program = self.write("train.py", text)
        return self.run_python(self.program, **options)

    def recorded(self):
        return [record.text[3] for record in self.box().records("ENVIRONMENT") if record.text[2] == "inquest.deterministic"]

    def test_strict_fails_with_torch_s_own_error_and_says_why(self):
        run = self.run_program(INQUEST_DETERMINISTIC="strict")
        self.assertEqual((run.returncode, run.out), (1, "['inquest_hook.patches.deterministic']\n2 True False False False\n"))
        self.assertIn("RuntimeError: put_ does not have a deterministic implementation", run.err)
        last_line = run.err.splitlines()[-1]
        self.assertTrue(last_line.startswith("inquest: this step runs with --inquest-deterministic=strict"), run.err)
        self.assertEqual(self.recorded(), ["strict"])
        record, = self.box().records("EXCEPTION")
        self.assertEqual(record.number[0], self.line_of(self.program, "put"))

    def test_warn_only_warns(self):
        run = self.run_program(INQUEST_DETERMINISTIC="warn")
        self.assertEqual(run.returncode, 0, run.err)
        self.assertEqual(run.out, "['inquest_hook.patches.deterministic']\n1 True False False False\nwent on\n")
        self.assertIn("UserWarning: put_ does not have a deterministic implementation", run.err)
        self.assertNotIn("inquest:", run.err)
        self.assertEqual(self.recorded(), ["warn"])

    def test_without_it_nothing_is_set_loaded_or_recorded(self):
        for mode in (None, "off"):
            run = self.run_program(INQUEST_DETERMINISTIC=mode)
            self.assertEqual(run.out.splitlines()[1:], ["0 False False True False", "went on"])
            self.assertEqual(run.err, "")
        self.assertEqual([r for box in self.boxes() for r in box.records("ENVIRONMENT") if r.text[2] == "inquest.deterministic"], [])

    def test_the_program_s_own_setting_wins(self):
        program = PROGRAM.replace("import sys, torch\n", "import sys, torch; torch.use_deterministic_algorithms(False)\n")
        self.assertEqual(self.run_program(program, INQUEST_DETERMINISTIC="strict").out.splitlines()[-1], "went on")

    def test_other_errors_are_not_explained(self):
        run = self.run_program("import torch\nraise ValueError('x')", INQUEST_DETERMINISTIC="strict")
        self.assertTrue(run.err.endswith("ValueError: x\n"), run.err)


if __name__ == "__main__":
    unittest.main()
