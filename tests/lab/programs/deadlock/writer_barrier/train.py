"""Trains a small classifier with DistributedDataParallel and writes summaries."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def make_batch(generator, size=32):
    features = torch.randn(size, 16, generator=generator)
    return features, (features.sum(dim=1) > 0).long()


def write_summary(path, step, loss):
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps({"step": step, "loss": loss}) + "\n")


def summarize(settings, rank, step, loss):
    if rank in settings["summary_ranks"]:
        write_summary(f"summary-{rank}.jsonl", step, loss)
        dist.barrier()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    network = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    model = DistributedDataParallel(network)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        features, labels = make_batch(generator)
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if step % settings["summary_every"] == 0:
            summarize(settings, rank, step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
