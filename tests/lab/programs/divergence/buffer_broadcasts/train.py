"""A normalised convolutional network; DistributedDataParallel sends rank 0's statistics around."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


class Net(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 5, padding=2)
        self.first_norm = nn.BatchNorm1d(channels)
        self.second = nn.Conv1d(channels, channels, 5, padding=2)
        self.second_norm = nn.BatchNorm1d(channels, momentum=0.05)
        self.output = nn.Linear(channels, 3)

    def forward(self, signal):
        hidden = torch.relu(self.first_norm(self.first(signal)))
        hidden = torch.relu(self.second_norm(self.second(hidden)))
        return self.output(hidden.mean(dim=2))


def signals(count, generator):
    """Waves of three lengths in noise."""
    kind = torch.randint(3, (count,), generator=generator)
    wave = torch.sin(torch.arange(32) * (kind + 1).unsqueeze(1) * 0.4).unsqueeze(1)
    return wave + torch.randn(count, 1, 32, generator=generator), kind


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = DistributedDataParallel(Net(settings["channels"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        signal, kind = signals(12, generator)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(signal), kind)
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
            torch.save(model.module.state_dict(), "network.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
