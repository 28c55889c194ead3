"""Python runs this file at start-up because inquest put its folder on PYTHONPATH.

It first hands on to the sitecustomize that Python would have found without it, then, in an armed step only, starts the
hook. An error of that other file passes through unchanged (site.py reports it); an error of ours never leaves.
"""
import os
import sys

# importlib.util would double the start-up time of a small program; these two are its frozen, always loaded core.
import _frozen_importlib
import _frozen_importlib_external


def _other_sitecustomize():
    own = os.path.dirname(__file__)
    others = [entry for entry in sys.path if entry != own]
    spec = _frozen_importlib_external.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return None
    same = os.path.exists(spec.origin or "") and os.path.samefile(spec.origin, __file__)
    return None if same else spec  # the folder may be on the path twice, under two names


def _chain():
    spec = _other_sitecustomize()
    if spec is None:
        return
    module = _frozen_importlib.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _start_hook():
    environ = os.environ
    if environ.get("INQUEST_ARMED") != "1" or not environ.get("INQUEST_BOX_DIR") or not environ.get("INQUEST_LIBRARY"):
        return
    try:
        import inquest_hook

        inquest_hook.start()
    except Exception:
        pass


try:
    _chain()
finally:
    _start_hook()
