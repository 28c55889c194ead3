"""DIGEST records and the tensor table: what the replicas hold at a checkpoint."""
import functools
import hashlib
import math
import struct
import time

from inquest_hook import environment, errors, format as box_format, randomness
from inquest_hook.box import box, pack_numbers, pack_texts
from inquest_hook.digest_library import Undigestable, combined, library, plain, table
from inquest_hook.schedule import budget

NORM = "n"
_PAIR = struct.Struct("=qq")
_DOUBLE_BITS = struct.Struct("=d")
_BITS = struct.Struct("=q")
_MAX_NAME_CHARACTERS = 512


class Digests:
    """`active` is asked before anything else is done for a checkpoint."""

    def __init__(self):
        self.reset()
        box.forget_hooks.append(self.reset)

    def reset(self):
        self.active = budget.share > 0

    def turn_off(self):
        errors.let_pass()
        self.active = False
        errors.show()


digests = Digests()


def accounted(owner):
    """For the entry points of checkpoints: their time is paid from the budget, and an error turns `owner` off, nothing else."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            begun_ns = time.perf_counter_ns()
            try:
                return function(*args, **kwargs)
            except Exception:
                owner.turn_off()
                return None
            finally:
                budget.pay(begun_ns)

        return call

    return decorate


class Checkpoint:
    """A moment of one optimizer: step, site and the user's line."""

    __slots__ = ("trained", "step", "site", "place")

    def __init__(self, trained, step, site, place=(0, 0, 0)):
        self.trained = trained
        self.step = step
        self.site = site
        self.place = place

    def write(self, kind, numbers, texts=()):
        file, function, line = self.place
        texts = (file, function) + tuple(texts)
        numbers = (line, self.step, self.site) + tuple(numbers)
        box.write(
            box_format.RING_DIGESTS, kind, self.trained.ordinal, pack_texts(*texts, *(0,) * (6 - len(texts))),
            pack_numbers(*numbers, *(0,) * (8 - len(numbers))))

    def parts(self, *parts):
        for part in parts:
            self._part(part)

    def _part(self, part):
        if part in self.trained.left_out:
            return
        entries = self.trained.tensors(part)
        if not entries:
            return
        try:
            tensors = [None if tensor is None else plain(tensor) for _, _, tensor in entries]
            found = self.trained.digester(part).digest(tensors)
        except Exception as error:
            self._leave_out(part, error)
            return
        first = self._table(part, entries, tensors, found)
        self._digest(part, combined(found), len(found), first)
        if part == box_format.PART_PARAMETERS:
            self.trained.digested_step = self.step
        if part == box_format.PART_GRADIENTS:
            self._gradient_norm(found, tensors)

    def _leave_out(self, part, error):
        """Once and for all: a part that comes and goes would only confuse."""
        errors.let_pass()
        self.trained.left_out.add(part)
        reason = str(error) if isinstance(error, Undigestable) else type(error).__name__
        environment.record("inquest.digest", "optimizer %d part %d left out: %s" % (self.trained.ordinal, part, reason))

    def _digest(self, part, pair, count, first):
        agreement = self.trained.agreement
        promise = agreement.promise()
        self.write(
            box_format.KIND_DIGEST, (part, pair[0], pair[1], count, first),
            (box.text(agreement.ranks), box.text(promise) if promise else 0, box.text(self.trained.optimizer_name)))

    def _table(self, part, entries, tensors, found):
        """Number of the first entry in the tensor table, -1 without one."""
        if not table.open(4 * len(entries)):
            return -1
        if self.trained.named.get(part) != len(entries):
            self.trained.named[part] = len(entries)
            table.name(self._lines(part, entries, tensors))
        return table.write(found)

    def _lines(self, part, entries, tensors):
        norm = NORM if part == box_format.PART_BUFFERS else "-"
        for index, (entry, tensor) in enumerate(zip(entries, tensors)):
            if tensor is None:
                tensor = entry[0]
            shape = "x".join(map(str, tensor.shape)) or "-"
            name = "".join(one if one.isprintable() else "?" for one in self.trained.name(index, entry))
            yield "%d %d %d %s %s %s %s\n" % (
                self.trained.ordinal, part, index, str(tensor.dtype).replace("torch.", ""), shape, norm,
                name[:_MAX_NAME_CHARACTERS])

    def hyperparameters(self):
        text = repr(self.trained.hyperparameters()).encode("utf-8", "backslashreplace")
        self._digest(
            box_format.PART_HYPERPARAMETERS, _PAIR.unpack(hashlib.blake2b(text, digest_size=16).digest()), 0, -1)

    def _gradient_norm(self, found, tensors):
        squares = [
            one.norm * one.norm for one, tensor in zip(found, tensors) if tensor is not None and tensor.is_floating_point()]
        bits, = _BITS.unpack(_DOUBLE_BITS.pack(math.sqrt(sum(squares))))
        self.write(box_format.KIND_GRADIENT_NORM, (bits,))

    def circumstances(self):
        """Random state and mode, which explain differences. The first costs as much as a small model, so it is rarer."""
        if not self.step & (self.step - 1):
            self.write(box_format.KIND_RANDOM_STATE, randomness.state())
        mode = self.trained.training_mode()
        if mode is not None:
            self.write(box_format.KIND_MODE, (int(mode),))


def possible():
    return digests.active and library() is not None
