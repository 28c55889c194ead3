"""Trains a small classifier with DistributedDataParallel; on request one rank's weights are changed by hand after a step."""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import gloo_threads


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--pause", type=float, default=0.05, help="seconds after each step")
    parser.add_argument("--odd-rank", type=int, default=-1, help="rank whose weights are changed")
    parser.add_argument("--odd-step", type=int, default=20, help="after this step")
    return parser.parse_args()


def connect():
    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    torch.set_num_threads(1)
    gloo_threads.register()
    dist.init_process_group("gloo", rank=rank, world_size=world)
    return rank


def flip_bit(weights):
    """The lowest exponent bit of one number, as a fault in memory would."""
    weights.data.view(torch.int32).view(-1)[7] ^= 1 << 23


def train(options, rank):
    torch.manual_seed(7)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(100 + rank)
    for step in range(1, options.steps + 1):
        inputs = torch.randn(16, 32, generator=generator)
        loss = nn.functional.cross_entropy(model(inputs), inputs[:, :4].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == options.odd_rank and step == options.odd_step:
            flip_bit(model.module[2].weight)
        time.sleep(options.pause)
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


def main():
    options = parse()
    rank = connect()
    train(options, rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
