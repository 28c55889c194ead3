"""Trains a normalised network with DistributedDataParallel."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(14, 40), nn.BatchNorm1d(40), nn.ReLU(),
                         nn.Linear(40, 40), nn.BatchNorm1d(40), nn.ReLU(), nn.Linear(40, 2))


def wrap(network):
    return DistributedDataParallel(network, broadcast_buffers=False)


def batches(settings, rank):
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for _ in range(settings["steps"]):
        features = torch.randn(32, 14, generator=generator) + settings["shift"]
        yield features, (features[:, 0] > features[:, 1]).long()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    model = wrap(build(settings["seed"]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-4)
    for step, (features, labels) in enumerate(batches(settings, rank), start=1):
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
