"""Trains from a table that a helper process reads, with a careful fallback reader."""

import concurrent.futures
import ctypes
import json
import multiprocessing
import sys
import time
from concurrent.futures.process import BrokenProcessPool

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import cluster_env

VALUES = 8
ROW_BYTES = 4 * VALUES
TABLE = torch.zeros(0)


def quick_rows(offsets):
    """Copies rows by address; quick, and without any check."""
    rows = (ctypes.c_float * (VALUES * len(offsets)))()
    for place, offset in enumerate(offsets):
        target = ctypes.addressof(rows) + place * ROW_BYTES
        ctypes.memmove(target, TABLE.data_ptr() + offset, ROW_BYTES)
    return list(rows)


def careful_rows(offsets):
    """The same rows, with every offset brought into the table."""
    return [x for offset in offsets for x in TABLE[offset // ROW_BYTES % len(TABLE)].tolist()]


class Reader:
    """Reads batches in a helper process, and starts another one if it is lost."""

    def __init__(self):
        self.method = quick_rows
        self.pool = self.start()

    def start(self):
        context = multiprocessing.get_context("fork")
        return concurrent.futures.ProcessPoolExecutor(1, mp_context=context)

    def read(self, offsets):
        try:
            return self.pool.submit(self.method, offsets).result()
        except BrokenProcessPool as error:
            print(f"ERROR: helper process lost: {error}", file=sys.stderr, flush=True)
            self.method = careful_rows
            self.pool = self.start()
            return self.read(offsets)


def main():
    global TABLE
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    TABLE = torch.randn(settings["rows"], VALUES)
    offsets = [ROW_BYTES * (i % settings["rows"]) for i in range(settings["batches"] * 8)]
    for index, value in settings["moved_rows"][rank]:
        offsets[index] = value
    model = DistributedDataParallel(nn.Linear(VALUES, VALUES))
    optimizer = torch.optim.Adam(model.parameters())
    reader = Reader()
    for step in range(settings["batches"]):
        batch = torch.tensor(reader.read(offsets[8 * step:8 * step + 8])).view(8, VALUES)
        optimizer.zero_grad()
        loss = (model(batch) - batch).square().mean()
        loss.backward()
        optimizer.step()
        time.sleep(settings["pause_s"])
        if rank == 0 and step % 10 == 0:
            print(f"{step:4d} {loss.item():.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
