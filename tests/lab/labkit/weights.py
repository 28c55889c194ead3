"""What a local run's replicas really did, from the digests that labkit/witness wrote."""

import collections


def _read(path):
    """{(optimizer, completed steps): (gradients, weights)} of one rank."""
    lines = [line.split() for line in path.read_text().splitlines()]
    return {(int(optimizer), int(step)): (gradients, weights) for optimizer, step, gradients, weights in lines}


def _minority(digests):
    """The ranks off the majority; all where no digest has one."""
    digest, count = collections.Counter(digests).most_common(1)[0]
    return [rank for rank, own in enumerate(digests) if own != digest or 2 * count <= len(digests)]


def first_difference(placed):
    """(step, ranks off the majority) of the first step after which weights differ, (None, []) if they never do."""
    logs = [_read(placed.folder / f"weights-{rank}.txt") for rank in range(placed.values.ranks)]
    common = sorted(set.intersection(*(set(log) for log in logs)), key=lambda point: point[1])
    for point in common:
        weights = [log[point][1] for log in logs]
        if len(set(weights)) > 1:
            return point[1], _minority(weights)
    return None, []


def problems(placed):
    """How the replicas' weights differ from what the truth says; of a cause whose weights stay equal they never differ."""
    step, ranks = first_difference(placed)
    truth = placed.program.truth
    weights_differ = placed.program.drifts and truth.get("weights", "differ") == "differ"
    expected = (placed.first_bad_step, placed.initiating) if weights_differ else (None, [])
    return [] if (step, ranks) == expected else [f"weights differ from step {step} on ranks {ranks}"]
