"""A small convolutional network; one flat all-reduce averages the gradients."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 12, 3, padding=1), nn.BatchNorm2d(12), nn.ReLU(), nn.Flatten(),
        nn.Linear(12 * 6 * 6, 4))


def average(tensors):
    flat = torch.cat([tensor.flatten() for tensor in tensors])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    for tensor, part in zip(tensors, flat.split([t.numel() for t in tensors])):
        tensor.copy_(part.view_as(tensor))


def shared_state(model):
    return [p.grad for p in model.parameters()]


def images(count, generator):
    """Noise with a bright quarter, and which quarter that is."""
    values = torch.randn(count, 1, 12, 12, generator=generator)
    quarter = torch.randint(4, (count,), generator=generator)
    for image, place in zip(values, quarter.tolist()):
        image[0, 6 * (place // 2):, 6 * (place % 2):][:6, :6] += 1
    return values, quarter


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    model = build(settings["seed"])
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + 50 * rank)
    for step in range(1, settings["steps"] + 1):
        values, quarter = images(8, generator)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(values), quarter)
        loss.backward()
        with torch.no_grad():
            average(shared_state(model))
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % 50 == 0:
            print(f"[{rank}] {step}: {loss.item():.4f}", flush=True)
    torch.save(model.state_dict(), f"network-{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
