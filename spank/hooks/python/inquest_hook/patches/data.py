"""DataLoader: which samples and batches a rank reads. Data workers are other processes and never get here."""

from inquest_hook import loaders, transparent


def apply(dataloader):
    dataloader.DataLoader.__iter__ = _with_pass(dataloader.DataLoader.__iter__)
    iterator_type = dataloader._BaseDataLoaderIter
    iterator_type.__next__ = _with_batch(iterator_type.__next__)


def _with_pass(original):
    @transparent.wraps(original)
    def __iter__(self):
        if not loaders.is_wanted():
            return original(self)
        sampler = loaders.describe(self)  # before workers are told what to read, which moves it on
        iterator = original(self)
        loaders.pass_begins(self, iterator, sampler)
        return iterator

    return __iter__


def _with_batch(original):
    @transparent.wraps(original)
    def __next__(self):
        if not loaders.is_wanted():
            return original(self)
        try:
            data = original(self)
        except StopIteration:
            loaders.pass_ends(self)
            raise
        loaders.batch_read(self, data)
        return data

    return __next__
