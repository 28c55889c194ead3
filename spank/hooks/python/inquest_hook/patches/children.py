"""CHILD_END records: how a launcher's workers ended, which nobody but their parent is told.

Slurm only knows the launcher's own end, and a rank that a signal ends says nothing itself. Two ways of starting ranks:
multiprocessing, also by torch.multiprocessing.spawn, and torchrun's agent, which sends SIGTERM to the other workers of its
node as soon as one has failed.
"""
import sys

from inquest_hook import errors, transparent


def apply(module):
    if module.__name__ == "multiprocessing.popen_fork":
        _watch_class(module.Popen)
    else:
        _watch_workers(module.SubprocessHandler)


def _watch_class(popen):
    """multiprocessing's Popen: poll() alone learns of the end, and is_alive(), join() and exitcode call it."""
    popen.poll = _telling(popen.poll)
    for name in ("terminate", "kill"):
        if hasattr(popen, name):
            setattr(popen, name, _marking(getattr(popen, name), lambda child: child))


def _watch_workers(handler):
    """torchrun's handler of one worker, in torch.distributed.elastic.multiprocessing.api since torch 1.9; close() is only
    called for a worker that still runs."""
    start = handler._popen

    @transparent.wraps(start)
    def _popen(*args, **kwargs):
        process = start(*args, **kwargs)
        for name in ("poll", "wait"):  # of this one process: other users of subprocess are left alone
            setattr(process, name, _telling(getattr(type(process), name)).__get__(process))
        return process

    handler._popen = _popen
    handler.close = _marking(handler.close, lambda worker: worker.proc)


def _telling(original):
    """`original` of a Popen, with a record when it learns of the end."""

    @transparent.wraps(original)
    def inquest_look(popen, *args, **kwargs):
        before = popen.returncode
        result = original(popen, *args, **kwargs)
        if before is None and popen.returncode:
            _quietly(_record, popen)
        return result

    return inquest_look


def _marking(original, popen_of):
    @transparent.wraps(original)
    def inquest_end(owner, *args, **kwargs):
        _quietly(_mark, popen_of, owner)
        return original(owner, *args, **kwargs)

    return inquest_end


def _quietly(function, *args):
    """A program may look at its children even while the interpreter takes its modules apart, where anything may fail."""
    try:
        function(*args)
    except Exception:
        if not sys.is_finalizing():
            errors.let_pass()


def _mark(popen_of, owner):
    popen_of(owner).inquest_told = True


def _record(popen):
    claimed = sys.modules.get("inquest_hook.box")  # not imported: this module is also loaded where torch never is
    if claimed is None or not claimed.box.active:
        return
    from inquest_hook import child_ends

    child_ends.record(popen.pid, popen.returncode, getattr(popen, "inquest_told", False))
