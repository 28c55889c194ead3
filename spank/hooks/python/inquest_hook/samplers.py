"""What a DataLoader's sampler says about itself: its share of the data set, its seed and its epoch.

A share is known by two numbers that the sampler, the batch sampler or the iterable data set keeps: of all who read, and of this
one. Libraries call them differently (torch's DistributedSampler, accelerate's and transformers' shards). What stands below a
share, such as the sampler whose order is shared out, has to be the same on all ranks, so its seed and epoch count.
"""
import sys

MAX_DEPTH = 4
SHARES = (("num_replicas", "rank"), ("num_processes", "process_index"))
SEEDS = ("seed", "initial_seed")


class Description:
    """-1 for what is absent or not known. `samples`: that this rank reads in a pass, as far as the lengths tell; some of them
    may be repeated to give all ranks equally many."""

    def __init__(self, loader):
        chain = _chain(loader)
        self.replicas = self.rank = -1
        for index, part in enumerate(chain):
            self.replicas, self.rank = _share(part.thing)
            if self.replicas > 1:
                chain = chain[index:]
                break
        else:
            chain = [part for part in chain if _says_anything(part.thing)] or [_Part(loader.sampler, False)]
        self.name = type(chain[0].thing).__name__
        # A stream that gives its own share may shuffle within that: ranks need not have the same seed then.
        shuffles_alone = self.replicas > 1 and _is_iterable(chain[0].thing)
        self.seed = -1 if shuffles_alone else _first(chain, SEEDS)
        self.epoch = -1 if shuffles_alone else _first(chain, ("epoch",))
        self.shuffle = _first(chain, ("shuffle",))
        self.samples = -1 if _is_iterable(chain[0].thing) else _samples(chain[0], self.replicas)
        self.dataset = _length(loader.dataset)
        if _first(chain, ("replacement",)) > 0:  # the order itself repeats samples: shares of it overlap on purpose
            self.replicas = self.rank = self.samples = -1

    def numbers(self):
        return self.seed, self.epoch, self.replicas, self.rank, self.shuffle, self.samples, self.dataset

    def hides_repetitions(self):
        """Whether it cannot be said how many samples are read by several ranks to fill up the last batches."""
        return self.replicas > 1 and (self.samples < 0 or self.dataset < 0)


class _Part:
    def __init__(self, thing, in_batches):
        self.thing = thing
        self.in_batches = in_batches


def _chain(loader):
    """What the samples come from, outermost first."""
    if _is_iterable(loader.dataset):
        return [_Part(loader.dataset, False)]
    parts = []
    thing, in_batches = loader.batch_sampler, True
    if thing is None:
        thing, in_batches = loader.sampler, isinstance(loader.sampler, sys.modules["torch"].utils.data.BatchSampler)
    while thing is not None and len(parts) < MAX_DEPTH:
        parts.append(_Part(thing, in_batches))
        inner = _value(thing, "batch_sampler")
        if inner is None:
            inner, in_batches = _value(thing, "sampler"), False
        thing = inner
    return parts


def _is_iterable(thing):
    return isinstance(thing, sys.modules["torch"].utils.data.IterableDataset)


def _share(thing):
    for of_all, own in SHARES:
        replicas, rank = _attribute(thing, of_all), _attribute(thing, own)
        if replicas > 0 and rank >= 0:
            return replicas, rank
    return -1, -1


def _says_anything(thing):
    return any(_attribute(thing, name) >= 0 for name in SEEDS + ("epoch", "shuffle"))


def _first(chain, names):
    values = [_attribute(part.thing, name) for part in chain for name in names]
    return next((value for value in values if value >= 0), -1)


def _samples(part, replicas):
    length = _length(part.thing)
    if not part.in_batches or length < 0:
        return length
    size = _attribute(part.thing, "batch_size")
    if _attribute(part.thing, "split_batches") > 0:
        size //= replicas  # each rank gets a piece of every batch
    return length * size if size > 0 else -1


def _value(thing, name):
    return getattr(thing, "__dict__", {}).get(name)  # a property of the user's is not run


def _attribute(thing, name):
    value = _value(thing, name)
    return int(value) if isinstance(value, int) and 0 <= value < 1 << 63 else -1


def _length(thing):
    try:
        return len(thing)
    except Exception:
        return -1
