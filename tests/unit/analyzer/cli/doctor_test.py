"""`inquest doctor` and `inquest explain settings`, with a program in inquest-launch's place."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = sys.argv[1]


class Case(unittest.TestCase):
    def setUp(self):
        self.keeper = tempfile.TemporaryDirectory()
        self.addCleanup(self.keeper.cleanup)
        self.folder = pathlib.Path(self.keeper.name)

    def launch(self, body):
        """A program that stands in for inquest-launch."""
        path = self.folder / "inquest-launch"
        path.write_text("#!/bin/sh\n" + body + "\n")
        path.chmod(0o755)
        return str(path)

    def call(self, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)

    def line(self, part, *arguments):
        """The doctor's lines about a part: verdict and text."""
        output = self.call("doctor", *arguments).stdout
        rows = [(row[:4].strip(), row[6:22].strip(), row[24:]) for row in output.splitlines()]
        return [(verdict, text) for verdict, name, text in rows if name == part]


class Doctor(Case):
    def test_findings_are_told_one_line_each(self):
        launch = self.launch('[ "$1" = --check ] && echo "f:3: there is no key colour" && echo "g: too large" && exit 1')
        self.assertEqual(self.line("configuration", "--launch", launch),
                         [("BAD", "f:3: there is no key colour"), ("BAD", "g: too large")])
        self.assertEqual(self.call("doctor", "--launch", launch).returncode, 10)

    def test_a_good_configuration_is_one_good_line(self):
        (verdict, text), = self.line("configuration", "--launch", self.launch("exit 0"))
        self.assertEqual(verdict, "ok")
        self.assertIn("/etc/inquest/inquest.yaml.d", text)

    def test_a_helper_that_fails_or_is_missing_is_bad(self):
        self.assertEqual(self.line("configuration", "--launch", self.launch("kill -9 $$"))[0][0], "BAD")
        self.assertEqual(self.line("configuration", "--launch", str(self.folder / "absent"))[0][0], "BAD")

    def test_the_plugin_is_found_in_included_files(self):
        main, more = self.folder / "plugstack.conf", self.folder / "plugstack.conf.d"
        more.mkdir()
        main.write_text("# comment\noptional other.so\ninclude plugstack.conf.d/*\n")
        (more / "x.conf").write_text("optional /lib/inquest/spank_inquest.so default=on\n")
        (verdict, text), = self.line("plugstack.conf", "--plugstack", str(main))
        self.assertEqual((verdict, text), ("ok", f"{more}/x.conf: optional /lib/inquest/spank_inquest.so default=on"))

    def test_a_commented_or_absent_line_is_bad_and_required_is_noted(self):
        main = self.folder / "plugstack.conf"
        main.write_text("#optional spank_inquest.so\ninclude plugstack.conf\n")
        self.assertEqual(self.line("plugstack.conf", "--plugstack", str(main))[0][0], "BAD")
        self.assertEqual(self.line("plugstack.conf", "--plugstack", str(self.folder / "none"))[0][0], "BAD")
        main.write_text("required spank_inquest.so\n")
        self.assertEqual(self.line("plugstack.conf", "--plugstack", str(main))[0][0], "note")

    def test_every_installed_part_has_a_line(self):
        for part in ("plugin", "library", "hook", "inquest-launch", "inquest-notice", "inquestd", "inquest-epilog", "settings"):
            self.assertEqual(len(self.line(part, "--launch", self.launch("exit 0"))), 1, part)


class ExplainSettings(Case):
    def evidence(self, node, **names):
        path = self.folder / "inquest-9" / "evidence" / "0" / node
        path.mkdir(parents=True)
        (self.folder / "inquest-9" / "report.txt").write_text("report")
        (path / "node.json").write_text(json.dumps({"schema": "inquest-node-evidence-1", "job": 9, "step": "0", **names}))

    def explain(self, *arguments):
        return self.call("explain", "settings", *arguments, "--launch", self.launch('echo "$*"'))

    def test_without_a_job_all_settings_are_printed(self):
        self.assertEqual(self.explain().stdout, "--explain\n")

    def test_a_jobs_names_come_from_all_its_nodes(self):
        self.evidence("n1", injected=["B", "A"], left_alone=[])
        self.evidence("n2", injected=["A"], left_alone=["C"])
        done = self.explain("9", "--dir", str(self.folder))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "Step 0, from the evidence of 2 node(s)\n\n--explain --injected=A,B --left-alone=C\n")

    def test_a_healthy_job_is_told_as_one(self):
        done = self.explain("10", "--dir", str(self.folder))
        self.assertEqual(done.returncode, 3)
        self.assertIn("healthy job leaves nothing", done.stderr)

    def test_a_job_is_a_number(self):
        self.assertEqual(self.explain("../9", "--dir", str(self.folder)).returncode, 2)

    def test_broken_evidence_is_no_evidence(self):
        self.evidence("n1")
        (self.folder / "inquest-9/evidence/0/n1/node.json").write_text("[]")
        self.assertEqual(self.explain("9", "--dir", str(self.folder)).returncode, 3)

    def test_without_the_helper_there_are_no_settings(self):
        done = self.call("explain", "settings", "--launch", str(self.folder / "absent"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("inquest doctor", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
