"""Python stacks on demand and on a crash: faulthandler writes them from a signal handler, so it works while the interpreter
lock is held in C.

The signal for the first is a real-time one that nobody else uses. It is announced in the box (live.stack_signal); the step
worker sends it only to a process whose SigCgt shows the handler.
"""
import faulthandler
import os
import signal

from inquest_hook.box import box

FIRST_OFFSET = 6  # leaves the first ones to libraries that count up from SIGRTMIN
SIGNAL_FIELDS = ("SigBlk:", "SigIgn:", "SigCgt:")

_open_files = []  # faulthandler writes to the descriptor: the file object has to live


def _used_signals():
    """Bit mask of the signals that are blocked, ignored or caught in this process (proc(5))."""
    used = 0
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith(SIGNAL_FIELDS):
                used |= int(line.split()[1], 16)
    return used


def _free_signal():
    used = _used_signals()
    for number in range(signal.SIGRTMIN + FIRST_OFFSET, signal.SIGRTMAX):
        if not used >> (number - 1) & 1:
            return number
    return None


def _crash_stacks_are_ours():
    """Whether the stacks on a fatal signal are written because Inquest asked for it. Then they belong beside the box, where
    the report finds the line that crashed; what the user has switched on stays as it is."""
    injected = os.environ.get("INQUEST_INJECTED", "").split(",")
    return faulthandler.is_enabled() and "PYTHONFAULTHANDLER" in injected


def register():
    """Registers the stack signal. A process without one is still worth recording: failures are no error."""
    try:
        number = _free_signal()
        path = box.path("stack", ".txt")
        if number is None or path is None:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.fdopen(os.open(path, flags, 0o600), "a")
        faulthandler.register(number, file=file, all_threads=True, chain=False)
        _open_files.append(file)
        if _crash_stacks_are_ours():
            faulthandler.enable(file=file, all_threads=True)
        box.set_stack_signal(number)
    except (OSError, ValueError, RuntimeError, AttributeError):
        pass
