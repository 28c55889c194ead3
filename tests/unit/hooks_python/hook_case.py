"""Base of the hook's tests: runs real Python processes with the hook on PYTHONPATH and reads the boxes they leave.

Environment: INQUEST_TEST_LIBRARY is the libinquest.so to load, INQUEST_TEST_HOOK the folder with sitecustomize.py.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import box_reader

LIBRARY = os.environ["INQUEST_TEST_LIBRARY"]
HOOK = os.environ["INQUEST_TEST_HOOK"]
HERE = os.path.dirname(os.path.abspath(__file__))
RANK_SITE = (os.path.join(HERE, "rank_site"), os.path.join(HERE, "..", "..", "support"))  # see gloo_threads.py
TIMEOUT_SECONDS = 300  # a bound for hangs, not a measure: machines that build and test at once are slow


class HookCase(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="inquest-hook-")
        self.addCleanup(shutil.rmtree, self.root, True)
        self.boxes_directory = os.path.join(self.root, "boxes")
        os.mkdir(self.boxes_directory)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text).lstrip("\n"))
        return path

    def environment(self, armed=True, path=(), **variables):
        """The environment of an armed step with nothing else of ours; None takes a variable away."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("INQUEST_", "SLURM_"))}
        environment.update(PYTHONPATH=os.pathsep.join((HOOK,) + tuple(path)), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
        if armed:
            environment.update(
                INQUEST_ARMED="1", INQUEST_BOX_DIR=self.boxes_directory, INQUEST_LIBRARY=LIBRARY, INQUEST_HOOK_DEBUG="1")
        environment.update(variables)
        return {name: value for name, value in environment.items() if value is not None}

    def start(self, *arguments, **options):
        return subprocess.Popen(
            [sys.executable, *arguments], env=self.environment(**options), cwd=self.root, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)

    def finish(self, process):
        process.out, process.err = process.communicate(timeout=TIMEOUT_SECONDS)
        self.assertNotIn("inquest_hook/box.py", process.err, "internal error of the hook")
        return process

    def run_python(self, *arguments, **options):
        return self.finish(self.start(*arguments, **options))

    def boxes(self):
        return box_reader.boxes(self.boxes_directory)

    def box(self):
        """The one box that there must be."""
        boxes = self.boxes()
        self.assertEqual(len(boxes), 1)
        return boxes[0]

    def line_of(self, path, marker):
        """Number of the line that holds `# marker`."""
        with open(path) as file:
            for number, line in enumerate(file, 1):
                if line.rstrip().endswith("# " + marker):
                    return number
        raise AssertionError("no line marked %s in %s" % (marker, path))


class TorchCase(HookCase):
    """Runs programs on several ranks that meet through a file."""

    @classmethod
    def setUpClass(cls):
        try:
            import importlib.util

            found = importlib.util.find_spec("torch") is not None
        except ImportError:
            found = False
        if not found:
            sys.stderr.write("SKIPPED: no torch in %s; the hook's torch patches were NOT tested\n" % sys.executable)
            raise unittest.SkipTest("no torch")

    def environment(self, armed=True, path=(), **variables):
        return super().environment(armed, tuple(path) + RANK_SITE, **variables)

    def start_ranks(self, program, world_size=2, **options):
        self.stores = getattr(self, "stores", 0) + 1
        store = os.path.join(self.root, "store%d" % self.stores)
        return [
            self.start(program, RANK=str(rank), WORLD_SIZE=str(world_size), STORE="file://" + store, **options)
            for rank in range(world_size)]

    def run_ranks(self, program, world_size=2, **options):
        processes = [self.finish(process) for process in self.start_ranks(program, world_size, **options)]
        return processes

    def by_rank(self):
        return {box.live.rank: box for box in self.boxes()}
