"""sys.excepthook, chained, so that the user's, torch's and Lightning's own hooks work. Installed in every armed process: light."""
import sys

from inquest_hook import errors


def install():
    previous = sys.excepthook

    def inquest_excepthook(kind, value, traceback):
        _record(value, traceback)
        previous(kind, value, traceback)

    sys.excepthook = inquest_excepthook


def _record(value, traceback):
    try:
        from inquest_hook import exceptions

        exceptions.record(value, traceback, uncaught=True)
    except Exception:
        errors.show()
