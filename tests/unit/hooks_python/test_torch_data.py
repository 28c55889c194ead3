"""What is said about the data: samplers, batches, sketches of the samples, and steps that GradScaler left out."""
import struct
import unittest

from hook_case import TorchCase

PROGRAM = """
    import os, torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=2)
    generator = torch.Generator().manual_seed(1)
    data = TensorDataset(torch.randn(64, 3, generator=generator), torch.arange(64) % 2)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    seed = 5 + rank if os.environ.get("WRONG") else 5
    sampler = DistributedSampler(data, num_replicas=2, rank=rank, seed=seed)
    loader = DataLoader(
        data, batch_size=4, sampler=sampler, num_workers=int(os.environ.get("WORKERS", 0)),
        persistent_workers=bool(os.environ.get("WORKERS")))
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for batch, label in loader:
            loss = model(batch).sum()
            if os.environ.get("WRONG") and epoch == 1:
                loss = loss * float("inf")
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    dist.destroy_process_group()
    """

MANY_PASSES = """
    import os, torch
    import torch.distributed as dist
    from torch.utils.data import DataLoader, TensorDataset

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=2)

    class Counting(TensorDataset):
        asked = 0

        def __len__(self):
            Counting.asked += 1
            return super().__len__()

    class Batches:
        def __init__(self):
            self.num_replicas, self.rank, self.batch_size = 2, rank, 1

        def __len__(self):
            return 2

        def __iter__(self):
            return iter([[rank], [2 + rank]])

    data = Counting(torch.arange(4.0).reshape(4, 1))
    persistent = DataLoader(data, batch_sampler=Batches(), num_workers=1, persistent_workers=True)
    plain = DataLoader(data, batch_sampler=Batches())
    for loader, passes in ((plain, 198), (persistent, 4), (plain, 10)):
        for _ in range(passes):
            assert len(list(loader)) == 2
    print(Counting.asked)
    dist.destroy_process_group()
    """


class Data(TorchCase):
    def sketches(self, box):
        """{pass: (samples, hashes)} of the newest sketch of each pass."""
        found = {}
        for record in box.records("SAMPLES"):
            number, samples, index = record.number[:3]
            hashes = found[number][1] if index else []
            found[number] = (samples, hashes + [one % (1 << 64) for one in record.number[3:] if one])
        return found

    def run_program(self, **variables):
        program = self.write("train.py", PROGRAM)
        for run in self.run_ranks(program, INQUEST_DIGEST_SHARE="1000000", **variables):
            self.assertEqual((run.returncode, run.err), (0, ""))
        return self.by_rank()

    def test_sharded_data(self):
        for workers in (None, "1"):
            boxes = self.run_program(WORKERS=workers)
            for rank, box in boxes.items():
                samplers = box.records("SAMPLER")
                self.assertEqual({(record.ring, record.ident, record.text[2]) for record in samplers}, {(0, 1, "DistributedSampler")})
                self.assertEqual([record.number[1:] for record in samplers], [(5, epoch, 2, rank, 1, 32, 64) for epoch in (0, 1)])
                self.check_sketches(self.sketches(box))
                batches = [record.number[1:3] + record.number[4:5] for record in box.records("BATCH")]
                self.assertIn((0, 4, 0), batches)
                self.assertEqual(len(set(record.number[3] for record in box.records("BATCH"))), len(batches))
            one, other = (self.sketches(boxes[rank]) for rank in (0, 1))
            for number in (1, 2):
                self.assertEqual(set(one[number][1]) & set(other[number][1]), set())
            self.assertEqual(boxes[0].records("SCALER_SKIP"), [])
            self.forget_boxes()

    def check_sketches(self, sketches):
        self.assertEqual({number: samples for number, (samples, _) in sketches.items()}, {1: 32, 2: 32})
        for _, hashes in sketches.values():
            self.assertEqual(len(hashes), 32)
            self.assertEqual(hashes, sorted(hashes))

    def forget_boxes(self):
        import os
        import shutil

        shutil.rmtree(self.boxes_directory)
        os.mkdir(self.boxes_directory)

    def test_after_the_passes_that_are_recorded_nothing_is_asked_or_followed(self):
        program = self.write("train.py", MANY_PASSES)
        for run in self.run_ranks(program, INQUEST_DIGEST_SHARE="1000000"):
            self.assertEqual((run.returncode, run.out, run.err), (0, "200\n", ""))
        for box in self.by_rank().values():
            self.assertEqual(len(box.records("SAMPLER")), 200)
            followed = [record.number[:2] for record in box.records("SAMPLES") if record.ident == 2]
            self.assertEqual(max(followed), (2, 2), "(pass, samples)")

    def test_overlapping_data_and_skipped_steps(self):
        boxes = self.run_program(WRONG="1")
        self.assertEqual([box.records("SAMPLER")[0].number[1] for box in (boxes[0], boxes[1])], [5, 6])
        one, other = (self.sketches(boxes[rank])[1][1] for rank in (0, 1))
        self.assertGreater(len(set(one) & set(other)), 5)
        skips = boxes[0].records("SCALER_SKIP")
        self.assertEqual([(record.ident, record.ring, record.number[1]) for record in skips[:2]], [(1, 1, 9), (1, 1, 9)])
        scales = [struct.unpack("<d", struct.pack("<q", record.number[2]))[0] for record in skips[:2]]
        self.assertEqual(scales, [4.0, 2.0])
        self.assertEqual(boxes[0].live.step, 8)


if __name__ == "__main__":
    unittest.main()
