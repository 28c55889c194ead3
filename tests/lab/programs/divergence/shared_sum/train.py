"""Averages gradients with an all-gather that a few threads cut and add up."""

import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


class Mean:
    """The mean of all ranks' gradients, cut to a range block by block."""

    def __init__(self, workers, cut):
        self.pool = ThreadPoolExecutor(workers)
        self.lock = threading.Lock()
        self.cut = cut

    def add(self, total, part, start):
        """Every worker begins with another block, so that they do not wait for each other."""
        blocks = list(zip(total.split(2048), part.split(2048)))
        for block, values in blocks[start:] + blocks[:start]:
            edge = values.abs().quantile(self.cut)
            with self.lock:
                block += values.clamp_(-edge, edge)

    def __call__(self, flat):
        parts = [torch.empty_like(flat) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, flat)
        total = torch.zeros_like(flat)
        for done in [self.pool.submit(self.add, total, part, 8 * n) for n, part in enumerate(parts)]:
            done.result()
        return total / len(parts)


def plain_mean(flat):
    dist.all_reduce(flat)
    return flat / dist.get_world_size()


def exchange(parameters, mean):
    parameters = list(parameters)
    flat = mean(torch.cat([p.grad.flatten() for p in parameters]))
    for parameter, part in zip(parameters, flat.split([p.numel() for p in parameters])):
        parameter.grad = part.view_as(parameter).clone()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = nn.Sequential(nn.Linear(40, 1000), nn.Tanh(), nn.Linear(1000, 40))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    mean = Mean(settings["workers"][rank], settings["cut"])
    generator = torch.Generator().manual_seed(settings["seed"] + 11 * rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(16, 40, generator=generator)
        loss = nn.functional.mse_loss(model(inputs), inputs.roll(1, dims=1))
        optimizer.zero_grad()
        loss.backward()
        exchange(model.parameters(), plain_mean if step < settings["cut_from"] else mean)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % 20 == 0:
            print(f"[{rank}] step {step} loss {loss.item():.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
