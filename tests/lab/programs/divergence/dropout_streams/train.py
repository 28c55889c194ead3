"""Dropout and noise from a random stream of each rank, below DistributedDataParallel."""

import json
import random
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def build(seed, drop):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Dropout(drop),
                         nn.Linear(64, 64), nn.ReLU(), nn.Dropout(drop), nn.Linear(64, 3))


def set_streams(seed):
    torch.manual_seed(seed)
    random.seed(seed)


def noisy_batch(noise):
    inputs = torch.randn(16, 16)
    labels = inputs[:, :3].argmax(dim=1)
    scale = noise * random.random()
    return inputs + scale * torch.randn_like(inputs), labels


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    model = DistributedDataParallel(build(settings["seed"], settings["drop"]))
    set_streams(settings["seed"] * 100 + rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for step in range(1, settings["steps"] + 1):
        inputs, labels = noisy_batch(settings["noise"])
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
