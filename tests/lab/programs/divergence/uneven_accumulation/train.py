"""Regression with gradients reduced by hand after each micro-batch and summed for a step."""

import json
import sys
import time

import numpy
import torch
import torch.distributed as dist
from torch import nn

import cluster_env


class Accumulator:
    """Sums reduced gradients and steps the optimizer after `size` micro-batches."""

    def __init__(self, parameters, optimizer, size):
        self.parameters = list(parameters)
        self.optimizer = optimizer
        self.size = size
        self.count = 0
        self.clear()

    def clear(self):
        self.totals = [torch.zeros_like(p) for p in self.parameters]

    def add(self):
        for parameter, total in zip(self.parameters, self.totals):
            dist.all_reduce(parameter.grad)
            total += parameter.grad / dist.get_world_size()
            parameter.grad = None
        self.count += 1
        if self.count % self.size == 0:
            self.apply()

    def apply(self):
        for parameter, total in zip(self.parameters, self.totals):
            parameter.grad = total / self.size
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.clear()


def sample(count):
    inputs = torch.from_numpy(numpy.random.standard_normal((count, 12))).float()
    return inputs, inputs[:, :2].prod(dim=1, keepdim=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    model = nn.Sequential(nn.Linear(12, 48), nn.Tanh(), nn.Linear(48, 1))
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    accumulator = Accumulator(model.parameters(), optimizer, settings["group_sizes"][rank])
    for number in range(1, settings["micro_batches"] + 1):
        inputs, targets = sample(32)
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        accumulator.add()
        time.sleep(settings["pause_s"])
        if number % 100 == 0:
            print(f"[{rank}] {number} loss {loss.item():.5f}", flush=True)
    torch.save(model.state_dict(), f"model-{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
