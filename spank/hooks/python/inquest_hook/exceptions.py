"""EXCEPTION records: what ended the process or a thread, and where in the user's code.

Three ways lead here: sys.excepthook (excepthook.py), threading.excepthook and, for programs that replace
sys.excepthook without calling ours, sys.last_value at interpreter exit. Processes that multiprocessing starts never
reach any of them: patches/processes.py.
"""
import sys

from inquest_hook import format as box_format, place
from inquest_hook.box import box, guarded

MAX_MESSAGE_CHARACTERS = 1024
MAX_CHAIN = 8

_last_recorded = [0]  # id() of the newest exception that was recorded
_uncaught = []  # not empty: an exception ended the program


def install_for_threads(threading):
    previous = getattr(threading, "excepthook", None)
    if previous is None:
        return

    def inquest_thread_excepthook(args):
        record(args.exc_value, args.exc_traceback, uncaught=False)
        previous(args)

    threading.excepthook = inquest_thread_excepthook


@guarded
def record(value, traceback, uncaught):
    """Writes one record; claims the box first, because an uncaught exception is something to say."""
    from inquest_hook import lifecycle  # which needs this module in turn

    if value is None or id(value) == _last_recorded[0] or not lifecycle.ensure_box():
        return
    _last_recorded[0] = id(value)
    if uncaught:
        _uncaught.append(True)
    file, function, line = _place(value, traceback)
    call = _call_that_raised(value)
    box.event(
        box_format.KIND_EXCEPTION, (file, function, _type_name(value), _message(value), call),
        (line, int(uncaught), int(call is not None)), routine=False)


def record_missed():
    """An exception that ended the program behind our back. The interpreter keeps it before it calls any hook."""
    value = getattr(sys, "last_value", None)
    if value is not None:
        record(value, value.__traceback__, uncaught=True)


def ended_by_one():
    """Whether an exception ended the program, as far as anybody told us."""
    return bool(_uncaught)


def _type_name(value):
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", "__main__") else module + "." + kind.__qualname__


def _message(value):
    try:
        return str(value)[:MAX_MESSAGE_CHARACTERS]
    except Exception:
        return None


def _chain(value):
    """The exception and what it was raised from, outermost first."""
    for _ in range(MAX_CHAIN):
        if value is None:
            return
        yield value
        value = value.__cause__ or (None if value.__suppress_context__ else value.__context__)


def _place(value, traceback):
    if traceback is not None:
        return place.innermost(traceback)
    for link in _chain(value):
        if link.__traceback__ is not None:
            return place.innermost(link.__traceback__)
    return None, None, 0


def _call_that_raised(value):
    """Name of the recorded call (a collective, backward) that the exception or one of its causes came out of."""
    for link in _chain(value):
        call = _call_in(link.__traceback__)
        if call is not None:
            return call
    return None


def _call_in(traceback):
    call = None
    while traceback is not None:
        frame = traceback.tb_frame
        if frame.f_code.co_name == "inquest_call":  # a patch's wrapper; it names its call when an exception passes
            call = frame.f_locals.get("call_name", call)  # nested calls of wrappers do not name themselves
        elif place.is_user_frame(frame):
            call = None  # the user's own code, called back from inside, raised it
        traceback = traceback.tb_next
    return call
