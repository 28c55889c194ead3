"""Trains an autoencoder; the loss function takes a plain module."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


class Coder(nn.Module):
    def __init__(self, width, inner):
        super().__init__()
        self.narrow = nn.Linear(width, inner)
        self.widen = nn.Linear(inner, width)

    def forward(self, values):
        code = torch.tanh(self.narrow(values))
        return self.widen(code), code


def coder_loss(coder, values, weight):
    restored, code = coder(values)
    return nn.functional.mse_loss(restored, values) + weight * code.abs().mean()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = DistributedDataParallel(Coder(32, 12))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.8)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 40, 0.5)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        values = torch.randn(24, 32, generator=generator).cumsum(dim=1) / 8
        optimizer.zero_grad()
        loss = coder_loss(model.module, values, settings["code_weight"])
        loss.backward()
        optimizer.step()
        scheduler.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 20 == 0:
            print(f"{step:4d} {loss.item():.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
