"""One common seed for every generator of the process until training begins, then the seed plus the rank.

Replicas start equal that way, and dropout and data workers do not repeat on every rank. A generator that the program has
seeded itself by then is left alone. Whether it has is read from the generator's state, so a seed that is only set for a
moment and taken back does not count. For that the states that are set here are ones that no program sets by chance:
INQUEST_SEED=42 is not the state of manual_seed(42) but the one of the functions below. Rank 0 goes on with the common
seed, and so do torch's devices other than CUDA's.

Not seeded: generators that the program makes for itself (random.Random(), numpy.random.default_rng()), and Python's in a
forked child, where random.py takes a new seed by itself so that the children of a pool differ.
"""
import os
import sys

from inquest_hook import injected
from inquest_hook.box import guarded

SEEDS = 1 << 32  # what NumPy takes; a rank beyond starts again from 0
MARK = 0x496E71  # torch's CPU generator uses the lower 32 bits alone, and initial_seed() tells all 64 (torch 2.13, CPUGeneratorImpl.cpp)
BLOCK_WORDS = 624  # of the Mersenne Twister: numbers drawn between two changes of its state
MAX_BLOCKS = 4096  # 2.5 million numbers drawn before training; replaying them takes 0.3 s at most, once


class Python:
    name = "python"

    def __init__(self, module):
        self._random = module

    def set(self, seed):
        self._random.seed(_text(seed))

    def has(self, seed):
        replay = self._random.Random(_text(seed))
        state = self._random.getstate()[1][:-1]
        return _passes(state, lambda: replay.getstate()[1][:-1], lambda: replay.getrandbits(32 * BLOCK_WORDS))


class NumPy:
    name = "numpy"

    def __init__(self, module):
        self._random = module

    def set(self, seed):
        self._random.seed([MARK, seed])

    def has(self, seed):
        kind, keys = self._random.get_state()[:2]
        if kind != "MT19937":
            return False
        replay = self._random.RandomState([MARK, seed])
        return _passes(keys.tobytes(), lambda: replay.get_state()[1].tobytes(), lambda: replay.random_sample(BLOCK_WORDS // 2))


class Torch:
    name = "torch"

    def __init__(self, module):
        self._torch = module

    def set_everywhere(self, seed):
        """All devices, without initialising them: torch keeps the seed for later."""
        self._torch.manual_seed(_number(seed))

    def set(self, seed):
        self._torch.default_generator.manual_seed(_number(seed))

    def has(self, seed):
        return self._torch.initial_seed() == _number(seed)


class Cuda:
    """The devices of a torch that has initialised them. Others have the seed that Torch set for all, if they are used at all."""

    name = "cuda"

    def __init__(self, cuda):
        self._generators = cuda.default_generators

    def set(self, seed):
        for generator in self._generators:
            generator.manual_seed(_number(seed))

    def has(self, seed):
        return all(generator.initial_seed() == _number(seed) for generator in self._generators)


def _text(seed):
    return "inquest %d" % seed


def _number(seed):
    return MARK << 32 | seed


def _passes(state, replayed, draw_block):
    """Whether the replay comes through `state`."""
    for _ in range(MAX_BLOCKS):
        if replayed() == state:
            return True
        draw_block()
    return False


class Seeds:
    def __init__(self, seed):
        self._seed = seed
        self._generators = []
        self.separated = False
        self.optimizer_exists = False

    def python_is_there(self, module):
        self._begin(Python(module))

    def numpy_is_there(self, module):
        self._begin(NumPy(module))

    def torch_is_there(self, module):
        generator = Torch(module)
        generator.set_everywhere(self._seed)
        self._generators.append(generator)
        self._note(self._generators, [])

    def _begin(self, generator):
        """In the middle of training too: NumPy is loaded when it is first used."""
        generator.set((self._seed + (rank() if self.separated else 0)) % SEEDS)
        self._generators.append(generator)
        self._note(self._generators, [])

    @guarded
    def training_begins(self):
        """Adds the rank, once. To be called when the replicas' weights can no longer be drawn."""
        if self.separated:
            return
        self.separated = True
        ours, theirs = [], []
        for generator in self._generators + _devices():
            (ours if generator.has(self._seed) else theirs).append(generator)
        if rank() != 0:
            for generator in ours:
                generator.set((self._seed + rank()) % SEEDS)
        self._note(ours, theirs)

    def _note(self, ours, theirs):
        stage = "plus rank %d" % rank() if self.separated else "common"
        left = "; left to the program: " + _names(theirs) if theirs else ""
        injected.note("inquest.seed", "%d; %s: %s%s" % (self._seed, stage, _names(ours) or "nothing", left))


def _devices():
    torch = sys.modules.get("torch")
    return [Cuda(torch.cuda)] if torch is not None and torch.cuda.is_initialized() else []


def _names(generators):
    return ", ".join(generator.name for generator in generators)


def rank():
    """The rank among all processes of the training, as well as it can be known. torchrun's RANK before Slurm's: there the
    task is the agent."""
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is not None and c10d.is_initialized():
        return c10d.get_rank()
    for variable in ("RANK", "SLURM_PROCID"):
        if os.environ.get(variable, "").isdigit():
            return int(os.environ[variable])
    return 0


seeds = Seeds(int(os.environ.get("INQUEST_SEED", "0")) % SEEDS)
