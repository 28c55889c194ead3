"""Saves the evidence of failing runs, to be replayed by the analyzer's tests."""

import json
import shutil


def save(placed, end, target):
    """Copies evidence/<step> and the truth to `target`/<program>-<folder>."""
    evidence = placed.folder / f"inquest-{end.job_id}" / "evidence"
    if not (placed.program.fails and evidence.is_dir()):
        return
    bundle = target / f"{placed.program.name}-{placed.folder.name}"
    for step in evidence.iterdir():
        shutil.copytree(step, bundle / step.name)
    truth = {"cause": placed.program.cause, "initiating": placed.initiating, "end": placed.program.end,
             "ranks": placed.values.ranks, "nodes": placed.values.nodes}
    (bundle / "truth.json").write_text(json.dumps(truth, indent=2) + "\n")
