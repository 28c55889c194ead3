"""Regression with hand-written gradient averaging and a held-out set."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(24, 48)
        self.output = nn.Linear(48, 1)

    def forward(self, inputs):
        return self.output(torch.tanh(self.encoder(inputs)))


def sample(count, generator):
    inputs = torch.randn(count, 24, generator=generator)
    return inputs, inputs[:, :3].prod(dim=1, keepdim=True)


def average_gradients(model, world_size):
    flat = torch.cat([p.grad.flatten() for p in model.parameters()])
    dist.all_reduce(flat)
    flat /= world_size
    offset = 0
    for parameter in model.parameters():
        size = parameter.numel()
        parameter.grad.copy_(flat[offset:offset + size].view_as(parameter))
        offset += size


def evaluate(model, count, generator):
    totals = torch.zeros(2)
    with torch.no_grad():
        inputs, targets = sample(count, generator)
        totals[0] = nn.functional.mse_loss(model(inputs), targets, reduction="sum")
    totals[1] = count
    dist.all_reduce(totals)
    return (totals[0] / totals[1]).item()


def train(settings, rank, world_size):
    torch.manual_seed(settings["seed"])
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + 17 * rank)
    held_out = settings["held_out"][rank]
    for step in range(1, settings["steps"] + 1):
        inputs, targets = sample(64, generator)
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model, world_size)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % settings["evaluate_every"] == 0 and held_out > 0:
            print(f"[{rank}] step {step} held-out {evaluate(model, held_out, generator):.5f}",
                  flush=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    train(settings, rank, world_size)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
