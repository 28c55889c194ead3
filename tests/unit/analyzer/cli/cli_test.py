"""The command as a person and the epilog call it: exit status, files, messages."""

import json
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest

PROGRAM, KNOWLEDGE = sys.argv[1], sys.argv[2]
TRACEBACK = ('Traceback (most recent call last):\n  File "/home/user/train.py", line 12, in load\n'
             "    return table[key]\nKeyError: 'v3'\n")
HARMLESS = "Warning: destroy_process_group() was not called before program exit\n"


def call(*arguments, text=None):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, timeout=60)


def analyze(*arguments, text=None):
    return call("analyze", *arguments, "--knowledge", KNOWLEDGE, text=text)


class Analyze(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.log = self.folder / "job.log"
        self.log.write_text(TRACEBACK)

    def test_exit_status(self):
        self.assertEqual(analyze(str(self.log)).returncode, 10)
        self.assertEqual(analyze("-", text=HARMLESS).returncode, 0)
        self.assertEqual(analyze("-", text="step 1\n").returncode, 11)
        self.assertEqual(analyze(str(self.folder / "absent")).returncode, 3)
        self.assertEqual(call("analyze").returncode, 2)
        self.assertEqual(call().returncode, 2)

    def test_json(self):
        diagnosis = json.loads(analyze(str(self.log), "--json").stdout)
        self.assertEqual(diagnosis["cause"], "rank-exception")
        self.assertEqual(diagnosis["schema"], "inquest-diagnosis-1")

    def test_report_is_the_owners_alone_and_the_same_twice(self):
        report = self.folder / "inquest-1"
        report.mkdir()
        analyze(str(self.log), "--report", str(report))
        first = {path.name: path.read_bytes() for path in report.iterdir()}
        self.assertEqual(sorted(first), ["diagnosis.json", "notice-0.txt", "report.txt"])
        for path in report.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        analyze(str(self.log), "--report", str(report))
        self.assertEqual(first, {path.name: path.read_bytes() for path in report.iterdir()})

    def test_a_notice_that_no_longer_holds_becomes_empty(self):
        report = self.folder / "inquest-1"
        report.mkdir()
        analyze(str(self.log), "--report", str(report))
        self.assertIn("KeyError", (report / "notice-0.txt").read_text())
        self.log.write_text(HARMLESS)
        analyze(str(self.log), "--report", str(report))
        self.assertEqual((report / "notice-0.txt").read_text(), "")

    def test_a_bad_report_directory_is_told(self):
        done = analyze(str(self.log), "--report", str(self.folder / "absent"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--report", done.stderr)

    def test_a_bad_knowledge_directory_is_told(self):
        done = call("analyze", str(self.log), "--knowledge", str(self.folder / "absent"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("K001", done.stderr)


class Show(unittest.TestCase):
    def test_finds_the_report(self):
        folder = pathlib.Path(tempfile.mkdtemp())
        report = folder / "inquest-4711"
        report.mkdir()
        (report / "report.txt").write_text("the report\n")
        self.assertEqual(call("show", "4711", "--dir", str(folder)).stdout, "the report\n")

    def test_says_where_it_looked(self):
        done = call("show", "4712", "--dir", tempfile.mkdtemp())
        self.assertEqual(done.returncode, 3)
        self.assertIn("inquest-4712", done.stderr)

    def test_refuses_what_is_no_job(self):
        self.assertEqual(call("show", "../x").returncode, 2)


class Other(unittest.TestCase):
    def test_explain(self):
        done = call("explain", "slow-checkpoint", "--knowledge", KNOWLEDGE)
        self.assertEqual(done.returncode, 0)
        self.assertIn("Prevention", done.stdout)
        self.assertEqual(call("explain", "gremlins", "--knowledge", KNOWLEDGE).returncode, 2)

    def test_version_and_help(self):
        self.assertRegex(call("--version").stdout, r"^inquest \d+\.\d+")
        self.assertIn("EXIT STATUS", call("analyze", "--help").stdout)


if __name__ == "__main__":
    os.environ["PATH"] = "/nonexistent"
    unittest.main(argv=[sys.argv[0]])
