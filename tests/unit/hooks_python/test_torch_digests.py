"""Digests of data-parallel trainings: equal where the replicas are, different where they are not, and what is said about them."""
import struct
import unittest

import table_reader
from hook_case import TorchCase

START, LOADED, SAVE, STEP, END = 1, 2, 3, 4, 5
PARAMETERS, BUFFERS, GRADIENTS, OPTIMIZER, HYPERPARAMETERS = 1, 2, 3, 4, 5
ALL_STEPS = {"INQUEST_DIGEST_SHARE": "1000000"}

SETUP = """
    import os, sys, torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    torch.manual_seed(3)
"""

DDP = SETUP + """
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2))
    ddp = DistributedDataParallel(model)  # wrap
    optimizer = torch.optim.Adam(ddp.parameters(), lr=0.01)
    torch.manual_seed(rank)
    for step in range(5):
        with ddp.no_sync():
            ddp(torch.randn(6, 4)).sum().backward()
        ddp(torch.randn(6, 4)).sum().backward()
        norm = torch.cat([parameter.grad.flatten() for parameter in model.parameters()]).double().norm()
        optimizer.step()  # step
        optimizer.zero_grad()
    print(float(norm))
    with torch.no_grad():
        ddp(torch.ones(2, 4))
    model(torch.randn(6, 4)).sum().backward()
    if rank == 1:
        with torch.no_grad():
            model[2].weight[1, 3] += 1e-3
    optimizer.step()
    """

BY_HAND = SETUP + """
    torch.manual_seed(3 + rank)
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    optimizers = [torch.optim.SGD(one.parameters(), lr=0.5, momentum=0.9) for one in (first, second)]
    for parameter in second.parameters():
        dist.broadcast(parameter.data, 0)
    for step in range(2):
        for model, optimizer in zip((first, second), optimizers):
            model(torch.full((2, 3), rank + 1.0)).sum().backward()
            for parameter in model.parameters():
                dist.all_reduce(parameter.grad)
            optimizer.step()
            optimizer.zero_grad()
    dist.destroy_process_group()
    """

LOADS = SETUP + """
    model = torch.nn.Linear(2, 2)
    other = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())

    def train():
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    model.load_state_dict(other.state_dict())
    train()
    other.load_state_dict(model.state_dict())
    train()
    train()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "state%d.pt" % rank)
    state = torch.load("state%d.pt" % rank)
    train()
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    train()
    """

ODD = SETUP + """
    class Base(torch.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    class Outer(torch.optim.Optimizer):
        def __init__(self, parameters):
            self.inner = Base(parameters, lr=0.1)
            super().__init__(self.inner.param_groups, {})

        def step(self, closure=None):
            if self.inner.param_groups[0].pop("fail", False):
                raise RuntimeError("once")
            self.inner.step()

    torch.optim.SGD([torch.nn.Parameter(torch.ones(1))]).step()  # hooks SGD.step itself
    tied = torch.nn.Linear(3, 3)
    model = torch.nn.Sequential(tied, torch.nn.Linear(3, 3, bias=False))
    model[1].weight = tied.weight
    outer = Outer(list(model.parameters()))
    model(torch.ones(2, 3)).sum().backward()
    outer.param_groups[0]["fail"] = True
    outer.inner.param_groups[0]["fail"] = True
    try:
        outer.step()
    except RuntimeError as error:
        print(error)
    outer.step()
    outer.step()

    strange = torch.nn.ParameterDict({
        "complex": torch.nn.Parameter(torch.ones(2, dtype=torch.complex64)), "empty": torch.nn.Parameter(torch.empty(0, 3)),
        "none": torch.nn.Parameter(torch.ones(2)), "strided": torch.nn.Parameter(torch.ones(4, 6)[::2, ::3])})
    optimizer = torch.optim.SGD(strange.parameters(), lr=0.1)
    (strange["complex"].abs().sum() + strange["empty"].sum() + strange["strided"].sum()).backward()
    optimizer.step()

    table = torch.nn.Embedding(5, 2, sparse=True)
    optimizer = torch.optim.SparseAdam(table.parameters())
    for _ in range(2):
        table(torch.tensor([1])).sum().backward()
        optimizer.step()

    curve = torch.nn.Linear(2, 1)
    optimizer = torch.optim.LBFGS(curve.parameters(), max_iter=2)

    def closure():
        optimizer.zero_grad()
        loss = curve(torch.ones(1, 2)).pow(2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    """


def norm_of(record):
    return struct.unpack("<d", struct.pack("<q", record.number[3]))[0]


class DataParallel(TorchCase):
    maxDiff = None

    def test_wrapped_model(self):
        program = self.write("train.py", DDP)
        runs = self.run_ranks(program, **ALL_STEPS)
        boxes = self.by_rank()
        for run, box in zip(runs, (boxes[0], boxes[1])):
            self.assertEqual((run.returncode, run.err), (0, ""))
            self.check_records(box, program)
            self.check_steps(box)
            self.check_flags(box, program)
            norms = [record for record in box.records("GRADIENT_NORM") if record.number[1] == 5]
            self.assertAlmostEqual(norm_of(norms[0]), float(run.out.split()[0]), places=9)
        self.check_agreement(boxes)
        self.check_tables(boxes)

    def check_records(self, box, program):
        keys = set(box.digests())
        self.assertEqual({key[3] for key in keys if key[1:3] == (0, START)}, {PARAMETERS, BUFFERS, HYPERPARAMETERS})
        for step in range(1, 7):
            self.assertEqual({key[3] for key in keys if key[1:3] == (step, STEP)}, {1, 2, 3, 4, 5}, step)
        for record in box.digests().values():
            self.assertEqual((record.ring, record.text[0], record.text[2:5]), (2, program, (
                "0-1", "DistributedDataParallel", "Adam")))
        self.assertEqual(box.digests()[1, 3, STEP, PARAMETERS].number[0], self.line_of(program, "step"))
        self.assertEqual([record.number[3] for record in box.records("MODE")], [1] * 7)
        states = box.records("RANDOM_STATE")
        self.assertEqual([record.number[1:3] for record in states], [(0, START), (1, STEP), (2, STEP), (4, STEP)])
        self.assertTrue(all(record.number[3] == box.live.rank for record in states))
        cost, = [record.text[3] for record in box.records("ENVIRONMENT") if record.text[2] == "inquest.digest_cost"]
        self.assertIn("microseconds per step: 6 checkpoints", cost)

    def check_steps(self, box):
        steps = [record.number[1:] for record in box.records("STEP")]
        self.assertEqual(steps[:5], [(step, 2, 1, 0b01, 2, 0, step) for step in range(1, 6)])
        self.assertEqual(steps[5], (6, 1, 1, 0, 0, 1, 6))

    def check_flags(self, box, program):
        flags, = box.records("MODEL_FLAGS")
        self.assertEqual(flags.text[:5], (program, "<module>", "DistributedDataParallel", "Sequential", "0-1"))
        self.assertEqual(flags.number[:6], (self.line_of(program, "wrap"), 1, 1, 0, 1, 0))

    def check_agreement(self, boxes):
        one, other = boxes[0].digests(), boxes[1].digests()
        self.assertEqual(set(one), set(other))
        for key in one:
            differs = one[key].number[4:6] != other[key].number[4:6]
            _, step, site, part = key
            alike = step < 6 and part != BUFFERS or part == HYPERPARAMETERS
            self.assertEqual(differs, not alike, key)

    def check_tables(self, boxes):
        tables = {rank: table_reader.of_box(box) for rank, box in boxes.items()}
        names = [name for name in tables[0].names() if name.part == PARAMETERS]
        self.assertEqual([(name.index, name.dtype, name.shape, name.norm, name.name) for name in names], [
            (0, "float32", "8x4", "-", "0.weight"), (1, "float32", "8", "-", "0.bias"), (2, "float32", "8", "-", "1.weight"),
            (3, "float32", "8", "-", "1.bias"), (4, "float32", "2x8", "-", "2.weight"), (5, "float32", "2", "-", "2.bias")])
        self.assertEqual(
            [(name.shape, name.norm, name.name) for name in tables[0].names() if name.part == BUFFERS],
            [("8", "n", "1.running_mean"), ("8", "n", "1.running_var"), ("-", "n", "1.num_batches_tracked")])
        states = [name.name for name in tables[0].names() if name.part == OPTIMIZER]
        self.assertEqual(states[:3], ["0.weight.exp_avg", "0.weight.exp_avg_sq", "0.weight.step"])
        self.assertEqual([one for one in range(6) if self.entries(boxes, tables, one, 5)[0] != self.entries(boxes, tables, one, 5)[1]], [])

    def entries(self, boxes, tables, index, step):
        return [
            tables[rank].entry(boxes[rank].digests()[1, step, STEP, PARAMETERS].number[7] + index) for rank in (0, 1)]

    def test_reduced_by_hand(self):
        program = self.write("train.py", BY_HAND)
        self.run_ranks(program, **ALL_STEPS)
        boxes = self.by_rank()
        one, other = boxes[0].digests(), boxes[1].digests()
        self.assertEqual(set(one), set(other))
        self.assertEqual({key[0] for key in one}, {1, 2})
        self.assertEqual({record.text[2:5] for record in one.values()}, {("0-1", None, "SGD")})
        for key in one:
            same = one[key].number[4:6] == other[key].number[4:6]
            self.assertEqual(same, key[0] == 2 or key[3] in (GRADIENTS, OPTIMIZER, HYPERPARAMETERS), key)
        self.assertEqual({name.name for name in table_reader.of_box(boxes[0]).names() if name.part == PARAMETERS}, {"weight", "bias"})

    def test_a_model_that_the_collector_does_not_know_any_more_has_names(self):
        program = self.write("train.py", SETUP + """
    import gc

    body = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.BatchNorm1d(3))
    gc.freeze()
    head = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(list(body.parameters()) + list(head.parameters()), lr=0.1)
    head(body(torch.ones(2, 3))).sum().backward()
    optimizer.step()
    """)
        for run in self.run_ranks(program, **ALL_STEPS):
            self.assertEqual((run.returncode, run.err), (0, ""))
        names = {name.name for name in table_reader.of_box(self.by_rank()[0]).names() if name.part in (PARAMETERS, BUFFERS)}
        self.assertEqual(names, {
            "0:weight", "0:bias", "1:0.weight", "1:0.bias", "1:1.weight", "1:1.bias", "1:1.running_mean", "1:1.running_var",
            "1:1.num_batches_tracked"})

    def test_after_loading_before_saving_and_at_the_end(self):
        program = self.write("train.py", LOADS)
        self.run_ranks(program, INQUEST_DIGEST_SHARE="200000")
        box = self.by_rank()[0]
        keys = {key[1:] for key in box.digests()}
        self.assertIn((0, LOADED, PARAMETERS), keys)
        self.assertNotIn((1, LOADED, PARAMETERS), keys)
        self.assertIn((4, LOADED, OPTIMIZER), keys)
        digests = box.digests()
        self.assertEqual(digests[1, 3, STEP, PARAMETERS].number[4:6], digests[1, 4, LOADED, PARAMETERS].number[4:6])
        self.assertEqual(digests[1, 0, START, PARAMETERS].number[4:6], digests[1, 0, LOADED, PARAMETERS].number[4:6])

    def test_an_optimizers_own_state_is_none_of_the_weights(self):
        program = self.write("train.py", SETUP + """
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(2):
        optimizer.load_state_dict(optimizer.state_dict())
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    """)
        self.run_ranks(program, **ALL_STEPS)
        keys = {key[1:] for key in self.by_rank()[0].digests() if key[2] == LOADED}
        self.assertEqual(keys, {(1, LOADED, OPTIMIZER)})

    def test_saving_and_the_end_are_looked_at_when_the_step_was_not(self):
        program = self.write("train.py", SETUP + """
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(40):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        if step == 20:
            from inquest_hook.schedule import budget
            budget.spent_ns = 0  # as after a long time
            torch.save(model.state_dict(), "state%d.pt" % rank)
        if step == 10:
            from inquest_hook import trained
            trained.registry.of(optimizer).schedule.every = 1 << 30
            budget = trained.budget
            budget.spent_ns = 1 << 60
    """)
        self.run_ranks(program)
        keys = {key[1:] for key in self.by_rank()[0].digests(PARAMETERS)}
        self.assertIn((21, SAVE, PARAMETERS), keys)
        self.assertIn((32, STEP, PARAMETERS), keys)
        self.assertIn((40, END, PARAMETERS), keys)

    def test_strange_tensors_and_steps(self):
        program = self.write("train.py", ODD)
        for run in self.run_ranks(program, **ALL_STEPS):
            self.assertEqual((run.returncode, run.out, run.err), (0, "once\n", ""))
        box = self.by_rank()[0]
        self.assertEqual([record.number[3] for record in box.records("STEP")], [1, 2, 2, 3, 4, 4, 5])
        self.assertEqual([record.text[4] for record in box.digests(PARAMETERS, START).values()],
                         ["SGD", "Outer", "SGD", "SparseAdam", "LBFGS"])
        names = table_reader.of_box(box).names()
        self.assertEqual([name.name for name in names if name[:2] == (2, PARAMETERS)], ["0.weight", "0.bias"])
        self.assertEqual([name.shape for name in names if name[:2] == (3, GRADIENTS)], ["2", "0x3", "2", "2x2"])
        notes = [record.text[3] for record in box.records("ENVIRONMENT") if record.text[2] == "inquest.digest"]
        self.assertEqual(len(notes), 1)
        self.assertIn("optimizer 4 part 3 left out", notes[0])
        self.assertIn((5, 1, STEP, GRADIENTS), box.digests())
        self.assertIn((5, 1, STEP, OPTIMIZER), box.digests())


if __name__ == "__main__":
    unittest.main()
