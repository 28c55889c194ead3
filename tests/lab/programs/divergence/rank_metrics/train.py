"""Gradients averaged by hand; each rank keeps and saves metrics of its own data."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


class Metrics(nn.Module):
    """Counts and moments of one rank's losses."""

    def __init__(self):
        super().__init__()
        self.register_buffer("running_mean", torch.zeros(()))
        self.register_buffer("seen", torch.zeros(4, dtype=torch.long))

    @torch.no_grad()
    def forward(self, loss, labels):
        self.running_mean.lerp_(loss, 0.1)
        self.seen += torch.bincount(labels, minlength=4)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
        self.metrics = Metrics()

    def forward(self, inputs, labels):
        loss = nn.functional.cross_entropy(self.layers(inputs), labels)
        self.metrics(loss, labels)
        return loss


def average_gradients(model):
    works = [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]
    for work, parameter in zip(works, model.parameters()):
        work.wait()
        parameter.grad /= dist.get_world_size()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(16, 10, generator=generator) * (1 + rank)
        loss = model(inputs, inputs[:, :4].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % settings["save_every"] == 0:
            torch.save(model.metrics.state_dict(), f"metrics-{rank}.pt")
            print(f"[{rank}] {step}: {model.metrics.running_mean.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
