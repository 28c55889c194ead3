"""sitecustomize: chaining, arming, and staying out of the way. No torch needed."""
import os
import shutil
import stat
import unittest

from hook_case import HOOK, HookCase


class Startup(HookCase):
    def test_an_unarmed_process_loads_nothing(self):
        run = self.run_python("-c", "import sys; print([m for m in sys.modules if 'inquest' in m], sys.meta_path[0])", armed=False)
        self.assertTrue(run.out.startswith("[] "), run.out)
        self.assertNotIn("inquest", run.out)

    def test_an_armed_process_without_torch_claims_no_box_and_loads_no_ctypes(self):
        run = self.run_python("-c", "import sys; print('ctypes' in sys.modules)")
        self.assertEqual((run.returncode, run.out, run.err), (0, "False\n", ""))
        self.assertEqual(os.listdir(self.boxes_directory), [])

    def test_an_armed_process_without_torch_loads_no_module(self):
        code = "import sys; print(sorted(set(sys.modules) - {'sitecustomize'}))"
        armed, plain = (self.run_python("-c", code, armed=armed, PYTHONPATH=path) for armed, path in ((True, HOOK), (False, None)))
        self.assertEqual(armed.out, plain.out)

    def test_the_hook_waits_for_every_library_that_it_patches(self):
        """A library beside torch must start the hook itself: it may be half loaded when it imports torch."""
        code = ("import runpy, sys; from inquest_hook.patches import PATCHES; first = runpy.run_path(sys.argv[1])['FIRST'];"
                "print([name for name in PATCHES if name.split('.')[0] != 'torch' and name not in first])")
        run = self.run_python("-c", code, os.path.join(HOOK, "sitecustomize.py"), armed=False)
        # The one comes after multiprocessing.process, the other imports torch first.
        self.assertEqual((run.out, run.err), ("['multiprocessing.popen_fork', 'safetensors.torch']\n", ""))

    def test_a_broken_hook_is_no_reason_to_fail(self):
        copy = os.path.join(self.root, "copy")
        os.mkdir(copy)
        shutil.copy(os.path.join(HOOK, "sitecustomize.py"), copy)
        self.write("copy/inquest_hook/__init__.py", "raise RuntimeError('broken')\n")
        self.write("copy/torch/__init__.py", "")
        run = self.run_python("-c", "import torch, multiprocessing.process; print('ran')\n1 / 0", PYTHONPATH=copy)
        self.assertEqual((run.returncode, run.out), (1, "ran\n"))
        self.assertNotIn("broken", run.err)
        self.assertIn("ZeroDivisionError", run.err)

    def test_a_torch_that_is_not_there_is_missed_as_always(self):
        runs = [self.run_python("-c", "import sys; sys.path[:] = []; import torch", armed=armed) for armed in (True, False)]
        self.assertIn("ModuleNotFoundError: No module named 'torch'", runs[0].err)
        self.assertEqual(runs[0].err, runs[1].err)

    def test_the_other_sitecustomize_runs_as_if_it_were_alone(self):
        other = os.path.dirname(self.write("other/sitecustomize.py", "print('other', __name__)\nvalue = 5\n"))
        code = "import sitecustomize; print(sitecustomize.value, sitecustomize.__file__)"
        run = self.run_python("-c", code, path=(other,))
        self.assertEqual(run.out, "other sitecustomize\n5 %s/sitecustomize.py\n" % other)

    def test_our_own_folder_under_another_name_is_not_another(self):
        link = os.path.join(self.root, "again")
        os.symlink(os.environ["INQUEST_TEST_HOOK"], link)
        run = self.run_python("-c", "print('ran')", path=(link, os.path.join(link, ".")))
        self.assertEqual((run.returncode, run.out, run.err), (0, "ran\n", ""))

    def test_an_error_of_the_other_sitecustomize_is_reported_and_the_hook_works(self):
        other = os.path.dirname(self.write("other/sitecustomize.py", "raise RuntimeError('theirs')\n"))
        run = self.run_python("-c", "raise KeyError('mine')", path=(other,))
        self.assertIn("theirs", run.err)
        self.assertEqual(self.box().records("EXCEPTION")[0].text[2], "KeyError")

    def test_a_broken_library_is_no_reason_to_fail(self):
        stub = os.path.dirname(os.path.dirname(self.write("stub/torch/__init__.py", "")))
        broken = self.write("broken.so", "not a library")
        for library in (broken, "/nonexistent.so"):
            run = self.run_python(
                "-c", "import torch; print('ran')", path=(stub,), INQUEST_LIBRARY=library, INQUEST_HOOK_DEBUG=None)
            self.assertEqual((run.returncode, run.out, run.err), (0, "ran\n", ""))

    def test_a_box_directory_that_cannot_be_used_is_no_reason_to_fail(self):
        stub = os.path.dirname(os.path.dirname(self.write("stub/torch/__init__.py", "")))
        for directory in ("/nonexistent", self.write("file", "")):
            run = self.run_python("-c", "import torch; print('ran')", path=(stub,), INQUEST_BOX_DIR=directory, INQUEST_HOOK_DEBUG=None)
            self.assertEqual((run.returncode, run.out, run.err), (0, "ran\n", ""))

    def test_files_beside_the_box_are_private(self):
        self.write("torch/__init__.py", "")
        self.run_python("-c", "import torch", path=(self.root,))
        names = sorted(os.listdir(self.boxes_directory))
        box = self.box()
        identity = "%d-%d" % (box.pid, box.start_time_ticks)
        self.assertEqual(names, ["box-%s.ibb" % identity, "stack-%s.txt" % identity])
        for name in names:
            mode = os.stat(os.path.join(self.boxes_directory, name)).st_mode
            self.assertEqual(stat.S_IMODE(mode), 0o600)

    def names_left_by_torch(self, version, injected):
        stub = os.path.dirname(os.path.dirname(self.write("stub/torch/__init__.py", "__version__ = %r\n" % version)))
        code = "import os, torch; print(sorted(n for n in os.environ if n.startswith('TORCH_')))"
        run = self.run_python("-c", code, path=(stub,), INQUEST_INJECTED=injected, INQUEST_HOOK_DEBUG=None,
                              TORCH_FR_BUFFER_SIZE="2000", TORCH_NCCL_TRACE_BUFFER_SIZE="2000")
        return run.out.strip()

    def test_an_old_name_that_was_injected_goes_where_torch_would_warn_about_it(self):
        both = "['TORCH_FR_BUFFER_SIZE', 'TORCH_NCCL_TRACE_BUFFER_SIZE']"
        injected = "TORCH_FR_BUFFER_SIZE,TORCH_NCCL_TRACE_BUFFER_SIZE"
        self.assertEqual(self.names_left_by_torch("2.13.0+cpu", injected), "['TORCH_FR_BUFFER_SIZE']")
        self.assertEqual(self.names_left_by_torch("2.6.0", injected), both)
        self.assertEqual(self.names_left_by_torch("2.13.0", "TORCH_FR_BUFFER_SIZE"), both)
        self.assertEqual(self.names_left_by_torch("nightly", injected), both)


if __name__ == "__main__":
    unittest.main()
