"""Reads tensor tables for tests, strictly: spank/format/tensor_table.h."""
import glob
import os
import struct
from collections import namedtuple

MAGIC = b"INQTENS1"
LIVE_OFFSET = 4096
ENTRY_BYTES = 64

Name = namedtuple("Name", "optimizer part index dtype shape norm name")
Entry = namedtuple("Entry", "low high lanes norm")


class Table:
    def __init__(self, path):
        with open(path, "rb") as file:
            self._bytes = file.read()
        assert self._bytes[:8] == MAGIC
        self._names, self._entries = (struct.unpack_from("<QII", self._bytes, 40 + 16 * area) for area in (0, 1))
        self._names_used, self.head, self.dropped = struct.unpack_from("<QQQ", self._bytes, LIVE_OFFSET)

    def names(self):
        offset = self._names[0]
        lines = self._bytes[offset:offset + self._names_used].decode().splitlines()
        return [Name(*map(int, fields[:3]), *fields[3:]) for fields in (line.split(" ", 6) for line in lines)]

    def entry(self, number):
        offset, capacity, size = self._entries
        assert size == ENTRY_BYTES
        mark, low, high, *lanes, norm = struct.unpack_from("<QQQ16Hd", self._bytes, offset + number % capacity * size)
        assert mark == number + 1, (mark, number)
        return Entry(low, high, tuple(lanes), norm)


def of_box(box):
    """The table of the process that has this box."""
    path, = glob.glob(os.path.join(os.path.dirname(box.path), "tensors-%d-*.ibt" % box.pid))
    return Table(path)
