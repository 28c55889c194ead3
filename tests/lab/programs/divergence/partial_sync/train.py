"""Trains a classifier with DistributedDataParallel; several parts make one step."""

import contextlib
import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def make_parts(count, generator):
    for _ in range(count):
        inputs = torch.randn(16, 20, generator=generator)
        yield inputs, inputs[:, :5].argmax(dim=1)


def exchange_part(plan, step):
    """The part of a step in which the ranks exchange their gradients."""
    return [part for first_step, part in plan if step >= first_step][-1]


def train_step(model, optimizer, parts, chosen):
    optimizer.zero_grad()
    for number, (inputs, labels) in enumerate(parts):
        with contextlib.nullcontext() if number == chosen else model.no_sync():
            loss = nn.functional.cross_entropy(model(inputs), labels) / len(parts)
            loss.backward()
    optimizer.step()
    return loss.item() * len(parts)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    model = DistributedDataParallel(nn.Sequential(
        nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 5)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + 1 + rank)
    plan = settings["plans"][rank]
    for step in range(1, settings["steps"] + 1):
        parts = list(make_parts(settings["parts"], generator))
        loss = train_step(model, optimizer, parts, exchange_part(plan, step))
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 25 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
