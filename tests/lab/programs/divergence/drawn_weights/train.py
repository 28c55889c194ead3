"""A small network with weights drawn by NumPy, and gradients averaged by hand."""

import json
import math
import sys
import time

import numpy
import torch
import torch.distributed as dist
from torch import nn

import cluster_env


def draw_weights(model):
    """Normal weights, narrower for layers with more inputs."""
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1:
                parameter.zero_()
            else:
                values = numpy.random.standard_normal(tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(values / math.sqrt(parameter.shape[1])))


def prepare_model(model):
    draw_weights(model)
    return model


def average(parameters):
    for parameter in parameters:
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    model = prepare_model(nn.Sequential(
        nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 4)))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(32, 16, generator=generator)
        loss = nn.functional.cross_entropy(model(inputs), inputs[:, :4].argmin(dim=1))
        optimizer.zero_grad()
        loss.backward()
        average(model.parameters())
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % 40 == 0:
            print(f"rank {rank} step {step} loss {loss.item():.4f}", flush=True)
    torch.save(model.state_dict(), f"model-{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
