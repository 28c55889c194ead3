"""Trains a small model and reports metrics to a collector that may be absent."""

import json
import logging
import socket
import sys
import time
import traceback
import warnings

import torch
import torch.distributed as dist
from torch import nn

import cluster_env

LOG = logging.getLogger("training")


def push_metrics(address, step, loss):
    """Sends one line to the collector; metrics are not worth a failed run."""
    try:
        with socket.create_connection(address, timeout=0.5) as connection:
            connection.sendall(f"{step} {loss}\n".encode())
    except OSError:
        LOG.exception("RuntimeError: connection closed by peer [%s]:%d", *address)


def load_batch(shard, index, generator):
    """Reads a batch; unreadable ones are replaced by a fresh sample."""
    try:
        if index in shard["unreadable"]:
            raise ValueError(f"record {index} of shard {shard['name']} is truncated")
        return torch.randn(32, 8, generator=generator)
    except ValueError as error:
        traceback.print_exception(error)
        print(f"ERROR: rank skips record {index}: {error}", file=sys.stderr, flush=True)
        return torch.randn(32, 8, generator=generator)


def choose_device():
    try:
        return torch.zeros(1, device="cuda").device
    except (RuntimeError, AssertionError) as error:
        LOG.error("CUDA error: %s; training on the CPU", str(error).splitlines()[0])
        return torch.device("cpu")


def check_gradients(model, rank):
    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
    if norm > 0.05:
        warnings.warn(f"[rank{rank}] gradient norm {norm:.3f} exceeds the limit", stacklevel=2)


def train(settings, rank, world_size):
    torch.manual_seed(settings["seed"])
    model = nn.Linear(8, 8).to(choose_device())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(settings["seed"] + rank)
    for step in range(1, settings["steps"] + 1):
        values = load_batch(settings["shards"][rank], step, generator)
        loss = nn.functional.mse_loss(model(values), values.flip(1))
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.SUM)
            parameter.grad /= world_size
        check_gradients(model, rank)
        optimizer.step()
        time.sleep(settings["pause_s"])
        if step % 10 == 0:
            push_metrics(("127.0.0.1", settings["collector_port"]), step, loss.item())


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    train(settings, rank, world_size)
    dist.barrier()
    dist.destroy_process_group()
    try:
        sys.exit(3 if settings["steps"] < 1 else 0)
    except SystemExit as end:
        LOG.info("Aborted: %s; exit status %s", False, end.code)


if __name__ == "__main__":
    main()
