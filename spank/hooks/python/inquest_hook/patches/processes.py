"""Processes that multiprocessing starts: their exceptions are caught there and never reach sys.excepthook.

torch.multiprocessing.spawn even prints nothing in the child: it pickles the text for the parent and exits with 1.
"""
import functools


def apply(module):
    if module.__name__ == "torch.multiprocessing.spawn":
        _patch_spawn(module)
    else:
        _patch_process(module)


def _recording(function):
    """`function` with a record of the exception that ends it. The process ends with it: uncaught."""

    @functools.wraps(function)
    def inquest_target(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except Exception as error:
            from inquest_hook import exceptions  # not before: this module is also loaded where torch never is

            exceptions.record(error, error.__traceback__, uncaught=True)
            raise

    return inquest_target


def _patch_spawn(module):
    original = module._wrap

    # Keeps name and module: multiprocessing pickles it by reference and finds this one again in the child.
    @functools.wraps(original)
    def _wrap(fn, i, args, error_file):
        return original(_recording(fn), i, args, error_file)

    module._wrap = _wrap


def _patch_process(module):
    module.BaseProcess.run = _recording(module.BaseProcess.run)
