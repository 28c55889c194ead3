"""sys.excepthook, chained, so that the user's, torch's and Lightning's own hooks work. sitecustomize.py installs it."""
import sys

from inquest_hook import errors


def call(previous, kind, value, traceback):
    _quietly(_record, value, traceback)
    previous(kind, value, traceback)
    _quietly(_explain, value)


def _quietly(function, *args):
    try:
        function(*args)
    except Exception:
        errors.show()


def _record(value, traceback):
    from inquest_hook import exceptions

    exceptions.record(value, traceback, uncaught=True)


def _explain(value):
    """The user reads torch's error about a setting that is not in the program: say where it comes from."""
    deterministic = sys.modules.get("inquest_hook.patches.deterministic")
    if deterministic is not None:
        deterministic.explain(value)
