"""Saves the evidence of failing runs, to be replayed by the analyzer's tests."""

import json
import shutil


def save(placed, report, target):
    """Copies evidence/<step> below the report directory and the truth to `target`/<program>-<folder>."""
    evidence = report / "evidence" if report else None
    if not (placed.program.fails and evidence and evidence.is_dir()):
        return
    bundle = target / f"{placed.program.name}-{placed.folder.name}"
    for step in evidence.iterdir():
        shutil.copytree(step, bundle / step.name)
    truth = {"cause": placed.program.cause, "initiating": placed.initiating, "end": placed.program.ends,
             "ranks": placed.values.ranks, "nodes": placed.values.nodes}
    (bundle / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")
