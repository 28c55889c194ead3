"""Process group set-up from the variables that torchrun gives to each worker or, without it, Slurm to each task."""

import datetime
import os
import re

import torch
import torch.distributed as dist

import gloo_threads


def first_host(node_list):
    """The first host of a Slurm list such as n[03-05,9],m1."""
    match = re.match(r"([^\[,]+)(?:\[(\d+)[^\]]*\])?", node_list)
    return match.group(1) + (match.group(2) or "")


def place_in_world():
    """(rank, world size). Below torchrun Slurm's task is the agent."""
    launched = "TORCHELASTIC_RUN_ID" in os.environ
    names = ("RANK", "WORLD_SIZE") if launched else ("SLURM_PROCID", "SLURM_NTASKS")
    return tuple(int(os.environ[name]) for name in names)


def prepare(rank, world_size):
    node_list = os.environ.get("SLURM_STEP_NODELIST") or os.environ["SLURM_JOB_NODELIST"]
    os.environ.setdefault("MASTER_ADDR", first_host(node_list))
    os.environ.setdefault("MASTER_PORT", str(20000 + int(os.environ["SLURM_JOB_ID"]) % 10000))
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(world_size)


def connect(rank=None, world_size=None, timeout_s=None):
    """Joins the default group and returns (rank, world size)."""
    if rank is None:
        rank, world_size = place_in_world()
    prepare(rank, world_size)
    torch.set_num_threads(1)
    gloo_threads.register()
    if timeout_s is None:
        dist.init_process_group("gloo", init_method="env://")
    else:
        dist.init_process_group("gloo", store=meet(rank, world_size), rank=rank,
                                world_size=world_size, timeout=datetime.timedelta(seconds=timeout_s))
    return rank, world_size


def meet(rank, world_size):
    """Tasks may start minutes apart, however short the group's timeout is."""
    store, _, _ = next(dist.rendezvous("env://", rank, world_size, timeout=datetime.timedelta(minutes=5)))
    return store
