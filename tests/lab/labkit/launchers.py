"""How a program's ranks are started: one Slurm task for each, or by torchrun, whose agent is the one task of each node."""

TASKS, TORCHRUN = "tasks", "torchrun"
CHOICES = (TASKS, TORCHRUN)
DRAWN_FROM = (TASKS, TASKS, TORCHRUN)
SCRIPT = "launch.sh"

# nodes, ranks on each
TORCHRUN_SPREADS = [(1, 3), (1, 4), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)]

ON_ONE_NODE = "exec {torchrun} --standalone --nproc-per-node={ranks} {program}"
ON_SEVERAL = """first=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
exec {torchrun} --nnodes={nodes} --nproc-per-node={ranks} --rdzv-backend=c10d \\
  --rdzv-id="$SLURM_JOB_ID" --rdzv-endpoint="$first:$((20000 + SLURM_JOB_ID % 10000))" {program}"""


def possible(truth, wanted=None):
    """The launchers to draw from. A program that starts its ranks itself or needs a layout of tasks takes no other."""
    if "layout" in truth or "ranks_per_task" in truth:
        return (TASKS,)
    return truth.get("launchers") or (DRAWN_FROM if wanted is None else (wanted,))


def torchrun_spreads(truth, most_nodes):
    """The (nodes, ranks on each) that the truth allows; one that asks for torchrun is there to test it over nodes."""
    least, most = truth.get("tasks", (3, 6))
    fewest_nodes = 2 if "launchers" in truth else 1
    return [(nodes, ranks) for nodes, ranks in TORCHRUN_SPREADS
            if least <= nodes * ranks <= most and fewest_nodes <= nodes <= most_nodes]


def command(placed):
    """What each Slurm task runs."""
    values, program = placed.values, placed.arguments
    if values.launcher == TASKS:
        return ["python", *program]
    text = ON_ONE_NODE if values.nodes == 1 else ON_SEVERAL
    torchrun = values.random.choice(["torchrun", "python -m torch.distributed.run"])
    line = text.format(torchrun=torchrun, nodes=values.nodes, ranks=values.ranks_per_task, program=" ".join(program))
    (placed.folder / SCRIPT).write_text(f"#!/bin/bash\n{line}\n")
    return ["bash", SCRIPT]
