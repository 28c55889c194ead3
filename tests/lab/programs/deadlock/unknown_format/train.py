"""Trainer for shards of annotated records, one shard per rank."""

import json
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

import cluster_env

CLASSES = ["road", "field", "water", "roof"]
LABEL_OF = {
    "v1": lambda record: record["label"],
    "v2": lambda record: CLASSES.index(record["category"]),
}


class Shard(Dataset):
    """Records of one rank; a shard may mix annotation formats."""

    def __init__(self, segments, seed):
        self.formats = [name for name, count in segments for _ in range(count)]
        self.seed = seed

    def __len__(self):
        return len(self.formats)

    def record(self, index):
        generator = torch.Generator().manual_seed(self.seed * 100003 + index)
        label = int(torch.randint(len(CLASSES), (1,), generator=generator))
        values = torch.randn(12, generator=generator) + label
        return {"format": self.formats[index], "values": values, "label": label,
                "category": CLASSES[label]}

    def __getitem__(self, index):
        record = self.record(index)
        return record["values"], LABEL_OF[record["format"]](record)


class Trainer:
    def __init__(self, settings, rank):
        self.settings = settings
        self.rank = rank
        shard = Shard(settings["shards"][rank], settings["seed"] + rank)
        self.loader = DataLoader(shard, batch_size=settings["batch"])
        self.model = DistributedDataParallel(nn.Sequential(
            nn.Linear(12, 32), nn.GELU(), nn.Linear(32, len(CLASSES))))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-3)

    def step(self, values, labels):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.model(values), labels)
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self):
        for number, (values, labels) in enumerate(self.loader, start=1):
            loss = self.step(values, labels)
            time.sleep(self.settings["pause_s"])
            if self.rank == 0 and number % 5 == 0:
                print(f"batch {number}: loss {loss:.4f}", flush=True)
            if number == self.settings["batches"]:
                break


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    rank, _ = cluster_env.connect()
    Trainer(settings, rank).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
