"""torch's own server for flight recorder dumps (torch 2.4 and later), on a socket beside the box.

It answers while the main thread is stuck in C++. It is never shut down and never destroyed: its destructor prints a
warning and waits for its thread.
"""
import ctypes
import os
import sys
from contextlib import contextmanager

from inquest_hook.box import box

UNIX_PATH_BYTES = 107  # sun_path of unix(7) less its NUL
LOG_LEVEL_ERROR = 2  # c10/util/logging_common.h

_servers = []
box.forget_hooks.append(_servers.clear)  # the thread stays in the parent


def start():
    """Starts the server once per process; a torch without it, or a path that is too long, leaves it out."""
    server_type = getattr(sys.modules.get("torch._C._distributed_c10d"), "_WorkerServer", None)
    path = box.path("worker", ".sock")
    if _servers or server_type is None or path is None or len(os.fsencode(path)) > UNIX_PATH_BYTES:
        return
    try:
        with _quiet_torch():
            server = server_type(path)
    except Exception:
        return
    _servers.append(server)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(server))


@contextmanager
def _quiet_torch():
    """The constructor logs where it listens as a warning; that line would be in the output of every rank."""
    level = _log_level()
    if level is None or level.value >= LOG_LEVEL_ERROR:
        yield
        return
    before = level.value
    level.value = LOG_LEVEL_ERROR
    try:
        yield
    finally:
        level.value = before


def _log_level():
    try:
        folder = os.path.join(os.path.dirname(sys.modules["torch"].__file__), "lib")
        return ctypes.c_int.in_dll(ctypes.CDLL(os.path.join(folder, "libc10.so")), "FLAGS_caffe2_log_level")
    except (OSError, ValueError, KeyError, TypeError):
        return None
