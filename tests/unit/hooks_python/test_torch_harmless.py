"""What programs do that the hook must neither disturb nor misread: inspection, optimizers of any type, failures, freed memory."""
import unittest

from hook_case import TorchCase
from test_torch_digests import END, GRADIENTS, PARAMETERS, SAVE, SETUP, STEP

INSPECTION = SETUP + """
    import inspect

    print(inspect.signature(DistributedDataParallel))
    print(inspect.getfullargspec(DistributedDataParallel))

    class Other(DistributedDataParallel):
        def __init__(self, width, **settings):
            super().__init__(torch.nn.Linear(width, 1), **settings)  # other

    print(inspect.signature(Other))
    Other(2, init_sync=False)
    DistributedDataParallel(torch.nn.Linear(3, 1), None, None, 0, None, False)
    """

WHOLE_GRAPH = SETUP + """
    torch._dynamo.config.optimize_ddp = "python_reducer"
    model = DistributedDataParallel(torch.nn.Linear(2, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    compiled = torch.compile(model, backend="eager", fullgraph=True)
    compiled(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    """

ANY_OPTIMIZER = SETUP + """
    class Delegating:
        def __init__(self, optimizer):
            self._optimizer = optimizer

        def __getattr__(self, name):
            return getattr(self._optimizer, name)

    weight = torch.ones(2, requires_grad=True)
    scaler = torch.amp.GradScaler("cpu")
    for optimizer in (Delegating(torch.optim.SGD([weight], lr=0.1)), torch.optim.SGD([weight], lr=0.1)):
        weight.grad = torch.full((2,), float("inf"))
        scaler.scale(torch.ones(1))
        scaler.step(optimizer)
        scaler.update()
    """

FAILURES = SETUP + """
    import signal

    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(6):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()

    def closure():
        torch.save(model.state_dict(), "inside%d.pt" % rank)  # as a signal's handler in the middle of a step does

    if rank == 1:
        optimizer.step(closure)
    try:
        raise ValueError("lost")
    except ValueError:
        torch.save(model.state_dict(), "emergency%d.pt" % rank)
        dist.destroy_process_group()
    """

INTERRUPTED = SETUP + """
    import functools, signal
    from inquest_hook import digest_library

    def over(what, number, frame):
        raise TimeoutError(what)

    def interrupted(self, tensors):
        signal.raise_signal(signal.SIGUSR1)

    digest = digest_library.Digester.digest
    digest_library.Digester.digest = interrupted
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    model(torch.ones(1, 2)).sum().backward()
    for handler in (functools.partial(over, "partial"), lambda *_: over("lambda", *_)):
        signal.signal(signal.SIGUSR1, handler)
        try:
            optimizer.step()
        except TimeoutError as error:
            print(error)
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    digest_library.Digester.digest = digest
    optimizer.step()
    """

INTERRUPTED_BACKWARD = """
    import signal, torch
    from inquest_hook import wrapped_models

    def over(number, frame):
        raise TimeoutError("over")

    def interrupted():
        signal.raise_signal(signal.SIGUSR1)

    signal.signal(signal.SIGUSR1, over)
    weight = torch.ones(1, requires_grad=True)
    begins = wrapped_models.backward_begins
    wrapped_models.backward_begins = interrupted
    try:
        weight.sum().backward()
    except TimeoutError as error:
        print(error, weight.grad)
    wrapped_models.backward_begins = begins
    for _ in range(2):
        weight.sum().backward()
    """

FREED = SETUP + """
    model = torch.nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(41):
        model(torch.ones(1, 64)).sum().backward()
        optimizer.step()
    storage = model.weight.untyped_storage()
    storage.resize_(0 if rank else 128)
    dist.destroy_process_group()
    """


class Harmless(TorchCase):
    def run_quietly(self, text, **variables):
        program = self.write("train.py", text)
        for run in self.run_ranks(program, **variables):
            self.assertEqual((run.returncode, run.err), (0, ""))
            yield run

    def test_the_wrapper_can_be_inspected(self):
        bare = [run.out for run in self.run_quietly(INSPECTION, armed=False)]
        self.assertIn("find_unused_parameters", bare[0])
        self.assertEqual([run.out for run in self.run_quietly(INSPECTION)], bare)
        box = self.by_rank()[0]
        models = [record.text[3] for record in box.records("MODEL")]
        self.assertEqual(models, ["Linear", "Linear"])
        self.assertEqual([record.number[4] for record in box.records("MODEL_FLAGS")], [0, 0])
        program = box.records("MODEL")[0].text[0]
        self.assertEqual(box.records("MODEL")[0].number[0], self.line_of(program, "other"))

    def test_the_wrapper_compiles_as_one_graph(self):
        program = self.write("train.py", WHOLE_GRAPH)
        self.assertEqual([run.returncode for run in self.run_ranks(program)], [0, 0])
        self.assertEqual([record.number[5:7] for record in self.by_rank()[0].records("STEP")], [(0, 0)])

    def test_a_scaler_takes_any_optimizer(self):
        list(self.run_quietly(ANY_OPTIMIZER))
        self.assertEqual(len(self.by_rank()[0].records("SCALER_SKIP")), 1)

    def test_nothing_is_digested_while_something_fails(self):
        list(self.run_quietly(FAILURES, INQUEST_DIGEST_SHARE="900000"))
        for box in self.by_rank().values():
            sites = {key[2] for key in box.digests(PARAMETERS)}
            self.assertFalse(sites & {SAVE, END}, sites)

    def test_an_error_that_a_signal_raises_is_the_programs(self):
        for run in self.run_quietly(INTERRUPTED):
            self.assertEqual(run.out, "partial\nlambda\n")
        for box in self.by_rank().values():
            self.assertIn((3, 1, STEP, PARAMETERS), box.digests())

    def test_backward_calls_are_recorded_after_one_that_a_signal_interrupted(self):
        run = self.run_python(self.write("train.py", INTERRUPTED_BACKWARD))
        self.assertEqual((run.returncode, run.out, run.err), (0, "over None\n", ""))
        box = self.box()
        self.assertEqual((box.live.backward_begun, box.live.backward_ended), (2, 2))

    def test_an_exit_in_the_program_is_an_end(self):
        program = self.write("train.py", SETUP + """
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(41):
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    sys.exit(3)
    """)
        self.assertEqual([run.returncode for run in self.run_ranks(program, INQUEST_DIGEST_SHARE="1")], [3, 3])
        self.assertIn((1, 41, END, PARAMETERS), self.by_rank()[0].digests())

    def test_freed_memory_is_not_read(self):
        list(self.run_quietly(FREED, INQUEST_DIGEST_SHARE="1"))  # few steps
        for box in self.by_rank().values():
            digests = box.digests()
            self.assertIn((1, 4, STEP, GRADIENTS), digests)
            self.assertNotIn((1, 41, END, PARAMETERS), digests)
            notes = [record.text[3] for record in box.records("ENVIRONMENT") if record.text[2] == "inquest.digest"]
            self.assertEqual(notes, ["optimizer 1 part 1 left out: no memory"])


if __name__ == "__main__":
    unittest.main()
