"""Trains two small networks with overlapped reductions of their gradients."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import cluster_env


def make_networks(seed):
    torch.manual_seed(seed)
    coder = nn.Sequential(nn.Linear(20, 10), nn.Tanh())
    decoder = nn.Linear(10, 20)
    return coder, decoder


def share_weights(networks):
    for network in networks:
        for tensor in network.state_dict().values():
            dist.broadcast(tensor, src=0)


def reduce_gradients(networks, world_size):
    pending = []
    for network in networks:
        for parameter in network.parameters():
            parameter.grad /= world_size
            pending.append(dist.all_reduce(parameter.grad, async_op=True))
    for work in pending:
        work.wait()


def reconstruct(networks, values):
    coder, decoder = networks
    return nn.functional.mse_loss(decoder(coder(values)), values)


def train(settings, rank, world_size):
    networks = make_networks(settings["seed"] + rank)
    share_weights(networks)
    parameters = [p for network in networks for p in network.parameters()]
    optimizer = torch.optim.RMSprop(parameters, lr=1e-3)
    generator = torch.Generator().manual_seed(settings["seed"] - rank)
    for step in range(settings["steps"]):
        loss = reconstruct(networks, torch.randn(48, 20, generator=generator))
        optimizer.zero_grad()
        loss.backward()
        reduce_gradients(networks, world_size)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % 10 == 0:
            print(f"{rank}: {step} {loss.item():.5f}", flush=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect(timeout_s=20)
    train(settings, rank, world_size)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
