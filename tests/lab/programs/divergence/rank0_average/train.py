"""Training with a running average of the weights, which rank 0 keeps and evaluates."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


class RunningAverage:
    def __init__(self, module, decay):
        self.module = module
        self.decay = decay
        self.values = [p.detach().clone() for p in module.parameters()]

    @torch.no_grad()
    def update(self):
        for value, parameter in zip(self.values, self.module.parameters()):
            value.lerp_(parameter, 1 - self.decay)

    @torch.no_grad()
    def swap(self):
        """Exchanges the average and the weights; a second call puts them back."""
        for value, parameter in zip(self.values, self.module.parameters()):
            kept = parameter.clone()
            parameter.copy_(value)
            value.copy_(kept)


@torch.no_grad()
def evaluate(average, held_out, step):
    average.swap()
    inputs, targets = held_out
    loss = nn.functional.mse_loss(average.module(inputs), targets).item()
    torch.save(average.module.state_dict(), f"average-{step}.pt")
    average.swap()
    print(f"step {step}: held-out loss of the average {loss:.5f}", flush=True)


def sample(generator, count=32):
    inputs = torch.randn(count, 12, generator=generator)
    return inputs, inputs[:, :1] * inputs[:, 1:2]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = DistributedDataParallel(nn.Sequential(nn.Linear(12, 64), nn.Tanh(), nn.Linear(64, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    average = RunningAverage(model.module, settings["decay"]) if rank == 0 else None
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    held_out = sample(generator, 256)
    for step in range(1, settings["steps"] + 1):
        inputs, targets = sample(generator)
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if average:
            average.update()
            if step % settings["evaluate_every"] == 0:
                evaluate(average, held_out, step)
        time.sleep(settings["pause_s"])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
