"""Python runs this file at start-up because inquest put its folder on PYTHONPATH.

It first hands on to the sitecustomize that Python would have found without it, then, in an armed step only, waits for
the first import that the hook is for. Every Python of a step runs this file and most never import torch: it stays tiny
and loads nothing that site.py has not loaded. An error of that other file passes through unchanged (site.py reports
it); an error of ours never leaves.
"""
import sys
from os import environ, path

# importlib.util would double the start-up time of a small program; these two are its frozen, always loaded core.
import _frozen_importlib
from _frozen_importlib_external import PathFinder

# Libraries to start the hook before, unless torch comes first anyway. tests/unit/hooks_python holds it against the patches.
FIRST = {"torch", "multiprocessing.process"}


def _chain():
    own = path.dirname(__file__)
    spec = PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if entry != own])
    if spec is None or spec.loader is None:
        return
    origin = spec.origin or ""
    if path.exists(origin) and path.samefile(origin, __file__):
        return  # the folder may be on the path twice, under two names
    module = sys.modules["sitecustomize"] = _frozen_importlib.module_from_spec(spec)
    spec.loader.exec_module(module)


class Finder:
    """A finder for sys.meta_path that finds nothing; importer.py puts its own find_spec in the place of this one."""

    started = False

    def start(self):
        self.started = True
        try:
            from inquest_hook import importer

            importer.install(self)
        except Exception:
            pass

    def find_spec(self, name, path=None, target=None):
        if self.started or name not in FIRST:
            return None
        self.start()
        return self.find_spec(name, path, target)


def _watch_uncaught(previous):
    def inquest_excepthook(kind, value, traceback):
        try:
            from inquest_hook import excepthook
        except Exception:
            return previous(kind, value, traceback)
        return excepthook.call(previous, kind, value, traceback)

    sys.excepthook = inquest_excepthook


def _arm():
    if environ.get("INQUEST_ARMED") != "1" or not environ.get("INQUEST_BOX_DIR") or not environ.get("INQUEST_LIBRARY"):
        return
    finder = Finder()
    sys.meta_path.insert(0, finder)
    _watch_uncaught(sys.excepthook)
    # A seed is set when a generator's library is imported, which may be before torch.
    if "INQUEST_SEED" in environ or not FIRST.isdisjoint(sys.modules):
        finder.start()


try:
    _chain()
finally:
    _arm()
