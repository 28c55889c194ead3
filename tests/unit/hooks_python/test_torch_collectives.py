"""Every operation of torch.distributed, called as users call it, with the real torch and gloo."""
import unittest

from hook_case import TorchCase

HEAD = """
    import os, sys, time, torch
    import torch.distributed as dist
    from torch.distributed import all_reduce as reduce_everywhere

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    """

# Gloo lacks reduce_scatter of lists and all_to_all in some versions: then the call raises, and its end is recorded too.
OPERATIONS = HEAD + """
    one = torch.ones(4, 2)
    two = [torch.zeros(4, 2), torch.zeros(4, 2)]
    def attempt(call):
        try:
            call()
        except RuntimeError as error:
            print("unsupported", error)
    dist.all_reduce(one)
    reduce_everywhere(one, op=dist.ReduceOp.MAX)
    dist.reduce(one, 1)
    dist.broadcast(one, src=1)
    dist.all_gather(two, one)
    attempt(lambda: dist.all_gather_into_tensor(torch.zeros(8, 2), one))
    dist.gather(one, two if rank == 0 else None)
    dist.scatter(one, two if rank == 0 else None, src=0)
    attempt(lambda: dist.reduce_scatter(one, two))
    attempt(lambda: dist.reduce_scatter_tensor(one, torch.zeros(8, 2)))
    attempt(lambda: dist.all_to_all_single(torch.zeros(8), torch.zeros(8)))
    attempt(lambda: dist.all_to_all(two, [one, one]))
    dist.barrier()
    dist.monitored_barrier()
    dist.all_gather_object([None, None], {"rank": rank})
    dist.gather_object(rank, [None, None] if rank == 0 else None, 0)
    dist.broadcast_object_list([rank], src=0)
    dist.scatter_object_list([None], [1, 2] if rank == 0 else None, 0)
    if rank == 0:
        dist.send(one, 1)
        dist.isend(one, 1).wait()
        dist.send_object_list(["x"], 1)
    else:
        dist.recv(one, 0)
        dist.irecv(one, 0).wait()
        dist.recv_object_list([None], 0)
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, one, 1 - rank), dist.P2POp(dist.irecv, one.clone(), 1 - rank)])
    for work in works:
        work.wait()
    dist.barrier()
    """
NAMES = [
    "all_reduce", "all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "gather", "scatter",
    "reduce_scatter", "reduce_scatter_tensor", "all_to_all_single", "all_to_all", "barrier", "monitored_barrier",
    "all_gather_object", "gather_object", "broadcast_object_list", "scatter_object_list"]

ASYNC = HEAD + """
    import gc
    one = torch.ones(3)
    work = dist.all_reduce(one, async_op=True)  # waited
    work.wait()
    work.wait()
    dist.all_reduce(one, async_op=True)  # dropped
    gc.collect()
    kept = dist.all_reduce(one, async_op=True)  # kept
    pair = dist.new_group([0, 1])
    dist.all_reduce(one, group=pair)
    dist.all_reduce(one, group=dist.group.WORLD)
    alone = dist.new_group([0])
    dist.all_reduce(one.double(), group=alone)
    for length in range(5000):
        dist.all_reduce(torch.zeros(length % 7), group=pair)
    os.kill(os.getpid(), 9)
    """

MANY = HEAD + """
    import itertools
    from inquest_hook.box import box
    box.next_ident = itertools.count((1 << 31) - 2).__next__  # as after months
    for _ in range(4):
        dist.all_reduce(torch.ones(1))
    """

RAISING = HEAD + """
    def step():
        try:
            dist.all_reduce("no tensor")
        except Exception:
            pass
        if rank == 0:
            os._exit(5)
        try:
            dist.all_reduce(torch.ones(2))  # victim
        except RuntimeError as error:
            raise RuntimeError("training failed") from error  # again
    step()
    """


BACKWARD = HEAD + """
    class Strict(torch.autograd.Function):
        @staticmethod
        def forward(context, tensor):
            return tensor.clone()
        @staticmethod
        def backward(context, gradient):
            raise ValueError("not finite")  # raise

    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(3, 3))
    if rank == 0:
        while not os.path.exists("forward-done"):  # the victim must not meet the end before its backward
            time.sleep(0.01)
        try:
            Strict.apply(torch.ones(2, requires_grad=True)).sum().backward()
        finally:
            os._exit(6)
    loss = model(torch.ones(2, 3)).sum()
    open("forward-done", "w").close()
    loss.backward()  # victim
    """

STRICT = BACKWARD.replace("os._exit(6)", "pass").replace("rank == 0", "True").replace("while not", "while False and not")


class Collectives(TorchCase):
    def test_every_operation_is_recorded_once_with_its_line(self):
        program = self.write("train.py", OPERATIONS)
        runs = self.run_ranks(program)
        self.assertEqual([run.returncode for run in runs], [0, 0], runs[0].err + runs[1].err)
        boxes = self.by_rank()
        for rank, box in boxes.items():
            records = box.collectives()
            transfers = ["send", "isend", "send_object_list"] if rank == 0 else ["recv", "irecv", "recv_object_list"]
            self.assertEqual([record.text[2] for record in records], NAMES + transfers + ["batch_isend_irecv", "barrier"])
            self.assertTrue(all(record.text[0] == program and record.number[0] for record in records))
            self.assertEqual(box.open_calls(), [])
            self.check_numbering(records)
            self.check_arguments(records)
        self.assertEqual(self.hashes(boxes[0]), self.hashes(boxes[1]))

    def hashes(self, box):
        return [record.number[3] for record in box.collectives() if record.text[2] not in ("send", "recv")]

    def check_numbering(self, records):
        collectives = [record.number[1] for record in records[:18] + records[-1:]]
        self.assertEqual(collectives, list(range(1, 20)))
        self.assertEqual([record.number[1] for record in records[18:22]], [1, 2, 3, 4])

    def check_arguments(self, records):
        self.assertEqual(records[0].text[3:6], ("torch.float32", "0", "[4, 2]"))
        self.assertEqual(records[0].number[2], 8)
        self.assertEqual([record.number[4] for record in records[:8]], [-1, -1, 1, 1, -1, -1, 0, 0])
        self.assertEqual([record.number[4] for record in records[18:21]], [1 - self.rank_of(records)] * 3)
        self.assertEqual(records[4].text[5], "[4, 2]")
        self.assertEqual(records[12].text[3:6], (None, "0", None))
        self.assertEqual([record.number[6] for record in records[18:23]], [0, 1, 0, 1, 0])

    def rank_of(self, records):
        return 0 if records[18].text[2] == "send" else 1

    def test_asynchronous_calls_end_with_wait_or_when_dropped(self):
        program = self.write("train.py", ASYNC)
        self.run_ranks(program)
        for rank, box in self.by_rank().items():
            ranks = [(record.text[2], record.text[4], record.number[1:3]) for record in box.records("GROUP")]
            self.assertEqual([group[1] for group in ranks], ["0-1", "0-1", "0"])
            self.assertEqual(ranks[2][2], (0, 1) if rank == 0 else (-1, 1))
            last = box.collectives()[-1]
            self.assertEqual((last.number[1], last.number[2]), (5001, 4999 % 7))
            self.assertEqual(box.live.collectives_begun - box.live.collectives_ended, 1)
            self.assertEqual(box.live.collectives_begun, 5005 + (rank == 0))
            self.assertEqual(len(box.records("GROUP")), 3)
            self.assertEqual(box.live.dropped_strings, 0)

    def test_calls_are_paired_beyond_31_bits(self):
        for run in self.run_ranks(self.write("train.py", MANY)):
            self.assertEqual((run.returncode, run.err), (0, ""))
        box = self.by_rank()[0]
        self.assertEqual(len({record.ident for record in box.collectives()}), 4)
        self.assertEqual(box.open_calls(), [])

    def test_a_call_that_raises_ends_and_names_itself(self):
        program = self.write("train.py", RAISING)
        runs = self.run_ranks(program)
        self.assertEqual([run.returncode for run in runs], [5, 1])
        victim = self.by_rank()[1]
        self.assertEqual(victim.open_calls(), [])
        error, = victim.records("EXCEPTION")
        self.assertEqual(error.text[:5], (program, "step", "RuntimeError", "training failed", "all_reduce"))
        self.assertEqual(error.number[:3], (self.line_of(program, "again"), 1, 1))

    def test_an_exception_out_of_backward_is_told_from_one_of_the_users_own(self):
        program = self.write("train.py", BACKWARD)
        self.assertEqual([run.returncode for run in self.run_ranks(program)], [6, 1])
        error, = self.by_rank()[1].records("EXCEPTION")
        self.assertEqual((error.text[0], error.text[4]), (program, "backward"))
        self.assertEqual(error.number[:3], (self.line_of(program, "victim"), 1, 1))

    def test_an_exception_of_the_user_inside_backward_is_the_users(self):
        program = self.write("train.py", STRICT)
        self.assertEqual([run.returncode for run in self.run_ranks(program)], [1, 1])
        for box in self.by_rank().values():
            error, = box.records("EXCEPTION")
            self.assertEqual((error.text[1], error.text[2], error.text[4]), ("backward", "ValueError", None))
            self.assertEqual(error.number[:3], (self.line_of(program, "raise"), 1, 0))
            self.assertEqual((box.live.backward_begun, box.live.backward_ended), (1, 1))


if __name__ == "__main__":
    unittest.main()
