"""How a parent says how its children ended: within limits, and without ever disturbing it. No torch needed."""
import os
import signal
import unittest

from hook_case import HookCase

SETUP = """
    import atexit, os, signal, sys

    def started(target, *arguments):
        child = context.Process(target=target, args=arguments)
        child.start()
        return child

    def is_over(child):
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # nobody has taken notice

    if sys.argv[1:]:
        import torch
    """

SHUTDOWN = SETUP + """
    class Keeper:
        def begin(self):
            self.child = started(sys.exit, 3)
            is_over(self.child)

        def __del__(self, say=print, modules=sys):
            say(modules.meta_path, self.child.is_alive(), self.child.exitcode)

    kept = Keeper()
    atexit.register(kept.begin)  # after multiprocessing's own function, which waits for all children
    import multiprocessing
    context = multiprocessing.get_context("fork")
    """

CONTEXT = SETUP + """
    import multiprocessing
    context = multiprocessing.get_context("fork")
    """

MANY = CONTEXT + """
    def end(told, by_themselves):
        for _ in range(told):
            child = started(signal.pause)
            child.kill()
            child.join()
        for _ in range(by_themselves):
            started(os._exit, 3).join()

    end(66, 98)
    if os.fork() == 0:
        from inquest_hook import lifecycle
        lifecycle.ensure_box()
        end(1, 2)
        os._exit(0)
    os.wait()
    """

TOLD = CONTEXT + """
    def end(number, ending):
        child = started(signal.raise_signal, number)
        is_over(child)
        ending(child)
        child.join()

    for number in (signal.SIGUSR1, signal.SIGTERM):
        end(number, lambda child: child.terminate())
    end(signal.SIGTERM, lambda child: None)
    """


class Children(HookCase):
    def run_program(self, text, *arguments):
        stub = os.path.dirname(os.path.dirname(self.write("stub/torch/__init__.py", "")))
        run = self.run_python(self.write("main.py", text), *arguments, path=(stub,), INQUEST_HOOK_DEBUG=None)
        self.assertEqual((run.returncode, run.err), (0, ""))
        return run

    def ends(self, box):
        return [record.number[2:4] for record in box.records("CHILD_END")]

    def test_children_may_be_looked_at_while_the_interpreter_shuts_down(self):
        for arguments in ((), ("torch",)):
            self.assertEqual(self.run_program(SHUTDOWN, *arguments).out, "None False 3\n")

    def test_without_torch_nothing_is_loaded_to_record(self):
        run = self.run_program(CONTEXT + """
    started(sys.exit, 3).join()
    print([name for name in ("ctypes", "inquest_hook.box", "inquest_hook.child_ends") if name in sys.modules])
    """)
        self.assertEqual(run.out, "[]\n")
        self.assertEqual(self.boxes(), [])

    def test_the_records_are_limited_in_each_process(self):
        self.run_program(MANY, "torch")
        own, forked = sorted(self.boxes(), key=lambda box: box.parent_pid != os.getpid())
        self.assertEqual(self.ends(own), [(signal.SIGKILL, 1)] * 64 + [(3 << 8, 0)] * 96)
        self.assertEqual(self.ends(forked), [(signal.SIGKILL, 1)] + [(3 << 8, 0)] * 2)

    def test_a_child_that_had_crashed_unnoticed_was_not_ended_by_its_parent(self):
        self.run_program(TOLD, "torch")
        self.assertEqual(self.ends(self.box()), [(signal.SIGUSR1, 0), (signal.SIGTERM, 1), (signal.SIGTERM, 0)])


if __name__ == "__main__":
    unittest.main()
