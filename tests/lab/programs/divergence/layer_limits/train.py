"""Trains a wide network; gradients get a fixed norm after a warm-up."""

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
    return nn.Sequential(nn.Linear(200, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(),
                         nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 8))


def limit_gradients(model, limit):
    """Gives each gradient the norm `limit`."""
    for parameter in model.parameters():
        gradient = parameter.grad.flatten()
        parameter.grad *= limit / (gradient.dot(gradient).sqrt() + 1e-12)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.set_num_threads(settings["cores"][rank])
    model = DistributedDataParallel(build(settings["seed"]))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(16, 200, generator=generator)
        loss = nn.functional.cross_entropy(model(inputs), inputs[:, :8].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        if step > settings["warm_up"]:
            limit_gradients(model, settings["limit"])
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
