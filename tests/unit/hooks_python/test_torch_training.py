"""A small data-parallel training with the real torch: what its boxes say, and that the numbers do not change."""
import math
import struct
import unittest

from hook_case import TorchCase

TRAINING = """
    import datetime, os, sys, torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel


    def main():
        torch.manual_seed(3)
        dist.init_process_group(  # init
            "gloo", init_method=os.environ["STORE"], rank=int(os.environ["RANK"]),
            world_size=int(os.environ["WORLD_SIZE"]), timeout=datetime.timedelta(seconds=77))
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 2))
        model = DistributedDataParallel(model)  # wrap
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for step in range(3):
            for micro in range(2):
                loss = model(torch.ones(2, 4) * (step + micro)).pow(2).mean()
                loss.backward()  # backward
            optimizer.step()  # step
            optimizer.zero_grad()
        torch.save(model.state_dict(), "model%s.pt" % os.environ["RANK"])  # save
        state = torch.load("model%s.pt" % os.environ["RANK"])  # load
        print(repr(loss.item()), [float(value.double().sum()) for value in state.values()])
        torch.autograd.backward([torch.ones(2, requires_grad=True)], [torch.ones(2)])
        if os.environ["RANK"] == "1":
            raise ValueError("wrong on rank one")  # raise
        dist.destroy_process_group()

    main()
    """


class Training(TorchCase):
    def test_what_two_ranks_record(self):
        program = self.write("train.py", TRAINING)
        runs = self.run_ranks(program)
        self.assertEqual([run.returncode for run in runs], [0, 1])
        boxes = self.by_rank()
        self.assertEqual(sorted(boxes), [0, 1])
        for box in boxes.values():
            self.check_life(box, program)
            self.check_steps(box, program)
            self.check_phases(box, program)
        self.assertEqual(boxes[0].records("MODEL")[0].number[3], boxes[1].records("MODEL")[0].number[3])
        self.check_ends(boxes, runs, program)

    def check_life(self, box, program):
        self.assertEqual([record.number[1] for record in box.records("STATE")], [1, 2, 3, 4, 5])
        self.assertEqual(box.live.world_size, 2)
        group, = box.records("GROUP")
        self.assertEqual(group.text, (program, "main", "0", "gloo", "0-1", "default_pg"))
        self.assertEqual(group.number[1:4], (box.live.rank, 2, 77 * 10**9))
        model, = box.records("MODEL")
        self.assertEqual(model.text[:4], (program, "main", "DistributedDataParallel", "Sequential"))
        self.assertEqual(model.number[:3] + model.number[4:5], (self.line_of(program, "wrap"), 6, 6, 3))

    def check_steps(self, box, program):
        steps = box.records("STEP")
        self.assertEqual([(record.text[0], *record.number[:3]) for record in steps],
                         [(program, self.line_of(program, "step"), step, 2) for step in (1, 2, 3)])
        begins, ends = box.records("BACKWARD_BEGIN"), box.records("BACKWARD_END")
        self.assertEqual([record.ident for record in begins], [record.ident for record in ends])
        self.assertEqual([(record.number[0], record.number[2], record.number[3]) for record in begins[:6]],
                         [(self.line_of(program, "backward"), 1, step) for step in (0, 0, 1, 1, 2, 2)])
        self.assertEqual(begins[6].number[2], 0)
        self.assertEqual((box.live.step, box.live.backward_begun, box.live.backward_ended, box.live.phase), (3, 7, 7, 0))
        loss, = struct.unpack("<d", struct.pack("<q", begins[5].number[1]))
        self.assertTrue(math.isfinite(loss) and loss == box.loss)

    def check_phases(self, box, program):
        phases = [(record.text[2], record.number[:2]) for record in box.records("PHASE_BEGIN")]
        self.assertEqual(phases, [
            ("torch.distributed.init_process_group", (phases[0][1][0], 4)),
            ("torch.save", (self.line_of(program, "save"), 1)), ("torch.load", (self.line_of(program, "load"), 2))])
        self.assertEqual(len(box.records("PHASE_END")), 3)

    def check_ends(self, boxes, runs, program):
        self.assertEqual(boxes[0].records("EXCEPTION"), [])
        error, = boxes[1].records("EXCEPTION")
        self.assertEqual(error.text[:4], (program, "main", "ValueError", "wrong on rank one"))
        self.assertEqual(error.number[:3], (self.line_of(program, "raise"), 1, 0))
        self.assertIn("[rank1]: ValueError: wrong on rank one", runs[1].err)
        self.assertEqual([boxes[rank].live.exit_status for rank in (0, 1)], [0, 1])

    def test_results_and_output_are_the_same_without_the_hook(self):
        program = self.write("train.py", TRAINING)
        with_hook = self.run_ranks(program)
        without = self.run_ranks(program, armed=False)
        for one, other in zip(with_hook, without):
            self.assertEqual(one.out, other.out)
            self.assertEqual(one.err, other.err)


if __name__ == "__main__":
    unittest.main()
