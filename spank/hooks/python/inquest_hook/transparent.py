"""Wrappers around functions of libraries that warnings look through.

With stacklevel, warnings.warn names the caller of the function that warns, asks the filters about the caller's module and remembers there what
it has said. It does not count frames whose file's name holds "importlib" and "_bootstrap" (CPython 3.8 to 3.14, Lib/warnings.py,
_is_internal_frame, and Python/_warnings.c), so the code of our wrappers says that it comes from such a file below its own folder. There is no
such file, and the traceback printer then looks for its last name along sys.path (CPython 3.11, Python/traceback.c, _Py_FindSourceFile):
no file of the user's may have it.
"""
import functools
import os

FOLDER = "importlib._bootstrap"
PREFIX = "<inquest_hook>."


def wraps(original):
    """functools.wraps for a function that calls `original` for the user."""

    def decorate(wrapper):
        functools.update_wrapper(wrapper, original)
        code = wrapper.__code__
        folder, file = os.path.split(code.co_filename)
        wrapper.__code__ = code.replace(co_filename=os.path.join(folder, FOLDER, PREFIX + file))
        return wrapper

    return decorate
