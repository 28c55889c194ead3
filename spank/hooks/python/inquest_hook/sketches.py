"""Which samples a rank has read, as the smallest hashes of their contents: two ranks that read the same samples have common ones.

Only sets that were read from the beginning of a pass can be compared, so a pass that costs too much is followed up to a number
of batches that is a power of two, which other ranks are likely to choose too.
"""
import collections

from inquest_hook import format as box_format
from inquest_hook.box import box, pack_numbers, pack_texts

SIZE = box_format.SAMPLES_PER_RECORD * box_format.SAMPLES_RECORDS
_SIGN = 1 << 63
_NO_TEXTS = pack_texts(0, 0, 0, 0, 0, 0)


class Sketch:
    """Of one pass over one loader, without the newest `held_back` batches."""

    def __init__(self, ordinal, number, held_back=0):
        self._ordinal = ordinal
        self._number = number
        self.samples = 0
        self._hashes = []  # the smallest distinct ones, ascending
        self._written = 0  # samples when it was written last
        self._held_back = held_back
        self._newest = collections.deque()

    def add(self, hashes):
        self._newest.append(hashes)
        if len(self._newest) > self._held_back:
            self._add(self._newest.popleft())

    def _add(self, hashes):
        self.samples += len(hashes)
        smallest = self._hashes
        if len(smallest) == SIZE:
            bound = smallest[-1]
            hashes = [one for one in hashes if one < bound]
        if hashes:
            self._hashes = sorted(set(smallest).union(hashes))[:SIZE]

    def write(self):
        if self.samples == self._written:
            return
        self._written = self.samples
        step = box_format.SAMPLES_PER_RECORD
        for index in range(0, len(self._hashes), step):
            hashes = [(one ^ _SIGN) - _SIGN for one in self._hashes[index:index + step]]
            box.write(
                box_format.RING_DIGESTS, box_format.KIND_SAMPLES, self._ordinal, _NO_TEXTS,
                pack_numbers(self._number, self.samples, index // step, *hashes, *(0,) * (step - len(hashes))))
