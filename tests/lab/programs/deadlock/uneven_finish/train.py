"""Trains with several local processes per task; step times and ends are uneven."""

import json
import os
import subprocess
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env

REPACK = """
import sys, time, zlib
data = open(sys.argv[1], "rb").read()
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    zlib.compress(data, 9)
"""


def repack(path, seconds):
    """Repacks a part of the data with a program of its own."""
    subprocess.run([sys.executable, "-c", REPACK, path, str(seconds)], check=True)


def spin(seconds):
    """Shuffles and sorts sample keys, as the index of the next part needs."""
    end = time.monotonic() + seconds
    keys = torch.arange(20000)
    while time.monotonic() < end:
        keys = keys[torch.randperm(len(keys))].sort().values
    return len(keys)


def prepare_part(settings):
    if settings["packed"]:
        repack(__file__, settings["index_seconds"])
    else:
        spin(settings["index_seconds"])


def train(settings, rank):
    torch.manual_seed(settings["seed"])
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(settings["steps"]):
        if step == settings["index_step"] and rank == settings["index_rank"]:
            prepare_part(settings)
        values = torch.randn(16, 6)
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(values), values[:, :1])
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"] * (1 + step % 7))
    print(f"rank {rank} trained, loss {loss.item():.4f}", flush=True)


def worker(local_rank, settings, task, tasks):
    local_size = settings["local_size"]
    rank, _ = cluster_env.connect(task * local_size + local_rank, tasks * local_size)
    train(settings, rank)
    dist.barrier()
    if rank == settings["index_rank"]:
        spin(settings["wrap_up_seconds"])
        print("report written", flush=True)
    else:
        dist.destroy_process_group()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    task, tasks = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    mp.spawn(worker, args=(settings, task, tasks), nprocs=settings["local_size"])


if __name__ == "__main__":
    main()
