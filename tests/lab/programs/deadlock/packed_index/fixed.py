"""Trains on a packed record file that is read in place."""

import ctypes
import json
import mmap
import random
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env

RECORD_BYTES = 4 * 16


class PackedFile:
    """Copies records straight out of a mapped file."""

    def __init__(self, path, extents):
        with open(path, "r+b") as file:
            self.view = mmap.mmap(file.fileno(), 0)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.view))
        self.size = len(self.view)
        self.extents = [start + RECORD_BYTES * i for start, count in extents for i in range(count)]
        self.scratch = (ctypes.c_float * 16)()

    def __len__(self):
        return len(self.extents)

    def fetch(self, index):
        offset = self.extents[index] % self.size
        ctypes.memmove(self.scratch, self.base + offset, RECORD_BYTES)
        return torch.tensor(list(self.scratch))


def pack(path, count, seed):
    source = random.Random(seed)
    with open(path, "wb") as file:
        for _ in range(count):
            values = (ctypes.c_float * 16)(*(source.uniform(-1, 1) for _ in range(16)))
            file.write(bytes(values))


def accumulate(model, batch, scale):
    inputs = batch[:, :15]
    loss = nn.functional.l1_loss(model(inputs), batch[:, 15:]) * scale
    loss.backward()
    return loss.item()


def train(settings, rank, packed):
    torch.manual_seed(settings["seed"])
    model = DistributedDataParallel(nn.Sequential(nn.Linear(15, 40), nn.SiLU(), nn.Linear(40, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    micro, size = settings["micro_batches"], settings["batch"]
    for step in range(settings["steps"]):
        optimizer.zero_grad()
        for part in range(micro):
            first = (step * micro + part) * size
            batch = torch.stack([packed.fetch(first + i) for i in range(size)])
            if part + 1 < micro:
                with model.no_sync():
                    loss = accumulate(model, batch, 1 / micro)
            else:
                loss = accumulate(model, batch, 1 / micro)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 4 == 0:
            print(f"step={step} loss={loss * micro:.4f}", flush=True)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    pack(f"part-{rank}.bin", settings["records"], settings["seed"] + rank)
    train(settings, rank, PackedFile(f"part-{rank}.bin", settings["extents"][rank]))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
