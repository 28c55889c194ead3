"""Trains with DistributedDataParallel; one rank scores a large validation set."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def make_model(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))


def score(model, seconds, generator):
    """Scores batches of the validation stream for the given time."""
    model.eval()
    right = seen = 0
    end = time.monotonic() + seconds
    with torch.no_grad():
        while time.monotonic() < end:
            inputs = torch.randn(256, 32, generator=generator)
            right += int((model(inputs).argmax(dim=1) == inputs[:, :10].argmax(dim=1)).sum())
            seen += len(inputs)
    model.train()
    return right / seen


def run(model, settings, rank):
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.05, momentum=0.9)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(32, 32, generator=generator)
        loss = nn.functional.cross_entropy(wrapped(inputs), inputs[:, :10].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % settings["score_every"] == 0:
            if rank == settings["score_rank"]:
                accuracy = score(model, settings["score_seconds"], generator)
                print(f"step {step}: accuracy {accuracy:.4f}", flush=True)
            dist.barrier()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    run(make_model(settings["seed"]), settings, rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
