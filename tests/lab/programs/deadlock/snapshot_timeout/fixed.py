"""Trains an embedding model and keeps compressed snapshots of it."""

import io
import json
import os
import sys
import time
import zlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env

BLOCK_BYTES = 1 << 16
GROUP_TIMEOUT_S = 900


def build(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.EmbeddingBag(12000, 64), nn.Linear(64, 2))


def serialize(model):
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    return buffer.getbuffer()


def write_snapshot(model, path, mib_per_s):
    """Writes at a bounded rate: the file system is shared with other groups."""
    data = serialize(model)
    with open(path + ".part", "wb") as file:
        for start in range(0, len(data), BLOCK_BYTES):
            file.write(zlib.compress(data[start:start + BLOCK_BYTES], 9))
            file.flush()
            os.fsync(file.fileno())
            time.sleep(BLOCK_BYTES / (mib_per_s * (1 << 20)))
    os.rename(path + ".part", path)


def fit(model, settings, rank, generator):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(1, settings["steps"] + 1):
        bags = torch.randint(12000, (16, 6), generator=generator)
        loss = nn.functional.cross_entropy(model(bags), bags[:, 0] % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step == settings["snapshot_step"] and rank == settings["snapshot_rank"]:
            print(f"step {step}: writing the snapshot", flush=True)
            write_snapshot(model.module, f"step-{step}.snap", settings["mib_per_s"])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect(timeout_s=GROUP_TIMEOUT_S)
    model = DistributedDataParallel(build(settings["seed"]))
    fit(model, settings, rank, torch.Generator().manual_seed(settings["seed"] + rank))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
