"""How a process ends, as its box tells it. An empty module named torch stands for the real one: the claim needs no more."""
import os
import signal
import time
import unittest

from hook_case import HookCase


class Lifecycle(HookCase):
    def setUp(self):
        super().setUp()
        self.write("stub/torch/__init__.py", "__version__ = '0'\n")

    def run_program(self, text, **options):
        options.setdefault("INQUEST_HOOK_DEBUG", None)  # patches of torch find nothing to patch here
        self.program = self.write("train.py", text)
        return self.run_python(self.program, path=(os.path.join(self.root, "stub"),), **options)

    def states(self, box):
        return [record.number[1] for record in box.records("STATE")]

    def exit_status_of(self, text):
        run = self.run_program(text)
        box = self.box()
        os.remove(box.path)
        self.assertEqual(box.live.exit_status, run.returncode)
        self.assertEqual([record.number[1] for record in box.records("EXIT")], [run.returncode])
        self.assertEqual(box.live.state, 6)
        return run.returncode

    def test_exit_status_of_every_ordinary_end(self):
        self.assertEqual(self.exit_status_of("import torch"), 0)
        self.assertEqual(self.exit_status_of("import torch, sys\nsys.exit(3)"), 3)
        self.assertEqual(self.exit_status_of("import torch\nraise SystemExit(4)"), 4)
        self.assertEqual(self.exit_status_of("import torch, sys\nsys.exit('message')"), 1)
        self.assertEqual(self.exit_status_of("import torch, sys\ntry:\n    sys.exit(5)\nexcept SystemExit:\n    pass"), 0)
        self.assertEqual(self.exit_status_of("import torch\n1 / 0"), 1)

    def test_os_exit_and_signals_leave_no_exit_record(self):
        for text in ("import torch, os\nos._exit(9)", "import torch, os, signal\nos.kill(os.getpid(), signal.SIGKILL)"):
            self.run_program(text)
            box = self.box()
            os.remove(box.path)
            self.assertEqual(box.records("EXIT"), [])
            self.assertLess(box.live.state, 5)

    def test_header_and_states(self):
        self.run_program("import torch", SLURM_JOB_ID="4711", SLURM_STEP_ID="2", SLURM_PROCID="6", SLURM_NODEID="1")
        box = self.box()
        self.assertEqual((box.job_id, box.step_id, box.task, box.node_index), (4711, 2, 6, 1))
        self.assertEqual(box.program, self.program)
        self.assertEqual(self.states(box), [1, 2, 5])
        self.assertEqual(box.live.rank, -1)

    def test_environment_is_recorded_and_secrets_are_hidden(self):
        self.run_program("import torch", NCCL_DEBUG="WARN", TORCH_API_TOKEN="tell-nobody", HOME_ADDRESS="x")
        values = {record.text[2]: record.text[3] for record in self.box().records("ENVIRONMENT")}
        self.assertEqual((values["NCCL_DEBUG"], values["torch"], values["OMP_NUM_THREADS"]), ("WARN", "0", "1"))
        self.assertEqual(values["TORCH_API_TOKEN"], "(hidden)")
        self.assertNotIn("HOME_ADDRESS", values)

    def test_an_exception_names_the_innermost_line_of_the_user(self):
        self.run_program("""
            import json
            def load(text):
                return json.loads(text)  # here
            def main():
                import torch
                load("{")
            main()
            """)
        record, = self.box().records("EXCEPTION")
        self.assertEqual(record.text[:3], (self.program, "load", "json.decoder.JSONDecodeError"))
        self.assertIn("Expecting property name", record.text[3])
        self.assertEqual(record.number[:3], (self.line_of(self.program, "here"), 1, 0))

    def test_an_exception_before_torch_is_worth_a_box(self):
        self.run_program("open('/nonexistent/data')  # here")
        box = self.box()
        self.assertEqual(box.records("EXCEPTION")[0].text[2], "FileNotFoundError")
        self.assertEqual(box.live.exit_status, 1)

    def test_hooks_of_the_user_still_run_and_need_not_chain(self):
        run = self.run_program("""
            import sys, torch
            sys.excepthook = lambda kind, value, traceback: print("mine", kind.__name__)
            raise KeyError("x")
            """)
        self.assertEqual(run.out, "mine KeyError\n")
        self.assertEqual([record.text[2] for record in self.box().records("EXCEPTION")], ["KeyError"])

    def test_the_traceback_is_printed_as_always(self):
        with_hook = self.run_program("import torch\nraise ValueError('x')").err
        without = self.run_program("import torch\nraise ValueError('x')", armed=False).err
        self.assertEqual(with_hook, without)

    def test_a_huge_or_hostile_message_is_bounded(self):
        self.run_program("""
            import torch
            class Hostile(Exception):
                def __str__(self):
                    raise RuntimeError("no")
            try:
                raise ValueError("x" * 100000)
            finally:
                raise Hostile()
            """)
        record, = self.box().records("EXCEPTION")
        self.assertEqual(record.text[2:4], ("Hostile", None))

    def test_an_exception_of_a_thread_does_not_end_the_process(self):
        run = self.run_program("""
            import threading, torch
            def work():
                raise KeyError("thread")
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
            """)
        self.assertIn("KeyError", run.err)
        record, = self.box().records("EXCEPTION")
        self.assertEqual((record.text[1], record.number[1]), ("work", 0))

    def test_a_forked_child_is_silent_unless_it_dies_of_an_exception(self):
        self.run_program("""
            import multiprocessing, os, torch
            def quiet():
                pass
            def loud():
                raise KeyError("child")
            if __name__ == "__main__":
                context = multiprocessing.get_context("fork")
                for target in (quiet, loud):
                    process = context.Process(target=target)
                    process.start()
                    process.join()
                if os.fork() == 0:
                    os._exit(0)
                os.wait()
            """)
        boxes = sorted(self.boxes(), key=lambda box: box.pid)
        self.assertEqual(len(boxes), 2)
        self.assertEqual(boxes[0].records("EXCEPTION"), [])
        self.assertEqual([record.text[1:3] for record in boxes[1].records("EXCEPTION")], [("loud", "KeyError")])
        self.assertEqual(boxes[1].parent_pid, boxes[0].pid)

    def test_the_stack_signal_writes_the_stacks_of_a_busy_process(self):
        program = self.write("train.py", """
            import time, torch
            def stuck():
                print("ready", flush=True)
                time.sleep(60)
            stuck()
            """)
        process = self.start(program, path=(os.path.join(self.root, "stub"),))
        self.assertEqual(process.stdout.readline(), "ready\n")
        box = self.box()
        self.assertGreaterEqual(box.live.stack_signal, signal.SIGRTMIN)
        os.kill(process.pid, box.live.stack_signal)
        stacks = self.wait_for_text(box.path.replace("box-", "stack-").replace(".ibb", ".txt"))
        process.kill()
        self.finish(process)
        self.assertRegex(stacks, 'File "%s", line [34] in stuck' % program)

    def crash(self, **variables):
        """Runs a program that ends by SIGSEGV; its standard error and what lies beside its box."""
        program = self.write("train.py", """
            import os, signal, torch
            os.kill(os.getpid(), signal.SIGSEGV)
            """)
        run = self.run_python(program, path=(os.path.join(self.root, "stub"),), PYTHONFAULTHANDLER="1", **variables)
        with open(self.box().path.replace("box-", "stack-").replace(".ibb", ".txt")) as file:
            return run.err, file.read()

    def test_the_stacks_of_a_crash_are_beside_the_box(self):
        err, stacks = self.crash(INQUEST_INJECTED="A,PYTHONFAULTHANDLER")
        self.assertNotIn("Fatal", err)
        self.assertRegex(stacks, 'Fatal Python error: Segmentation fault[^$]*line 2 in <module>')

    def test_crash_stacks_that_the_user_asked_for_stay_in_the_output(self):
        err, stacks = self.crash(INQUEST_INJECTED="A")
        self.assertIn("Fatal Python error", err)
        self.assertEqual(stacks, "")

    def wait_for_text(self, path):
        for _ in range(200):
            with open(path) as file:
                text = file.read()
            if "in <module>" in text:
                return text
            time.sleep(0.02)
        return text


if __name__ == "__main__":
    unittest.main()
