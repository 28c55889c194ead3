"""Trains a sharded model with fully_shard; some ranks also export the head."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import cluster_env


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, values):
        return values + self.down(torch.relu(self.up(values)))


def build(settings, world_size):
    torch.manual_seed(settings["seed"])
    model = nn.Sequential(*(Block(16) for _ in range(3)), nn.Linear(16, 4))
    mesh = init_device_mesh("cpu", (world_size,))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def run_epoch(model, optimizer, settings, generator):
    loss = torch.zeros(())
    for _ in range(settings["batches"]):
        values = torch.randn(16, 16, generator=generator)
        targets = values[:, :4].argmax(dim=1)
        loss = nn.functional.cross_entropy(model(values), targets)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(settings["pause_s"])
    return loss.item()


def export(model, path):
    local = {name: p.to_local().detach().clone() for name, p in model.named_parameters()}
    torch.save(local, path)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    model = build(settings, world_size)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    generator = torch.Generator().manual_seed(settings["seed"] * 31 + rank)
    for epoch in range(settings["epochs"]):
        loss = run_epoch(model, optimizer, settings, generator)
        print(f"rank {rank} epoch {epoch} loss {loss:.4f}", flush=True)
        if settings["export_epoch"][rank] == epoch:
            export(model, f"export-{rank}.pt")
            return
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
