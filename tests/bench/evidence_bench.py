#!/usr/bin/env python3
"""Reads the same flight recorders with this project's evidence reader and with Python's pickle.load and json.load, which
torch's own flight recorder analyzer uses, in one run: evidence_bench.py EVIDENCE_BENCH JOB_BENCH KNOWLEDGE [RANKS]."""

import json
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


def compare_files(program):
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([program, directory], check=True)
        for name, what in (("_dump_0", "without stacks"), ("_dump_1", "with 12 frames")):
            data = (pathlib.Path(directory) / name).read_bytes()
            entries = len(pickle.loads(data)["entries"])
            seconds = best_of(lambda data=data: pickle.loads(data))
            print(f"Python pickle {what:14} {entries / seconds:9.0f} entries/s loaded")


def load_flights(directory):
    return sum(len(json.loads(path.read_bytes())["entries"])
               for path in pathlib.Path(directory).glob("0/*/flight-*.json"))


def compare_jobs(program, knowledge, ranks):
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([program, knowledge, ranks, directory], check=True)
        start = time.process_time()
        entries = load_flights(directory)
        print(f"Python json of {ranks} flight recorders alone: CPU {time.process_time() - start:.2f} s, "
              f"{entries} entries")


def main():
    compare_files(sys.argv[1])
    compare_jobs(sys.argv[2], sys.argv[3], sys.argv[4] if len(sys.argv) > 4 else "1024")


if __name__ == "__main__":
    main()
