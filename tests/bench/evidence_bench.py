#!/usr/bin/env python3
"""Reads the same dumps with this project's evidence reader and with Python's pickle.load, which torch's own
flight recorder analyzer uses, in one run: evidence_bench.py PATH-OF-evidence_bench."""

import pathlib
import pickle
import subprocess
import sys
import tempfile
import time


def best_of(work, runs=5):
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.argv[1], directory], check=True)
        for name, what in (("_dump_0", "without stacks"), ("_dump_1", "with 12 frames")):
            data = (pathlib.Path(directory) / name).read_bytes()
            entries = len(pickle.loads(data)["entries"])
            seconds = best_of(lambda data=data: pickle.loads(data))
            print(f"Python pickle {what:14} {entries / seconds:9.0f} entries/s loaded")


if __name__ == "__main__":
    main()
