"""Internal errors are silent, except for the hook's own tests and for whoever reports a problem with it."""
import os
import sys


def show():
    """Prints the error being handled when INQUEST_HOOK_DEBUG=1."""
    if os.environ.get("INQUEST_HOOK_DEBUG") == "1":
        import traceback

        traceback.print_exc()


def let_pass():
    """Raises the error being handled again when it is not ours: a signal's handler of the program raised it, here by chance."""
    error = sys.exc_info()[1]
    if error is not None and not _handler_codes().isdisjoint(_codes_of(error.__traceback__)):
        raise error


def _codes_of(traceback):
    while traceback is not None:
        yield traceback.tb_frame.f_code
        traceback = traceback.tb_next


def _handler_codes():
    """Of the functions that Python calls for signals."""
    signal = sys.modules.get("signal")
    handlers = [signal.getsignal(number) for number in signal.valid_signals()] if signal is not None else []
    functions = handlers + [getattr(handler, "func", None) for handler in handlers]  # functools.partial
    functions += [getattr(type(handler), "__call__", None) for handler in handlers]
    codes = {getattr(function, "__code__", None) for function in functions}  # a bound method has that of its function
    return codes - {None}
