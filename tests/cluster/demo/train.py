"""Trains a small regression model with DistributedDataParallel and keeps the best checkpoint."""

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--save-every", type=int, default=50)
    parser.add_argument("--saver", type=int, default=0, help="rank that writes checkpoints")
    parser.add_argument("--checkpoint", default="best.pt")
    return parser.parse_args()


def connect():
    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    dist.init_process_group("gloo", rank=rank, world_size=world)
    return rank


def batches(rank, steps):
    generator = torch.Generator().manual_seed(1000 + rank)
    for _ in range(steps):
        inputs = torch.randn(32, 64, generator=generator)
        yield inputs, inputs[:, :8].sum(dim=1, keepdim=True)


def save(model, path):
    torch.save(model.state_dict(), path + ".part")
    os.replace(path + ".part", path)
    dist.barrier()


def train(options, rank):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, (inputs, targets) in enumerate(batches(rank, options.steps), start=1):
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if rank == options.saver and step % options.save_every == 0:
            save(model.module, options.checkpoint)


def main():
    options = parse()
    rank = connect()
    train(options, rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
