"""Two sums over all ranks, and then one rank raises an exception or is killed by a signal."""

import argparse
import os
import signal
import time

import torch
import torch.distributed as dist


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--raise-on", type=int, default=-1, metavar="RANK")
    parser.add_argument("--kill", type=int, default=-1, metavar="RANK")
    return parser.parse_args()


def main():
    options = parse()
    rank, world = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    for _ in range(2):
        dist.all_reduce(torch.ones(4))
        time.sleep(0.2)
    if rank == options.raise_on:
        raise ValueError("no such sample")
    if rank == options.kill:
        os.kill(os.getpid(), signal.SIGSEGV)
    dist.all_reduce(torch.ones(4))


if __name__ == "__main__":
    main()
