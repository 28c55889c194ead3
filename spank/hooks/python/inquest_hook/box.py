"""The one black box of this process: a thin, cheap layer over libinquest.

`box.active` is the switch that every patch asks first. It is False before the claim, in a forked child and after
any internal error. Texts are interned once and their identifiers kept, because a ctypes call costs more than the
record itself. libinquest is called with the interpreter lock held (PyDLL): its calls take nanoseconds, and giving the
lock away would let another thread keep it for milliseconds.
"""
import ctypes
import functools
import itertools
import os
import struct
import sys
import time

from inquest_hook import errors, format as box_format

pack_texts = struct.Struct("=6I").pack
pack_numbers = struct.Struct("=8q").pack

# Routine texts (shapes, places) may fill this much of the string area; the rest is kept for exceptions.
ROUTINE_TEXT_BYTES = box_format.STRINGS_BYTES - 16 * 1024
PATH_BYTES = 4096


class Box:
    def __init__(self):
        self.active = False
        self.claimed_ns = 0  # time.perf_counter_ns()
        self.refused = False  # a claim failed or the hook failed: never try again
        self.next_ident = itertools.count(1).__next__
        self.forget_hooks = []  # called when identifiers become invalid (fork)
        self._identifiers = {}
        self._text_bytes = 0
        self._library = None
        self.write = None

    def claim(self):
        """Claims the box if this process has none yet; True when it has one."""
        if self.active or self.refused:
            return self.active
        library = self._library or _load_library()
        self._library = library
        self.refused = library.inquest_box_claim(None, _program()) != 0
        self.write = library.inquest_box_write
        self.claimed_ns = time.perf_counter_ns()
        self.active = not self.refused
        return self.active

    def turn_off(self):
        """After an internal error: silent for the rest of the process."""
        errors.let_pass()
        self.active = False
        self.refused = True
        errors.show()

    def forget(self):
        """In the child of a fork: libinquest has dropped the parent's box."""
        self.active = False
        self._identifiers.clear()
        self._text_bytes = 0
        for hook in self.forget_hooks:
            hook()

    def text(self, value, routine=True):
        """Identifier of a text, 0 when the string area has no room for it."""
        known = self._identifiers.get(value)
        if known is not None:
            return known
        encoded = value.encode("utf-8", "backslashreplace")[: box_format.STRING_MAX_BYTES]
        if routine and self._text_bytes + len(encoded) + 5 > ROUTINE_TEXT_BYTES:
            return 0
        self._text_bytes += len(encoded) + 5
        ident = self._library.inquest_box_intern(encoded, len(encoded))
        self._identifiers[value] = ident
        return ident

    def event(self, kind, texts=(), numbers=(), ident=0, ring=box_format.RING_EVENTS, routine=True):
        """A rare record. `texts` are strings or None, `numbers` integers, in slot order."""
        idents = [self.text(text, routine) if text else 0 for text in texts]
        self.write(
            ring, kind, ident,
            pack_texts(*idents, *(0,) * (6 - len(idents))), pack_numbers(*numbers, *(0,) * (8 - len(numbers))))

    def state(self, value):
        self.event(box_format.KIND_STATE, (), (0, value))

    def set_rank(self, rank, world_size):
        self._library.inquest_box_set_rank(rank, world_size)

    def set_stack_signal(self, number):
        self._library.inquest_box_set_stack_signal(number)

    def path(self, prefix, suffix):
        """Path of a file of this process beside its box, None when it cannot be had."""
        buffer = ctypes.create_string_buffer(PATH_BYTES)
        if self._library.inquest_box_path(prefix.encode(), suffix.encode(), buffer, PATH_BYTES) != 0:
            return None
        return os.fsdecode(buffer.value)


def _load_library():
    library = ctypes.PyDLL(os.environ["INQUEST_LIBRARY"])
    number, text = ctypes.c_uint32, ctypes.c_char_p
    signatures = {
        "inquest_box_claim": (ctypes.c_int, [text, text]),
        "inquest_box_path": (ctypes.c_int, [text, text, ctypes.c_char_p, ctypes.c_size_t]),
        "inquest_box_intern": (number, [text, ctypes.c_size_t]),
        # Called most often, and twice as fast where ctypes converts nothing: integers go as C ints, which libffi widens. An
        # identifier beyond 31 bits loses bits, at the end of its call as at the begin.
        "inquest_box_write": (None, None),
        "inquest_box_set_rank": (ctypes.c_int, [ctypes.c_int32, ctypes.c_int32]),
        "inquest_box_set_stack_signal": (ctypes.c_int, [ctypes.c_int32]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


def _program():
    argv = getattr(sys, "argv", None) or [""]
    name = argv[0]
    return os.fsencode(os.path.abspath(name) if os.path.isfile(name) else name)


box = Box()


def guarded(function):
    """For entry points off the hot path: an error of ours ends the hook, never the program."""

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception:
            box.turn_off()
            return None

    return call
