"""Ranks and helpers that torch starts itself: mp.spawn, data workers, torchrun; and what can be asked of a stuck rank."""
import json
import os
import signal
import socket
import unittest

from hook_case import TorchCase

SPAWN = """
    import sys, torch
    import torch.distributed as dist
    import torch.multiprocessing

    def train(index, store):
        dist.init_process_group("gloo", init_method=store, rank=1 - index, world_size=2)
        dist.barrier()
        if dist.get_rank() == 0:
            raise KeyError("spawned")  # raise

    if __name__ == "__main__":
        torch.multiprocessing.spawn(train, args=(sys.argv[1],), nprocs=2)
    """

FORK = """
    import multiprocessing, sys, torch
    import torch.distributed as dist

    def train(rank):
        dist.init_process_group("gloo", init_method=sys.argv[1], rank=rank, world_size=2)
        dist.all_reduce(torch.ones(2))
        kept.append(dist.all_reduce(torch.ones(2), async_op=True))

    kept = []
    context = multiprocessing.get_context("fork")
    ranks = [context.Process(target=train, args=(rank,)) for rank in range(2)]
    for rank in ranks:
        rank.start()
    for rank in ranks:
        rank.join()
    """

WORKERS = """
    import os, torch
    from torch.utils.data import DataLoader, Dataset

    class Numbers(Dataset):
        def __len__(self):
            return 8
        def __getitem__(self, index):
            return torch.full((2,), float(index))

    if __name__ == "__main__":
        for context in ("fork", "spawn"):
            loader = DataLoader(Numbers(), batch_size=2, num_workers=2, multiprocessing_context=context)
            print(sum(batch.sum().item() for batch in loader))
    """

STUCK = """
    import os, time, torch
    import torch.distributed as dist

    def wait():
        if int(os.environ["RANK"]) == 1:
            print("stuck", flush=True)
            time.sleep(100)
        dist.all_reduce(torch.ones(3))  # waits

    dist.init_process_group(
        "gloo", init_method=os.environ["STORE"], rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"]))
    dist.barrier()
    print("ready", flush=True)
    wait()
    """


class Processes(TorchCase):
    def test_a_spawned_rank_that_raises_is_recorded_and_reported_as_always(self):
        program = self.write("train.py", SPAWN)
        run = self.run_python(program, "file://" + os.path.join(self.root, "store"))
        self.assertEqual(run.returncode, 1)
        self.assertIn("KeyError: 'spawned'", run.err)
        boxes = self.by_rank()
        self.assertEqual(set(boxes), {-1, 0, 1})
        error, = boxes[0].records("EXCEPTION")
        self.assertEqual(error.text[:4], (program, "train", "KeyError", "'spawned'"))
        self.assertEqual(error.number[:2], (self.line_of(program, "raise"), 1))
        self.assertEqual(boxes[0].live.exit_status, 1)
        self.assertEqual(boxes[0].parent_pid, boxes[-1].pid)

    def test_a_forked_child_that_becomes_a_rank_has_a_box_of_its_own(self):
        run = self.run_python(self.write("train.py", FORK), "file://" + os.path.join(self.root, "store"))
        self.assertEqual((run.returncode, run.out, run.err), (0, "", ""))
        boxes = self.by_rank()
        self.assertEqual(set(boxes), {-1, 0, 1})
        self.assertEqual(boxes[-1].collectives(), [])
        for rank in (0, 1):
            self.assertEqual([record.number[1] for record in boxes[rank].records("STATE")], [1, 2, 3])
            self.assertEqual([record.text[2] for record in boxes[rank].collectives()], ["all_reduce"] * 2)
            self.assertNotEqual(boxes[rank].live.stack_signal, 0)
            self.assertTrue(os.path.exists(self.beside(boxes[rank], "worker", ".sock")))

    def test_data_workers_work_and_forked_ones_have_no_box(self):
        run = self.run_python(self.write("train.py", WORKERS))
        self.assertEqual((run.returncode, run.out), (0, "56.0\n56.0\n"), run.err)
        main = [box for box in self.boxes() if box.parent_pid == os.getpid()]
        self.assertEqual(len(main), 1)
        self.assertLessEqual(len(self.boxes()), 3)  # the spawned ones import torch

    def test_a_stuck_rank_tells_its_stacks_and_its_flight_recorder(self):
        program = self.write("train.py", STUCK)
        waiting, sleeping = self.start_ranks(program)
        self.assertEqual(waiting.stdout.readline(), "ready\n")
        self.assertEqual([sleeping.stdout.readline() for _ in range(2)], ["ready\n", "stuck\n"])
        boxes = self.by_rank()
        trace = self.flight_recorder(boxes[0])
        self.assertIn("entries", trace)
        os.kill(waiting.pid, boxes[0].live.stack_signal)
        os.kill(sleeping.pid, signal.SIGKILL)
        self.finish(waiting)
        self.finish(sleeping)
        with open(self.beside(boxes[0], "stack", ".txt")) as file:
            self.assertRegex(file.read(), 'File "%s", line [0-9]+ in wait' % program)
        error, = self.by_rank()[0].records("EXCEPTION")
        self.assertEqual((error.number[0], error.number[2]), (self.line_of(program, "waits"), 1))
        self.assertEqual(error.text[4], "all_reduce")
        self.assertEqual(len(self.by_rank()[1].records("EXIT")), 0)

    def beside(self, box, prefix, suffix):
        return os.path.join(self.boxes_directory, "%s-%d-%d%s" % (prefix, box.pid, box.start_time_ticks, suffix))

    def flight_recorder(self, box):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(20)
        connection.connect(self.beside(box, "worker", ".sock"))
        connection.sendall(b"POST /handler/fr_trace_json HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
        answer = b""
        while True:
            part = connection.recv(65536)
            if not part:
                break
            answer += part
        connection.close()
        return json.loads(answer.split(b"\r\n\r\n", 1)[1].decode())

    def test_torchrun(self):
        program = self.write("train.py", """
            import torch, torch.distributed as dist
            dist.init_process_group("gloo")
            dist.all_reduce(torch.ones(2))
            if dist.get_rank() == 1:
                raise OSError("no disk")
            dist.destroy_process_group()
            """)
        run = self.run_python("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", program)
        self.assertEqual(run.returncode, 1)
        boxes = self.by_rank()
        self.assertEqual(set(boxes), {-1, 0, 1})
        self.assertEqual(boxes[1].records("EXCEPTION")[0].text[2:4], ("OSError", "no disk"))
        self.assertEqual(boxes[1].parent_pid, boxes[-1].pid)
        agent_error, = boxes[-1].records("EXCEPTION")
        self.assertIn("ChildFailedError", agent_error.text[2])
        failed, = (record for record in boxes[-1].records("CHILD_END") if record.number[1] == boxes[1].pid)
        self.assertEqual(failed.number[2:4], (1 << 8, 0))

    def test_torchruns_agent_says_how_its_workers_ended(self):
        program = self.write("train.py", """
            import os, signal, time, torch, torch.distributed as dist
            dist.init_process_group("gloo")
            dist.all_reduce(torch.ones(2))
            if dist.get_rank() == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
            """)
        self.run_python("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", program)
        boxes = self.by_rank()
        ends = {record.number[1]: record.number[2:4] for record in boxes[-1].records("CHILD_END")}
        self.assertEqual(ends, {boxes[1].pid: (signal.SIGKILL, 0), boxes[0].pid: (signal.SIGTERM, 1)})

    def test_spawns_parent_says_how_its_children_ended(self):
        program = self.write("train.py", SPAWN.replace('raise KeyError("spawned")', "os.abort()").replace(
            "import sys, torch", "import os, sys, torch"))
        self.run_python(program, "file://" + os.path.join(self.root, "store"))
        boxes = self.by_rank()
        ends = {record.number[1]: record.number[2:4] for record in boxes[-1].records("CHILD_END")}
        self.assertEqual(ends[boxes[0].pid], (signal.SIGABRT, 0))


if __name__ == "__main__":
    unittest.main()
