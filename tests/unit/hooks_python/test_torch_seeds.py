"""INQUEST_SEED: replicas that start equal, generators that differ by rank afterwards, and programs that seed themselves."""
import json
import unittest

from hook_case import TorchCase

# One way to train; what differs is where weights come from, how gradients are reduced and which seeds the program sets.
PROGRAM = """
    import os, random, sys, torch
    import torch.distributed as dist

    style, own = sys.argv[1], sys.argv[2:]
    if "python" in own:
        random.seed(42)
    if "torch" in own:
        torch.manual_seed(42)
    rank = int(os.environ["RANK"])
    if style != "alone":
        dist.init_process_group("gloo", init_method=os.environ["STORE"], rank=rank, world_size=int(os.environ["WORLD_SIZE"]))
    import numpy as np
    if "numpy" in own:
        np.random.seed(42)
    saved = np.random.get_state()
    np.random.seed(7)  # for a moment only
    np.random.set_state(saved)
    result = {"start": [torch.rand(1).item(), random.random(), float(np.random.rand())]}
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
    if style == "ddp":
        model = torch.nn.parallel.DistributedDataParallel(model)
        result["ready"] = torch.rand(1).item()
    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return torch.tensor([float(index), torch.rand(1).item(), random.random(), np.random.rand()])

    loader = torch.utils.data.DataLoader(Data(), batch_size=4, shuffle=True)
    batches = [batch for batch in loader]
    result["data"] = [batch.tolist() for batch in batches]
    for batch in batches * 2:  # without torch.optim, which takes long to load
        model.zero_grad()
        model(batch.float()).sum().backward()
        for parameter in model.parameters():
            if style == "manual":
                dist.all_reduce(parameter.grad)
            parameter.data -= 0.1 * parameter.grad
    result["weights"] = [parameter.sum().item() for parameter in model.parameters()]
    result["after"] = [torch.rand(1).item(), random.random(), float(np.random.rand())]
    import json
    print(json.dumps(result))
    if style != "alone":
        dist.destroy_process_group()
    """


class Seeds(TorchCase):
    def run_program(self, *arguments, ranks=(0, 1), **options):
        program = self.write("train.py", PROGRAM)
        self.stores = getattr(self, "stores", 0) + 1
        options.update(WORLD_SIZE=str(len(ranks)), STORE="file://%s/store%d" % (self.root, self.stores), INQUEST_SEED="42")
        runs = [self.finish(process) for process in [self.start(program, *arguments, RANK=str(rank), **options) for rank in ranks]]
        for run in runs:
            self.assertEqual((run.returncode, "inquest" in run.err), (0, False), run.err)
        return [json.loads(run.out) for run in runs]

    def records(self):
        """What is recorded last about the seed, by rank."""
        return {rank: [record.text[3] for record in box.records("ENVIRONMENT") if record.text[2] == "inquest.seed"][-1]
                for rank, box in self.by_rank().items()}

    def test_unsynchronised_replicas_start_equal_draw_apart_and_end_equal(self):
        """Without a wrapper, until the first backward call: the data loader before it still draws alike."""
        first = self.run_program("manual")
        self.assertEqual(first[0]["start"], first[1]["start"])
        self.assertEqual(first[0]["data"], first[1]["data"])
        self.assertEqual(first[0]["weights"], first[1]["weights"])
        for column in range(3):
            self.assertNotEqual(first[0]["after"][column], first[1]["after"][column])
        self.assertEqual(self.records(), {
            0: "42; plus rank 0: python, torch, numpy", 1: "42; plus rank 1: python, torch, numpy"})
        self.assertEqual(self.run_program("manual"), first)

    def test_a_wrapped_model_ends_the_common_part_and_a_program_s_own_seed_wins(self):
        """The program seeds one generator, with the same number as the step."""
        runs = self.run_program("ddp", "torch")
        self.assertEqual(runs[0]["start"], runs[1]["start"])
        self.assertEqual(runs[0]["ready"], runs[1]["ready"])
        self.assertEqual(runs[0]["weights"], runs[1]["weights"])
        self.assertEqual(runs[0]["after"][0], runs[1]["after"][0])
        for column in (1, 2):
            self.assertNotEqual(runs[0]["after"][column], runs[1]["after"][column])
        self.assertEqual(self.records()[1], "42; plus rank 1: python, numpy; left to the program: torch")

    def test_a_program_that_seeds_everything_computes_what_it_computes_alone(self):
        own = ("alone", "python", "torch", "numpy")
        runs = self.run_program(*own, ranks=(1,))
        self.assertEqual(self.records()[-1], "42; plus rank 1: nothing; left to the program: python, torch, numpy")
        self.assertEqual(self.run_program(*own, ranks=(1,), armed=False), runs)

    def test_workers_of_a_loader_that_is_read_for_training_draw_apart(self):
        program = self.write("train.py", """
            import random, torch
            class Data(torch.utils.data.Dataset):
                def __len__(self):
                    return 4
                def __getitem__(self, index):
                    import numpy
                    return torch.tensor([torch.rand(1).item(), random.random(), numpy.random.rand()])
            loader = torch.utils.data.DataLoader(Data(), num_workers=2)
            looked_at = [batch.tolist() for batch in loader]
            model = torch.nn.Linear(3, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            print([looked_at, model.weight.tolist(), [batch.tolist() for batch in loader]])
            """)
        runs = [json.loads(self.run_python(program, INQUEST_SEED="42", **rank).out) for rank in ({"SLURM_PROCID": "1"}, {})]
        self.assertEqual(runs[0][:2], runs[1][:2])
        drawn = [{number for batch in run[2] for row in batch for number in row} for run in runs]
        self.assertEqual((len(drawn[0]), drawn[0] & drawn[1]), (12, set()))

    def test_devices_follow_and_are_judged_alone(self):
        """Generators of the CPU stand in for those of devices, which would be seeded like torch's own."""
        program = self.write("train.py", """
            import sys, torch
            torch.cuda.is_initialized = lambda: True
            torch.cuda.default_generators = [torch.Generator().manual_seed(torch.initial_seed()) for _ in range(2)]
            if len(sys.argv) > 1:
                torch.cuda.default_generators[0].manual_seed(42)
            torch.ones(1, requires_grad=True).sum().backward()
            print([generator.initial_seed() % 2 ** 32 for generator in torch.cuda.default_generators])
            """)
        runs = [self.run_python(program, *own, INQUEST_SEED="42", RANK="1").out for own in ((), ("own",))]
        self.assertEqual(runs, ["[43, 43]\n", "[42, 42]\n"])

    def test_without_a_seed_nothing_is_seeded_loaded_or_recorded(self):
        code = "import sys, torch; print(torch.initial_seed(), [name for name in sys.modules if name.endswith('seeds')])"
        runs = [self.run_python("-c", code).out.split(" ", 1) for _ in range(2)]
        self.assertNotEqual(runs[0][0], runs[1][0])
        self.assertEqual(runs[0][1], "[]\n")
        for box in self.boxes():
            self.assertNotIn("inquest.seed", [record.text[2] for record in box.records("ENVIRONMENT")])

    def test_a_seed_that_is_no_number_is_no_reason_to_fail(self):
        program = self.write("train.py", "import random, torch\nprint('ran')")
        run = self.run_python(program, INQUEST_SEED="x", INQUEST_HOOK_DEBUG=None)
        self.assertEqual((run.returncode, run.out, run.err), (0, "ran\n", ""))


if __name__ == "__main__":
    unittest.main()
