"""A loader with an order of its own, and gradients reduced by hand."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler

import cluster_env


class Curve(Dataset):
    """Points of a damped wave; each one is computed when it is read."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        place = torch.tensor([index / self.count * 6])
        return place, torch.exp(-place / 3) * torch.cos(3 * place)


class ShareOrder(Sampler):
    """A new permutation in every pass, of which each rank takes its share."""

    def __init__(self, dataset, num_replicas, rank, seed):
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.seed = seed
        self.shuffle = True
        self.epoch = 0

    def __len__(self):
        return len(self.dataset) // self.num_replicas

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.seed + self.epoch)
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        self.epoch += 1
        return iter(order[self.rank::self.num_replicas][:len(self)])


def run_pass(model, optimizer, loader, settings):
    for places, values in loader:
        loss = nn.functional.mse_loss(model(places), values)
        optimizer.zero_grad()
        loss.backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad, op=dist.ReduceOp.SUM)
            parameter.grad /= dist.get_world_size()
        optimizer.step()
        time.sleep(settings["pause_s"])
    return loss.item()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, world_size = cluster_env.connect()
    torch.manual_seed(settings["seed"])
    data = Curve(settings["batch"] * settings["batches"] * world_size)
    order = ShareOrder(data, world_size, rank, settings["seed"] + 1000 * rank)
    loader = DataLoader(data, batch_size=settings["batch"], sampler=order)
    model = nn.Sequential(nn.Linear(1, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for number in range(settings["passes"]):
        loss = run_pass(model, optimizer, loader, settings)
        if rank == 0:
            print(f"pass {number} loss {loss:.5f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
