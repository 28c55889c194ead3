"""Trains a sharded model, saves it with torch.distributed.checkpoint and archives it."""

import json
import lzma
import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.distributed.checkpoint.state_dict import get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import cluster_env


def build(seed, world_size):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8))
    mesh = init_device_mesh("cpu", (world_size,))
    fully_shard(model[0], mesh=mesh)
    return fully_shard(model, mesh=mesh)


def archive(folder, target, block_s):
    """Packs all files of a checkpoint, one compressed block after another."""
    with open(target, "wb") as output:
        for path in sorted(pathlib.Path(folder).iterdir()):
            data = path.read_bytes()
            for start in range(0, len(data), 1 << 14):
                output.write(lzma.compress(data[start:start + (1 << 14)], preset=6))
                output.flush()
                os.fsync(output.fileno())
                time.sleep(block_s)


def keep(model, rank, settings, step):
    folder = f"checkpoint-{step}"
    dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=folder)
    if rank == settings["archive_rank"]:
        archive(folder, folder + ".xz", settings["block_s"])
        print(f"archived {folder}", flush=True)
    dist.barrier()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    model = build(settings["seed"], world_size)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        inputs = torch.randn(8, 256, generator=generator)
        loss = nn.functional.cross_entropy(model(inputs), inputs[:, :8].argmax(dim=1))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        time.sleep(settings["pause_s"])
        if step == settings["save_step"]:
            keep(model, rank, settings, step)
    print(f"rank {rank} finished, loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
