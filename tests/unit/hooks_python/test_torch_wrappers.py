"""FSDP2, torch.distributed.checkpoint, sub-groups of a device mesh and torch.compile with the hook in place."""
import unittest

from hook_case import TorchCase

WRAPPERS = """
    import os, torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    mesh = init_device_mesh("cpu", (2, 1), mesh_dim_names=("data", "tensor"))
    model = torch.nn.Sequential(*[torch.nn.Linear(4, 4) for _ in range(3)])
    for layer in model:
        fully_shard(layer, mesh=mesh["data"])  # layer
    fully_shard(model, mesh=mesh["data"])  # root
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        model(torch.ones(2, 4)).sum().backward()  # backward
        optimizer.step()
    dcp.save({"model": model.state_dict()}, checkpoint_id="checkpoint")  # save
    dcp.load({"model": model.state_dict()}, checkpoint_id="checkpoint")  # load

    @torch.compile(backend="eager")
    def compiled(tensor):
        dist.all_reduce(tensor)
        return tensor + 1

    print(compiled(torch.ones(3)).tolist())

    @torch.compile(backend="aot_eager")
    def compiled_step(data):
        loss = plain(data).sum()
        loss.backward()
        plain_optimizer.step()
        return loss.detach()

    plain = torch.nn.Linear(4, 4)
    plain_optimizer = torch.optim.SGD(plain.parameters(), lr=0.1)
    compiled_step(torch.ones(2, 4))
    compiled_step(torch.ones(2, 4))
    pending = dist.all_reduce(torch.ones(2), async_op=True)  # still held when the interpreter ends
    dist.barrier()
    """


class Wrappers(TorchCase):
    def test_sharded_training_and_checkpoint(self):
        program = self.write("train.py", WRAPPERS)
        runs = self.run_ranks(program)
        for run in runs:
            self.assertEqual((run.returncode, run.out), (0, "[3.0, 3.0, 3.0]\n"), run.err)
            self.assertNotIn("inquest", run.err)
        boxes = self.by_rank()
        for box in boxes.values():
            models = box.records("MODEL")
            self.assertEqual([(record.text[2], record.number[0], record.number[1]) for record in models], [
                ("fully_shard", self.line_of(program, "layer"), 2), ("fully_shard", self.line_of(program, "root"), 6)])
            phases = [record.text[2] for record in box.records("PHASE_BEGIN")]
            self.assertIn("torch.distributed.checkpoint.save", phases)
            self.assertIn("torch.distributed.checkpoint.load", phases)
            self.assertEqual((box.live.step, box.live.phase, box.live.backward_begun), (4, 0, box.live.backward_ended))
            self.assertLessEqual(len(box.open_calls()), 1)
            self.assertTrue(all(record.text[0] == program for record in box.collectives()), box.collectives())
        self.assertEqual(*[[record.number[3] for record in box.records("MODEL")] for box in boxes.values()])


if __name__ == "__main__":
    unittest.main()
