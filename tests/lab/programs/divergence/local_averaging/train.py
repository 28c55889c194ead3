"""Local SGD: every rank trains alone, and now and then the weights are averaged."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


class LocalTraining:
    def __init__(self, settings, rank, world_size):
        torch.manual_seed(settings["seed"])
        self.settings = settings
        self.world_size = world_size
        self.model = nn.Sequential(nn.Linear(15, 50), nn.ELU(), nn.Linear(50, 5))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.generator = torch.Generator().manual_seed(settings["seed"] + rank)

    def step(self):
        inputs = torch.randn(16, 15, generator=self.generator)
        loss = nn.functional.cross_entropy(self.model(inputs), inputs[:, :5].argmax(dim=1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def average(self):
        for parameter in self.model.parameters():
            dist.all_reduce(parameter)
            parameter /= self.world_size

    def run(self):
        for number in range(1, self.settings["steps"] + 1):
            loss = self.step()
            time.sleep(self.settings["pause_s"])
            if number % self.settings["average_every"] == 0:
                self.average()
        return loss


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    training = LocalTraining(settings, rank, world_size)
    loss = training.run()
    training.average()
    print(f"rank {rank} loss {loss:.4f}", flush=True)
    if rank in settings["saving_ranks"]:
        torch.save(training.model.state_dict(), f"weights-{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
