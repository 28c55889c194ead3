"""Shares of the data that samplers other than torch's give: batch samplers and iterable data sets that know how many read and
which of them this rank is. A share of the same order is quiet, also where samples are repeated; one of another order shows."""
import unittest

from hook_case import TorchCase

PROGRAM = """
    import itertools, os, torch
    import torch.distributed as dist
    from torch.utils.data import BatchSampler, DataLoader, IterableDataset, RandomSampler, TensorDataset

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=2)

    class Seeded(RandomSampler):
        def __init__(self, data, seed):
            super().__init__(data, generator=torch.Generator())
            self.initial_seed, self.epoch = seed, 0

        def __iter__(self):
            self.generator.manual_seed(self.initial_seed + self.epoch)
            yield from super().__iter__()
            self.epoch += 1

    class Share(BatchSampler):
        def __init__(self, batch_sampler, split):
            self.batch_sampler, self.num_processes, self.process_index = batch_sampler, 2, rank
            self.batch_size, self.split_batches = batch_sampler.batch_size, split

        def __len__(self):
            return len(self.batch_sampler) if self.split_batches else -(-len(self.batch_sampler) // 2)

        def __iter__(self):
            batches = list(self.batch_sampler)
            missing = self.batch_size * len(self) * (1 if self.split_batches else 2) - sum(map(len, batches))
            order = list(itertools.islice(itertools.cycle(sum(batches, [])), sum(map(len, batches)) + missing))
            size = self.batch_size // 2 if self.split_batches else self.batch_size
            return iter([order[start:start + size] for start in range(rank * size, len(order), 2 * size)])

    class Stream(IterableDataset):
        def __init__(self, data, order):
            self.data, self.order, self.num_processes, self.process_index = data, order, 2, rank
            self.seed, self.epoch = 7 + rank, 0  # to shuffle within the share

        def __iter__(self):
            order = self.order + self.order[:-len(self.order) % 16]  # the last round is filled up
            for start in range(8 * rank, len(order), 16):
                yield from (self.data[index] for index in order[start:start + 8])

    def read(loader):
        for _ in range(2):
            for batch in loader:
                pass

    data = torch.randn(50, 3, generator=torch.Generator().manual_seed(1))
    for seed in (5, 5 + rank):
        batches = BatchSampler(Seeded(data, seed), 8, False)
        for split in (False, True):
            read(DataLoader(TensorDataset(data), batch_sampler=Share(batches, split)))
        order = torch.randperm(50, generator=torch.Generator().manual_seed(seed)).tolist()
        read(DataLoader(Stream(data, order), batch_size=8))
    drawn = BatchSampler(RandomSampler(data, replacement=True), 8, False)
    read(DataLoader(TensorDataset(data), batch_sampler=Share(drawn, False)))
    dist.destroy_process_group()
    """
BATCHES, PIECES, STREAM, MIXED_BATCHES, MIXED_PIECES, MIXED_STREAM, DRAWN = range(1, 8)


class Samplers(TorchCase):
    def hashes(self, box, loader):
        """Of the newest sketch of the first pass over that loader."""
        records = [record for record in box.records("SAMPLES") if record.ident == loader and record.number[0] == 1]
        read = max(record.number[1] for record in records)
        return {one for record in records if record.number[1] == read for one in record.number[3:] if one}

    def test_shares_are_known_and_overlap_only_where_their_orders_differ(self):
        program = self.write("read.py", PROGRAM)
        for run in self.run_ranks(program, INQUEST_DIGEST_SHARE="1000000"):
            self.assertEqual((run.returncode, run.err), (0, ""))
        boxes = self.by_rank()
        for rank, box in boxes.items():
            said = {}
            for record in box.records("SAMPLER"):
                said.setdefault(record.ident, []).append((record.text[2],) + record.number[1:])
            self.assertEqual(said[BATCHES], [("Share", 5, epoch, 2, rank, -1, 32, 50) for epoch in (0, 1)])
            self.assertEqual(said[PIECES], [("Share", 5, epoch, 2, rank, -1, 28, 50) for epoch in (2, 3)])
            self.assertEqual(said[STREAM], [("Stream", -1, -1, 2, rank, -1, -1, -1)] * 2, "its own seed")
            self.assertEqual(said[DRAWN], [("Share", -1, -1, -1, -1, -1, -1, 50)] * 2)
            self.assertEqual([values[1] for values in said[MIXED_BATCHES]], [5 + rank] * 2)
        self.check_overlaps(boxes)

    def check_overlaps(self, boxes):
        common = {
            loader: len(self.hashes(boxes[0], loader) & self.hashes(boxes[1], loader))
            for loader in range(BATCHES, MIXED_STREAM + 1)}
        self.assertLessEqual(common[BATCHES], 14)  # 64 of 50 samples are read
        self.assertLessEqual(common[PIECES], 6)
        self.assertEqual(common[STREAM], 0, "the filled last batches are left out")
        self.assertEqual(len(self.hashes(boxes[0], STREAM)), 24)
        for loader in (MIXED_PIECES, MIXED_STREAM):
            self.assertGreater(common[loader], 6)


if __name__ == "__main__":
    unittest.main()
