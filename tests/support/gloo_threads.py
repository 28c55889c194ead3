"""Lets gloo's threads come to rest before Python ends.

torch 2.13 frees the tensors of a collective in gloo's thread (ProcessGroupGloo::runLoop) and takes the interpreter lock
for that. Python before 3.14 ends a thread that asks for the lock while the interpreter finalizes, and ending it inside a
C++ destructor aborts the process: "terminate called without an active exception". A sound program on a busy machine
dies of it about once in 250 runs, with or without Inquest.
"""

import atexit
import os
import time

GLOO_THREAD = "pt_gloo_runloop"
LOOK_S = 0.002
LIMIT_S = 5.0  # a thread that still sends or receives is no reason to wait longer


def is_running(thread):
    try:
        with open(f"/proc/self/task/{thread}/stat", encoding="utf-8") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
    except OSError:
        return False
    return name == GLOO_THREAD and rest.split()[0] != "S"


def come_to_rest():
    """Waits, with the lock free, until no such thread ran at two looks in a row."""
    quiet = 0
    limit = time.monotonic() + LIMIT_S
    while quiet < 2 and time.monotonic() < limit:
        time.sleep(LOOK_S)
        quiet = 0 if any(is_running(thread) for thread in os.listdir("/proc/self/task")) else quiet + 1


def register():
    """Call before other functions are registered: the last one registered runs first."""
    atexit.register(come_to_rest)
