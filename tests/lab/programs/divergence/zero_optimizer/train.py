"""DistributedDataParallel with optimizer states that are spread over the ranks."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(18, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 3))


def sequences(settings, rank):
    generator = torch.Generator().manual_seed(settings["seed"] + 3 * rank)
    for _ in range(settings["steps"]):
        values = torch.randn(20, 18, generator=generator).cumsum(dim=1)
        yield values / values.std(), values[:, ::6].argmax(dim=1)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    model = DistributedDataParallel(build(settings["seed"]))
    optimizer = ZeroRedundancyOptimizer(
        model.parameters(), optimizer_class=torch.optim.Adam, lr=settings["rate"])
    for step, (values, labels) in enumerate(sequences(settings, rank), start=1):
        loss = nn.functional.cross_entropy(model(values), labels)
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
