"""Ends of asynchronous collectives: a Work ends when its wait() returns, or when nobody can wait for it any more.

Work.wait is replaced on the class; the objects themselves stay torch's own, which torch's C++ code insists on.
"""
import weakref

from inquest_hook import format as box_format, transparent
from inquest_hook.box import box

_pending = {}  # id(work) -> (weak reference, open call)
box.forget_hooks.append(_pending.clear)


class OpenCall:
    """A call that is over when all its works are."""

    __slots__ = ("ident", "remaining")

    def __init__(self, ident, remaining):
        self.ident = ident
        self.remaining = remaining

    def one_done(self):
        self.remaining -= 1
        if self.remaining == 0:
            end(self.ident)


def end(ident):
    """The call is over; 0: nobody wrote that it began."""
    if ident and box.active:
        box.write(box_format.RING_COLLECTIVES, box_format.KIND_COLLECTIVE_END, ident, None, None)


def track(result, ident):
    """Ends the call `ident` with the Work or the list of Works that it returned; at once when there is none."""
    works = result if isinstance(result, (list, tuple)) else (result,)
    works = [work for work in works if hasattr(work, "wait")]
    if not works:
        end(ident)
        return
    call = OpenCall(ident, len(works))
    for work in works:
        _track_one(work, call)


def _track_one(work, call):
    key = id(work)

    def nobody_waits(_):
        _done(key)

    _pending[key] = (weakref.ref(work, nobody_waits), call)


def _done(key):
    """Also called while the interpreter takes itself apart: anything may be missing then, and nothing may be printed."""
    try:
        entry = _pending.pop(key, None)
        if entry is not None:
            entry[1].one_done()
    except Exception:
        pass


def patch_wait(work_type):
    original = work_type.wait

    @transparent.wraps(original)
    def wait(self, *args, **kwargs):
        try:
            return original(self, *args, **kwargs)
        finally:
            if _pending:
                _done(id(self))

    work_type.wait = wait
