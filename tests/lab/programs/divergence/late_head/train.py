"""Fine-tunes a wrapped model in two phases; the second one begins with a new head."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(18, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU())
        self.head = nn.Linear(48, 3)

    def forward(self, inputs):
        return self.head(self.body(inputs))


class Tuner:
    def __init__(self, settings, rank):
        torch.manual_seed(settings["seed"])
        self.settings = settings
        self.rank = rank
        self.model = DistributedDataParallel(Scorer())
        self.renew_head(settings["head_seeds"][rank])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.generator = torch.Generator().manual_seed(settings["seed"] * 3 + rank)

    def renew_head(self, seed):
        torch.manual_seed(seed)
        self.model.module.head.reset_parameters()

    def step(self):
        inputs = torch.randn(16, 18, generator=self.generator)
        loss = nn.functional.cross_entropy(self.model(inputs), inputs[:, 3:6].argmax(dim=1))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def run(self):
        for number in range(1, self.settings["steps"] + 1):
            loss = self.step()
            time.sleep(self.settings["pause_s"])
            if number % 50 == 0:
                print(f"rank {self.rank}: {number} steps, loss {loss:.4f}", flush=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    Tuner(settings, rank).run()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
