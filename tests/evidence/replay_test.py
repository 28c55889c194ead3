"""Replays saved evidence of cluster runs: cause, initiating ranks, end and first bad step as in truth.json, a notice
unless a rank merely works, and the same bytes twice."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, KNOWLEDGE = sys.argv[1], sys.argv[2]
BUNDLES = sorted(path.parent for path in pathlib.Path(__file__).resolve().parent.glob("*/truth.json"))
STATUS = {"healthy": 0, "unknown": 11}
DIAGNOSED = 10


def analyze(step):
    return subprocess.run([PROGRAM, "analyze", step.name, "--json", "--knowledge", KNOWLEDGE],
                          cwd=step.parent, capture_output=True, text=True, timeout=60)


def steps(bundle):
    return sorted(path for path in bundle.iterdir() if path.is_dir())


def notice(step):
    """What srun would print."""
    with tempfile.TemporaryDirectory() as report:
        subprocess.run([PROGRAM, "analyze", str(step), "--report", report, "--knowledge", KNOWLEDGE],
                       stdout=subprocess.DEVNULL, timeout=60)
        return (pathlib.Path(report) / f"notice-{step.name}.txt").read_text()


class Replay(unittest.TestCase):
    def check(self, step, truth):
        done = analyze(step)
        self.assertEqual(done.stdout, analyze(step).stdout, "not the same twice")
        diagnosis = json.loads(done.stdout)
        self.assertEqual(diagnosis["cause"], truth["cause"])
        self.assertEqual(sorted(party["rank"] for party in diagnosis["initiating"]), truth["initiating"])
        self.assertIn(diagnosis["end"], truth["end"])
        if "first_bad_step" in truth:
            self.assertEqual(diagnosis["divergence"]["first_bad_step"], truth["first_bad_step"])
        self.assertEqual(notice(step) == "", truth["end"] == ["slow"])
        self.assertEqual(done.returncode, STATUS.get(truth["cause"], DIAGNOSED))

    def test_bundles(self):
        self.assertGreater(len(BUNDLES), 5)
        for bundle in BUNDLES:
            truth = json.loads((bundle / "truth.json").read_text())
            for step in steps(bundle):
                with self.subTest(bundle=bundle.name, step=step.name):
                    self.check(step, truth)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
