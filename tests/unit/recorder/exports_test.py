"""libinquest shows nothing but inquest_* and needs nothing but the C library."""
import subprocess
import sys
import unittest

LIBRARY = sys.argv.pop(1)


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout


class Exports(unittest.TestCase):
    def test_only_the_api_is_visible(self):
        lines = run("nm", "-D", "--defined-only", LIBRARY).split("\n")
        names = sorted(line.split()[-1] for line in lines if line)
        self.assertEqual(
            names,
            ["inquest_box_claim", "inquest_box_intern", "inquest_box_is_claimed", "inquest_box_path",
             "inquest_box_set_rank", "inquest_box_set_stack_signal", "inquest_box_write", "inquest_digest_combine",
             "inquest_digest_rows", "inquest_digest_tensors", "inquest_table_name", "inquest_table_open", "inquest_table_write"])

    def test_it_needs_the_c_library_only(self):
        needed = [line.split("[")[1].rstrip("]") for line in run("readelf", "-d", LIBRARY).split("\n") if "NEEDED" in line]
        self.assertLessEqual(set(needed), {"libc.so.6", "libpthread.so.0"})

    def test_it_is_never_unloaded_and_has_no_executable_stack(self):
        self.assertIn("NODELETE", run("readelf", "-d", LIBRARY))
        stack = [line for line in run("readelf", "-lW", LIBRARY).split("\n") if "GNU_STACK" in line]
        self.assertNotIn("E", stack[0].split()[6])


if __name__ == "__main__":
    unittest.main()
