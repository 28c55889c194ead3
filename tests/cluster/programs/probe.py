"""Trains one model per node, with DistributedDataParallel among the node's two ranks, until the file `stop` is there. Rank 1's weights are
changed by hand after a step, and rank 3 trains a small model of its own before. Nothing begins before the file `go` is there."""

import os
import pathlib
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import drift

ODD_RANK, ODD_STEP = 1, 20
PROBING_RANK = 3
PAUSE_S = 0.05


def wait_for(name):
    while not pathlib.Path(name).exists():
        time.sleep(PAUSE_S)


def train_probe():
    probe = nn.Linear(8, 2)
    optimizer = torch.optim.SGD(probe.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        probe(torch.randn(4, 8)).sum().backward()
        optimizer.step()


def must_stop():
    """The same answer on all ranks."""
    answer = torch.tensor(int(pathlib.Path("stop").exists()))
    dist.all_reduce(answer, dist.ReduceOp.MAX)
    return bool(answer)


def train(rank, group):
    torch.manual_seed(7)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)), process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    step = 0
    while not must_stop():
        step += 1
        optimizer.zero_grad()
        model(torch.randn(16, 32)).square().mean().backward()
        optimizer.step()
        if rank == ODD_RANK and step == ODD_STEP:
            drift.flip_bit(model.module[2].weight)
        time.sleep(PAUSE_S)


def main():
    rank = drift.connect()
    groups = [dist.new_group(ranks) for ranks in ([0, 1], [2, 3])]
    print(f"ready {os.environ['SLURM_PROCID']}", flush=True)
    wait_for("go")
    if rank == PROBING_RANK:
        train_probe()
    train(rank, groups[rank // 2])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
