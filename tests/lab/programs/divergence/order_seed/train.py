"""Several passes over a data set with DistributedSampler and DistributedDataParallel."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

import cluster_env


def make_data(count, seed):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 10, generator=generator)
    return TensorDataset(inputs, (inputs.sum(dim=1, keepdim=True) > 0).float())


def make_loader(data, rank, settings):
    sampler = DistributedSampler(data, seed=settings["order_seeds"][rank])
    return DataLoader(data, batch_size=settings["batch"], sampler=sampler), sampler


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    data = make_data(settings["batch"] * settings["batches"] * world_size, settings["seed"])
    loader, sampler = make_loader(data, rank, settings)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(settings["epochs"]):
        sampler.set_epoch(epoch)
        for inputs, labels in loader:
            loss = nn.functional.binary_cross_entropy_with_logits(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            time.sleep(settings["pause_s"])
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
