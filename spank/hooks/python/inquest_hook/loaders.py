"""What the program reads from its DataLoaders: SAMPLER, BATCH and SAMPLES records. Only tensors in host memory, as delivered."""
import time
import weakref
from collections import UserDict

from inquest_hook import errors, format as box_format, lifecycle, milestones, samplers
from inquest_hook.box import box, pack_numbers, pack_texts
from inquest_hook.digest_library import Digester, combined, plain, rows
from inquest_hook.digests import accounted, possible
from inquest_hook.schedule import DATA_PART, budget
from inquest_hook.sketches import Sketch
from inquest_hook.training import training
from inquest_hook.trained import registry

MAX_PASSES = 200  # are recorded: the events ring holds 1024 records of all kinds
MAX_DEPTH = 4
MAX_TENSORS = 64
MAX_ROWS = 65536
FREE_NS = 50_000_000  # spent whatever the share: a sketch of nothing says nothing
_NO_TEXTS = pack_texts(0, 0, 0, 0, 0, 0)


class Pass:
    """One iteration over a loader. `held_back`: newest batches that the sketch leaves out, because they may be the last ones."""

    def __init__(self, ordinal, number, held_back):
        self.batches = 0
        self.ordinal = ordinal
        self.is_followed = True
        self.sketch = Sketch(ordinal, number, held_back)


class Loaders:
    def __init__(self):
        self.reset()
        box.forget_hooks.append(self.reset)

    def reset(self):
        self.active = True
        self._known = weakref.WeakKeyDictionary()  # loader -> [its ordinal, passes over it]
        self._count = 0
        self.passes = weakref.WeakKeyDictionary()  # iterator -> Pass
        self.begun = 0  # recorded passes over all loaders
        self.spent_ns = 0
        self.batch_step = -1  # step for which a batch was looked at, if one had to be
        self.digester = Digester()

    def turn_off(self):
        errors.let_pass()
        self.active = False
        errors.show()

    def begin(self, loader):
        """(ordinal of the loader, number of the pass over it that begins)"""
        known = self._known.get(loader)
        if known is None:
            self._count += 1
            known = self._known[loader] = [self._count, 0]
        known[1] += 1
        self.begun += 1
        return tuple(known)


loaders = Loaders()


def is_wanted():
    """Asked for each batch: data of one rank are nothing to compare."""
    return box.active and loaders.active and milestones.digests.active and training.world_size > 1


@accounted(loaders)
def describe(loader):
    """Of its sampler, None when nothing is recorded: the lengths asked for are the user's functions and may cost much."""
    return samplers.Description(loader) if loaders.begun < MAX_PASSES and possible() else None


@accounted(loaders)
def pass_begins(loader, iterator, sampler):
    """`sampler` as describe() gives it."""
    earlier = loaders.passes.pop(iterator, None)  # persistent workers keep their iterator
    if earlier is not None:
        earlier.sketch.write()
    if sampler is not None:
        ordinal, number = loaders.begin(loader)
        box.event(box_format.KIND_SAMPLER, (None, None, sampler.name), (0,) + sampler.numbers(), ordinal)
        loaders.passes[iterator] = Pass(ordinal, number, max(1, loader.num_workers) if sampler.hides_repetitions() else 0)


def batch_read(iterator, data):
    found = loaders.passes.get(iterator)
    if found is None:
        return
    found.batches += 1
    if found.is_followed or loaders.batch_step != training.step:
        _look_at(found, data)


@accounted(loaders)
def _look_at(found, data):
    wants_batch = loaders.batch_step != training.step and _is_checkpoint_ahead()
    if not wants_batch:
        loaders.batch_step = training.step
        if not found.is_followed:
            return
    begun_ns = time.perf_counter_ns()
    tensors = _tensors(data)
    if tensors and wants_batch:
        _record_batch(found, found.batches - 1, tensors)
    if tensors and found.is_followed:
        _follow(found, tensors)
    loaders.spent_ns += time.perf_counter_ns() - begun_ns
    if not found.batches & (found.batches - 1):
        found.is_followed = bool(tensors) and _goes_on()


def _goes_on():
    return loaders.spent_ns < max(FREE_NS, budget.share * DATA_PART * budget.elapsed_ns())


def _is_checkpoint_ahead():
    trained = registry.all()
    return not trained or any(milestones.is_due(one, one.steps + 1) for one in trained)


def _tensors(data):
    """The tensors of a batch that have rows in host memory, in a stable order."""
    found = []
    _collect(data, found, MAX_DEPTH)
    return found


def _collect(data, found, depth):
    if len(found) >= MAX_TENSORS or not depth:
        return
    if hasattr(data, "data_ptr"):
        if data.device.type == "cpu" and data.dim() > 0 and data.shape[0] <= MAX_ROWS:
            found.append(plain(data))
    elif isinstance(data, UserDict):
        _collect(data.data, found, depth)
    elif isinstance(data, dict):  # no other mapping: one may compute its values as they are asked for
        for key in sorted(dict.keys(data), key=str):
            _collect(dict.__getitem__(data, key), found, depth - 1)
    elif isinstance(data, (list, tuple)):
        for one in data[:MAX_TENSORS]:
            _collect(one, found, depth - 1)


def _record_batch(found, index, tensors):
    loaders.batch_step = training.step
    low, _ = combined(loaders.digester.digest(tensors))
    box.write(
        box_format.RING_DIGESTS, box_format.KIND_BATCH, found.ordinal, _NO_TEXTS,
        pack_numbers(0, index, tensors[0].shape[0], low, training.step, 0, 0, 0))


def _follow(found, tensors):
    """The tensor with the most bytes per row stands for the sample: labels repeat."""
    widest = max(tensors, key=lambda tensor: tensor.numel() // max(1, tensor.shape[0]) * tensor.element_size())
    found.sketch.add(rows(widest))


@accounted(loaders)
def pass_ends(iterator):
    found = loaders.passes.get(iterator)
    if found is not None:
        found.sketch.write()


@accounted(loaders)
def write_sketches():
    """Also before the end of a pass, which may be long, and which the process may not see."""
    for found in list(loaders.passes.values()):
        found.sketch.write()


def _at_exit():
    if is_wanted():
        write_sketches()


lifecycle.exit_hooks.append(_at_exit)
