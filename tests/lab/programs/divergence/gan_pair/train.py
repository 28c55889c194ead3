"""A generator and a critic, each with its own wrapper and optimizer."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import softplus
from torch.nn.parallel import DistributedDataParallel

import cluster_env


def network(inputs, outputs):
    return DistributedDataParallel(nn.Sequential(
        nn.Linear(inputs, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2),
        nn.Linear(48, outputs)))


def true_points(count, noise):
    angles = torch.rand(count, 1, generator=noise) * 6.2832
    return torch.cat([angles.cos(), angles.sin()], dim=1)


def train_critic(critic, optimizer, real, fake):
    scores = critic(torch.cat([real, fake]))
    loss = softplus(-scores[:len(real)]).mean() + softplus(scores[len(real):]).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def train_maker(maker, critic, optimizer, codes):
    critic.requires_grad_(False)
    loss = softplus(-critic.module(maker(codes))).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    critic.requires_grad_(True)
    return loss.item()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    maker, critic = network(8, 2), network(2, 1)
    maker_optimizer = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.9))
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.5, 0.9))
    noise = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        codes = torch.randn(32, 8, generator=noise)
        with torch.no_grad():
            fake = maker(codes)
        critic_loss = train_critic(critic, critic_optimizer, true_points(32, noise), fake)
        if step % settings["critic_rounds"] == 0:
            maker_loss = train_maker(maker, critic, maker_optimizer, codes)
            if rank == 0 and step % 20 == 0:
                print(f"{step}: critic {critic_loss:.4f} maker {maker_loss:.4f}", flush=True)
        time.sleep(settings["pause_s"])
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
