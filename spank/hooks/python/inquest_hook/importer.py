"""Runs patches right after a library is imported, through the finder that sitecustomize.py put in front of sys.meta_path.

The finder asks the other finders for the module, as if it were not there, and replaces exec_module on that one loader
object; the loader keeps its type, and the module its spec. For every other import the finder costs one dictionary look-up.
"""
import os
import sys

from inquest_hook import errors, patches

_patches = patches.chosen(os.environ)  # imported library -> names of modules in patches/


def _patch(name, module):
    """Applies the patches of one library. One that does not fit its version is missing, and nothing else is."""
    import importlib

    for patch_name in _patches[name]:
        try:
            importlib.import_module("inquest_hook.patches." + patch_name).apply(module)
        except Exception:
            errors.show()


def _before(name):
    if name == "torch":
        from inquest_hook import lifecycle

        lifecycle.torch_import_begins()


def _watch_loader(loader, name):
    original = loader.exec_module

    def exec_module(module):
        loader.exec_module = original
        _quietly(_before, name)
        original(module)
        _quietly(_patch, name, module)

    loader.exec_module = exec_module


def _quietly(function, *args):
    try:
        function(*args)
    except Exception:
        errors.show()


class ImportWatcher:
    """Gives `finder`, which is in sys.meta_path, its find_spec; it finds nothing itself."""

    def __init__(self, finder):
        self._finder = finder
        self._waiting = set(_patches)

    def find_spec(self, name, path=None, target=None):
        if name not in self._waiting:
            return None
        self._waiting.discard(name)
        spec = self._ask_others(name, path, target)
        if spec is not None and spec.loader is not None:
            _quietly(_watch_loader, spec.loader, name)
        return spec

    def _ask_others(self, name, path, target):
        for finder in sys.meta_path:
            find_spec = getattr(finder, "find_spec", None)
            if finder is self._finder or find_spec is None:
                continue
            spec = find_spec(name, path, target)
            if spec is not None:
                return spec
        return None


def install(finder):
    finder.find_spec = ImportWatcher(finder).find_spec
    for name in _patches:
        if name in sys.modules:
            _quietly(_before, name)
            _quietly(_patch, name, sys.modules[name])
