"""Reads black boxes for tests, strictly: a box that is not exactly as docs/formats/black_box.md says is an error.

`python3 box_reader.py FILE...` prints boxes.
"""
import glob
import os
import struct
import sys
from collections import namedtuple

TOTAL_BYTES = 794624
LIVE_OFFSET = 4096
RINGS = ("events", "collectives", "digests")
KINDS = (
    "", "STATE", "ENVIRONMENT", "GROUP", "MODEL", "STEP", "BACKWARD_BEGIN", "BACKWARD_END", "PHASE_BEGIN", "PHASE_END",
    "COLLECTIVE_BEGIN", "COLLECTIVE_END", "EXCEPTION", "EXIT", "DIGEST", "GRADIENT_NORM", "RANDOM_STATE", "BATCH", "SAMPLES",
    "SAMPLER", "MODEL_FLAGS", "SCALER_SKIP", "MODE", "CHILD_END")
LIVE_FIELDS = (
    "rank", "world_size", "state", "phase", "phase_since_mono_ns", "last_progress_mono_ns", "step", "micro_batches",
    "backward_begun", "backward_ended", "collectives_begun", "collectives_ended", "loss_bits", "exit_status",
    "stack_signal", "strings_used_bytes", "events_head", "collectives_head", "digests_head", "dropped_strings")

Record = namedtuple("Record", "kind mono_ns thread_id ident text number ring")
Live = namedtuple("Live", LIVE_FIELDS)


class Box:
    def __init__(self, path):
        with open(path, "rb") as file:
            self._bytes = file.read()
        self.path = path
        assert len(self._bytes) == TOTAL_BYTES, len(self._bytes)
        assert self._bytes[:8] == b"INQBBOX1"
        (self.pid, self.parent_pid, self.start_time_ticks, self.job_id, self.step_id, self.task,
         self.node_index) = struct.unpack_from("<iiQIIii", self._bytes, 32)
        self.program = self._bytes[144:400].split(b"\0")[0].decode()
        self._areas = [struct.unpack_from("<QII", self._bytes, 400 + 16 * i) for i in range(1 + len(RINGS))]
        self.live = Live(*struct.unpack_from("<iiIIQQQQQQQQQiiQQQQQ", self._bytes, LIVE_OFFSET))

    @property
    def loss(self):
        return struct.unpack("<d", struct.pack("<Q", self.live.loss_bits))[0]

    def text(self, ident):
        if ident == 0:
            return None
        offset = self._areas[0][0] + ident - 1
        length, = struct.unpack_from("<I", self._bytes, offset)
        assert self._bytes[offset + 4 + length] == 0
        return self._bytes[offset + 4:offset + 4 + length].decode()

    def records(self, kind=None):
        """All whole records of all rings in time order, those of one kind if it is named."""
        found = [record for ring in range(len(RINGS)) for record in self._ring(ring) if kind in (None, record.kind)]
        return sorted(found, key=lambda record: (record.mono_ns, record.ring))

    def _ring(self, ring):
        offset, capacity, size = self._areas[1 + ring]
        head = (self.live.events_head, self.live.collectives_head, self.live.digests_head)[ring]
        for n in range(max(0, head - capacity), head):
            fields = struct.unpack_from("<QQHHIQ6I8qQ", self._bytes, offset + n % capacity * size)
            assert fields[0] == fields[-1] == n + 1, "torn record %d in ring %s" % (n, RINGS[ring])
            yield Record(
                KINDS[fields[2]], fields[1], fields[4], fields[5], tuple(map(self.text, fields[6:12])), fields[12:20], ring)

    def collectives(self):
        return self.records("COLLECTIVE_BEGIN")

    def digests(self, part=None, site=None):
        """{(optimizer, step, site, part): record} of the DIGEST records."""
        found = {(record.ident,) + record.number[1:4]: record for record in self.records("DIGEST")}
        return {
            key: record for key, record in found.items() if part in (None, key[3]) and site in (None, key[2])}

    def open_calls(self):
        """Identifiers of collectives that have begun and not ended."""
        ended = {record.ident for record in self.records("COLLECTIVE_END")}
        return [record for record in self.collectives() if record.ident not in ended]


def boxes(directory):
    return [Box(path) for path in sorted(glob.glob(os.path.join(directory, "box-*.ibb")))]


def by_rank(directory):
    return {box.live.rank: box for box in boxes(directory)}


if __name__ == "__main__":
    for box in map(Box, sys.argv[1:]):
        print(box.path, box.program, box.live)
        for record in box.records():
            print("  %-16s %6d %s %s" % (record.kind, record.ident, record.text, record.number))
