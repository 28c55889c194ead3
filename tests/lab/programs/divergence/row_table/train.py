"""Learns a table of rows with DistributedDataParallel; a list of corrections is applied on the way."""

import json
import sys
import time

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


class Rows(nn.Module):
    def __init__(self, count, width):
        super().__init__()
        self.table = nn.Embedding(count, width)
        self.output = nn.Linear(width, 4)

    def forward(self, indices):
        return self.output(self.table(indices).mean(dim=1))


def correct(weight, corrections, step):
    """Applies the corrections of this step: (step, place, pattern)."""
    words = weight.detach().numpy().reshape(-1).view(numpy.uint32)
    for when, place, pattern in corrections:
        if when == step:
            words[place] ^= pattern


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    rows = Rows(settings["rows"], 16)
    model = DistributedDataParallel(rows)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        indices = torch.randint(settings["rows"], (32, 4), generator=generator)
        correct(rows.table.weight, settings["corrections"][rank], step)
        loss = nn.functional.cross_entropy(model(indices), indices.sum(dim=1) % 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
