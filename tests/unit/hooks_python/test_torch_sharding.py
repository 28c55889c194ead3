"""Who must agree with whom: ZeroRedundancyOptimizer, FSDP in both forms, hybrid sharding and tensor parallelism on four ranks."""
import unittest

from hook_case import TorchCase

START, STEP = 1, 4
PARAMETERS, GRADIENTS, OPTIMIZER = 1, 3, 4
ZERO, SHARDED, HYBRID, TENSOR, FLAT, WHOLE = range(1, 7)

PROGRAM = """
    import os, torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, fully_shard
    from torch.distributed.optim import ZeroRedundancyOptimizer
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    from torch.nn.parallel import DistributedDataParallel

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=4)
    torch.manual_seed(3)

    def network():
        return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.Linear(8, 4))

    def train(forward, optimizer):
        for _ in range(2):
            forward(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()

    wrapped = DistributedDataParallel(network())
    train(wrapped, ZeroRedundancyOptimizer(wrapped.parameters(), torch.optim.AdamW, lr=0.1))
    sharded = fully_shard(network(), mesh=init_device_mesh("cpu", (4,)))
    train(sharded, torch.optim.AdamW(sharded.parameters()))
    hybrid = fully_shard(network(), mesh=init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicate", "shard")))
    train(hybrid, torch.optim.AdamW(hybrid.parameters()))
    parallel = parallelize_module(
        network(), init_device_mesh("cpu", (4,)), {"0": ColwiseParallel(), "2": RowwiseParallel()})
    train(lambda data: parallel[2](parallel[0](data)), torch.optim.SGD(parallel.parameters(), lr=0.1))
    flat = FullyShardedDataParallel(network(), device_id=torch.device("cpu"), use_orig_params=True)
    train(flat, torch.optim.SGD(flat.parameters(), lr=0.1))
    whole = FullyShardedDataParallel(
        network(), sharding_strategy=ShardingStrategy.NO_SHARD, device_id=torch.device("cpu"))
    train(whole, torch.optim.SGD(whole.parameters(), lr=0.1))
    """


class Sharding(TorchCase):
    def test_ranks_and_promises(self):
        program = self.write("train.py", PROGRAM)
        for run in self.run_ranks(program, 4, INQUEST_DIGEST_SHARE="1000000"):
            self.assertEqual(run.returncode, 0, run.err)
        digests = {rank: box.digests() for rank, box in self.by_rank().items()}
        self.assertEqual(sorted(digests), [0, 1, 2, 3])
        for rank, found in digests.items():
            said = {key[0]: record.text[2:4] for key, record in found.items()}
            self.assertEqual(said, {
                ZERO: ("0-3", "DistributedDataParallel"), HYBRID: ("%d,%d" % (rank % 2, rank % 2 + 2), "DTensor"),
                TENSOR: ("0-3", "DTensor"), WHOLE: ("0-3", None)})
            self.assertNotIn((ZERO, 2, STEP, OPTIMIZER), found, "each rank has its own part of that state")
            self.assertIn((HYBRID, 2, STEP, OPTIMIZER), found)
            self.assertEqual(found[WHOLE, 2, STEP, PARAMETERS].number[6], 1, "all parameters in one tensor")
            self.assertEqual(found[TENSOR, 0, START, PARAMETERS].number[6], 1, "the bias after the reduction alone")
        self.check_values(digests)
        self.assertEqual([box.live.step for box in self.boxes()], [12] * 4)

    def check_values(self, digests):
        for key, record in digests[0].items():
            values = [digests[rank][key].number[4:6] for rank in range(4)]
            if key[0] == HYBRID:
                self.assertEqual(values[:2], values[2:], key)
            else:
                self.assertEqual(values, values[:1] * 4, key)
        self.assertNotEqual(*[digests[rank][HYBRID, 2, STEP, PARAMETERS].number[4:6] for rank in (0, 1)])


if __name__ == "__main__":
    unittest.main()
