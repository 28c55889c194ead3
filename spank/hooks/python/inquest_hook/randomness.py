"""The state of the random number generators, without using or initialising any of them."""
import ctypes
import hashlib
import random
import sys

_SIGN = 1 << 63


def _short(data):
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little", signed=True)


def state():
    """(torch's seed, and what torch, Python, NumPy and the device would draw next, as 64 bits each; 0: not known)"""
    torch = sys.modules["torch"]
    seed = torch.initial_seed()
    return (
        (seed ^ _SIGN) - _SIGN if seed < 2 * _SIGN else 0, _of_generator(torch.default_generator), _python(), _numpy(),
        _device(torch))


def _of_generator(generator):
    bits = generator.get_state()  # bytes in host memory, a copy
    return _short(ctypes.string_at(bits.data_ptr(), bits.numel()))


def _python():
    return hash(random.getstate()[1])  # integers only: the same in every process


def _numpy():
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is None:
        return 0
    _, keys, position, *_ = numpy_random.get_state()
    return _short(keys.tobytes() + b"%d" % position)


def _device(torch):
    if not torch.cuda.is_initialized():
        return 0
    return _of_generator(torch.cuda.default_generators[torch.cuda.current_device()])
