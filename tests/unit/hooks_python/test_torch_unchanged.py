"""The hook changes no bit: losses, weights and the states of all random generators, at every profile's share."""
import os
import unittest

from hook_case import HOOK, TorchCase

PROGRAM = """
    import os, random, torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data import DataLoader, TensorDataset

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=2)
    torch.manual_seed(7 + rank)
    random.seed(8 + rank)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(2, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Dropout(0.3), torch.nn.Flatten(), torch.nn.Linear(144, 5))
    model = DistributedDataParallel(model.to(memory_format=torch.channels_last), broadcast_buffers=True)  # warns
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    loader = DataLoader(
        TensorDataset(torch.randn(40, 2, 8, 8), torch.randint(5, (40,))), batch_size=4, shuffle=True, num_workers=rank)
    for _ in range(2):
        for data, target in loader:
            loss = torch.nn.functional.cross_entropy(model(data), target)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            print(loss.item().hex(), random.random().hex())
    for value in list(model.state_dict().values()) + [torch.get_rng_state()]:
        print(value.flatten().tolist())
    os.makedirs(os.environ["RUN"], exist_ok=True)
    torch.save(model.module, "%s/model%d.pt" % (os.environ["RUN"], rank))
    dist.destroy_process_group()
    """

WARNINGS = """
    import os, torch
    import torch.distributed as dist
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=int(os.environ["RANK"]), world_size=2)
    torch.save({}, "empty%d.pt" % dist.get_rank())
    for _ in range(2):
        torch.load("empty%d.pt" % dist.get_rank())
    model = FullyShardedDataParallel(
        torch.nn.Linear(2, 2), sharding_strategy=ShardingStrategy.NO_SHARD, device_id=torch.device("cpu"))
    torch.load("empty%d.pt" % dist.get_rank())
    model(torch.ones(1, 2)).sum().backward(create_graph=True)
    torch.optim.SGD(model.parameters()).load_state_dict(torch.optim.SGD(model.parameters()).state_dict())
    dist.destroy_process_group()
    """


class Unchanged(TorchCase):
    def test_no_bit_changes(self):
        program = self.write("train.py", PROGRAM)
        bare = self.run_ranks(program, armed=False, RUN="bare")
        self.assertEqual([run.returncode for run in bare], [0, 0])
        for share in ("0", "200", "1000", "1000000"):
            runs = self.run_ranks(program, INQUEST_DIGEST_SHARE=share, RUN=share)
            for rank, (one, other) in enumerate(zip(runs, bare)):
                self.assertEqual((one.returncode, one.out, one.err), (0, other.out, other.err), share)
                self.assertEqual(self.saved(rank, share), self.saved(rank, "bare"))
            digests = [box for box in self.boxes() if box.records("DIGEST")]
            self.assertEqual(bool(digests), share != "0")

    def test_warnings_name_the_same_lines_as_often(self):
        program = self.write("warn.py", WARNINGS)
        bare = self.run_ranks(program, armed=False, TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1")
        runs = self.run_ranks(program, TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD="1")
        for run, other in zip(runs, bare):
            self.assertEqual((run.returncode, run.err), (0, other.err))
            self.assertEqual(run.err.count("weights_only=False"), 2)
            self.assertIn("warn.py", run.err)
            self.assertIn("NO_SHARD", run.err)

    def test_a_traceback_shows_no_lines_of_a_file_that_is_called_like_one_of_the_hook_s(self):
        for folder in ("", "patches"):
            for name in os.listdir(os.path.join(HOOK, "inquest_hook", folder)):
                if name.endswith(".py") and not name.startswith("__"):
                    self.write(name, "# mine\n" * 500)
        run = self.run_python(self.write("train.py", "import torch\ntorch.load('missing')\n"))
        self.assertIn("inquest_hook", run.err)
        self.assertIn("FileNotFoundError", run.err)
        self.assertNotIn("# mine", run.err)

    def saved(self, rank, run):
        """A model that was saved whole: it names nothing of the hook's."""
        with open("%s/%s/model%d.pt" % (self.root, run, rank), "rb") as file:
            return file.read()


if __name__ == "__main__":
    unittest.main()
