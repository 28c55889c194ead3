"""Digests by libinquest on the tensors' own memory, and the tensor table beside the box.

The long call is made through CDLL: Python's lock is released while it reads the tensors. A libinquest without digests
(or none at all) makes `library()` None, and nothing is digested.
"""
import array
import ctypes
import os
import struct
import sys

from inquest_hook import device_digest
from inquest_hook.box import box

LANES = 16
_TENSOR = struct.Struct("=QQQIII4x")  # struct inquest_tensor (spank/recorder/inquest.h)
_ELEMENT_BYTES = (1, 2, 4, 8, 16)
_MAX_DIMENSIONS = 64
_ORDINARY = ("Parameter", "Tensor")
_WITHOUT_MEMORY = ("FakeTensor", "FunctionalTensor")
_KINDS = {"torch.float64": 1, "torch.float32": 2, "torch.float16": 3, "torch.bfloat16": 4}


class Digest(ctypes.Structure):
    """struct inquest_digest"""

    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64), ("lane", ctypes.c_uint64 * LANES),
                ("norm", ctypes.c_double)]


class Undigestable(Exception):
    """A tensor without ordinary memory: sparse, meta, lazy, a wrapper of others."""


_loaded = []


def library():
    if not _loaded:
        _loaded.append(_load())
    return _loaded[0]


def _load():
    number, pointer = ctypes.c_uint32, ctypes.c_void_p
    signatures = {
        "inquest_digest_tensors": (ctypes.c_int, [pointer, number, ctypes.c_int, pointer]),
        "inquest_digest_combine": (None, [pointer, number, pointer]),
        "inquest_digest_rows": (ctypes.c_int, [pointer, pointer, number]),
        "inquest_table_open": (ctypes.c_int, [number]),
        "inquest_table_name": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t]),
        "inquest_table_write": (ctypes.c_int64, [pointer, number]),
    }
    try:
        found = ctypes.CDLL(os.environ["INQUEST_LIBRARY"])
        for name, (result, arguments) in signatures.items():
            function = getattr(found, name)
            function.restype = result
            function.argtypes = arguments
    except (OSError, AttributeError, KeyError):
        return None
    return found


def plain(tensor):
    """The tensor with memory of its own that stands behind `tensor` on this rank: itself, or the shard of a DTensor."""
    name = type(tensor).__name__
    if name in _ORDINARY:
        return tensor
    if name == "DTensor":
        return plain(tensor._local_tensor)
    if name in _WITHOUT_MEMORY or hasattr(tensor, "__tensor_flatten__"):
        raise Undigestable(name)
    return tensor


def _check(tensor):
    """Whether all of a plain tensor's elements can be read where it says that they are."""
    if tensor.layout is not sys.modules["torch"].strided or tensor.device.type == "meta":
        raise Undigestable("%s on %s" % (tensor.layout, tensor.device.type))
    if tensor.element_size() not in _ELEMENT_BYTES or tensor.dim() > _MAX_DIMENSIONS:
        raise Undigestable("%s with %d dimensions" % (tensor.dtype, tensor.dim()))
    if tensor.numel() and (not tensor.data_ptr() or _end_bytes(tensor) > tensor.untyped_storage().nbytes()):
        raise Undigestable("no memory")


def _end_bytes(tensor):
    """Of its last element within its storage. Storages are given back while their tensors live (sharding), and some types
    keep several elements in a byte."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
    return (tensor.storage_offset() + last + 1) * tensor.element_size()


def kind_of(tensor):
    return _KINDS.get(str(tensor.dtype), 0)


class Description:
    """Tensors as an array of struct inquest_tensor. None stands for a tensor that is not there: it has no elements."""

    def __init__(self, tensors):
        for tensor in tensors:
            if tensor is not None:
                _check(tensor)
        self._shapes = array.array("q")
        places = [self._add_shape(tensor) for tensor in tensors]
        base = self._shapes.buffer_info()[0]
        self.structs = b"".join(
            _TENSOR.pack(tensor.data_ptr() if tensor is not None else 0, base + start, base + start + 8 * dimensions, dimensions,
                         tensor.element_size() if tensor is not None else 1, kind_of(tensor) if tensor is not None else 0)
            for tensor, (start, dimensions) in zip(tensors, places))

    def _add_shape(self, tensor):
        start = len(self._shapes) * 8
        shape, strides = ((0,), (1,)) if tensor is None else (tensor.shape, tensor.stride())
        self._shapes.extend(shape)
        self._shapes.extend(strides)
        return start, len(shape)


class Digester:
    """Digests of one list of tensors; keeps their description while they stay where they are."""

    def __init__(self):
        self._key = None
        self._description = None

    def digest(self, tensors):
        """An array of Digest, in order; tensors as plain() returns them, or None. Raises Undigestable."""
        host = [tensor is None or tensor.is_cpu or tensor.is_meta for tensor in tensors]
        if all(host):
            return self._on_host(tensors)
        for tensor, here in zip(tensors, host):
            if not here:
                _check(tensor)
        on_host = iter(self._on_host([tensor for tensor, here in zip(tensors, host) if here]))
        elsewhere = iter(device_digest.digest([tensor for tensor, here in zip(tensors, host) if not here]))
        digests = (Digest * len(tensors))()
        for index, here in enumerate(host):
            digests[index] = next(on_host) if here else Digest(*next(elsewhere))
        return digests

    def _on_host(self, tensors):
        # Another thread may give the tensors other memory while the lock is released; what is read must not be freed then.
        kept = [tensor is not None and tensor.untyped_storage() for tensor in tensors]
        key = [tensor is not None and (tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype) for tensor in tensors]
        if key != self._key:
            self._key, self._description = key, Description(tensors)
        digests = (Digest * len(tensors))()
        refused = library().inquest_digest_tensors(self._description.structs, len(tensors), 1, digests)
        del kept
        if refused:
            raise Undigestable("refused by libinquest")
        return digests


def combined(digests):
    """(low, high) of several digests, as signed numbers for a record."""
    pair = (ctypes.c_int64 * 2)()
    library().inquest_digest_combine(digests, len(digests), pair)
    return pair[0], pair[1]


def rows(tensor):
    """64-bit hashes of the rows of a plain tensor in host memory."""
    hashes = (ctypes.c_uint64 * tensor.shape[0])()
    description = Description([tensor])  # holds the shape that its structs point at
    if library().inquest_digest_rows(description.structs, hashes, len(hashes)) != 0:
        raise Undigestable("refused by libinquest")
    return list(hashes)


class Table:
    """The tensor table of this process: opened with the first entries, left out when it cannot be had."""

    def __init__(self):
        self.reset()

    def reset(self):
        self._opened = None

    def open(self, tensors):
        if self._opened is None:
            self._opened = library().inquest_table_open(tensors) == 0
        return self._opened

    def name(self, lines):
        text = "".join(lines).encode("utf-8", "backslashreplace")
        library().inquest_table_name(text, len(text))

    def write(self, digests):
        """Number of the first entry, -1 when there is none."""
        return max(-1, library().inquest_table_write(digests, len(digests))) if self._opened and len(digests) else -1


table = Table()
box.forget_hooks.append(table.reset)
