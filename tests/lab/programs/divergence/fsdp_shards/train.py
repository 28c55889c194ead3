"""Trains a sharded network with fully_shard."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import cluster_env


def build(settings, world_size):
    torch.manual_seed(settings["seed"])
    layers = [nn.Sequential(nn.Linear(24, 24), nn.LayerNorm(24), nn.GELU())
              for _ in range(settings["depth"])]
    model = nn.Sequential(*layers, nn.Linear(24, 6))
    mesh = init_device_mesh("cpu", (world_size,))
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    model = build(settings, world_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(16, 24, generator=generator)
        loss = nn.functional.cross_entropy(model(inputs), inputs[:, :6].argmax(dim=1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    local = {name: p.to_local().detach().clone() for name, p in model.named_parameters()}
    torch.save(local, f"shard-{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
