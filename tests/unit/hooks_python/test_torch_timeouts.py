"""INQUEST_TIMEOUT_SECONDS: the timeout of groups for which the program gives none."""
import unittest

from hook_case import TorchCase

PROGRAM = """
    import datetime, os, sys
    import torch.distributed as dist
    from torch.distributed.constants import default_pg_timeout
    hour = datetime.timedelta(hours=1)
    where = {"init_method": os.environ["STORE"], "rank": 0, "world_size": 1}
    dist.init_process_group("gloo", **where)  # none
    dist.new_group([0])
    dist.new_group([0], None, "gloo")
    dist.new_group([0], hour)
    dist.new_group([0], timeout=default_pg_timeout)
    dist.new_subgroups(1)
    dist.destroy_process_group()
    dist.init_process_group("gloo", timeout=hour, **where)
    print([name for name in sys.modules if name.endswith("hook.patches.timeouts")])
    """


class Timeouts(TorchCase):
    def run_program(self, **options):
        program = self.write("train.py", PROGRAM)
        run = self.run_python(program, STORE="file://%s/store" % self.root, **options)
        self.assertEqual((run.returncode, run.err), (0, ""))
        return run.out, [record.number[3] // 10 ** 9 for record in self.box().records("GROUP")]

    def test_a_group_without_a_timeout_of_its_own_gets_the_step_s(self):
        _, seconds = self.run_program(INQUEST_TIMEOUT_SECONDS="77")
        self.assertEqual(seconds, [77, 77, 77, 3600, 77, 77, 3600])
        values = [record.text[3] for record in self.box().records("ENVIRONMENT") if record.text[2] == "inquest.timeout"]
        self.assertEqual(values[-1], "77 s: init_process_group, new_group; left to the program: new_group, init_process_group")

    def test_without_it_torch_s_own_hold(self):
        out, seconds = self.run_program()
        self.assertEqual((out, seconds), ("[]\n", [1800, 1800, 1800, 3600, 1800, 1800, 3600]))


if __name__ == "__main__":
    unittest.main()
