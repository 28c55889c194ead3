"""The life of the process: claim at torch's import, fork, interpreter shutdown. The exit status itself is written by libinquest."""
import atexit
import os
import sys

from inquest_hook import environment, exceptions, format as box_format, injected, stacks
from inquest_hook.box import box, guarded

_handlers_installed = False
exit_hooks = []  # called when the interpreter ends and no exception ended it


@guarded
def ensure_box():
    """Claims the box, if there is none, and writes what every box begins with. True when there is one."""
    if box.active:
        return True
    if not box.claim():
        return False
    _install_handlers()
    stacks.register()
    environment.record_process()
    injected.record()
    return True


def _install_handlers():
    global _handlers_installed
    if _handlers_installed:
        return
    _handlers_installed = True
    os.register_at_fork(after_in_child=_after_fork)
    atexit.register(_interpreter_exits)


@guarded
def _after_fork():
    box.forget()


@guarded
def become_rank():
    """A process group is about to be made. In a forked child this is where its own box begins."""
    if not box.active and ensure_box():
        environment.record_torch(sys.modules["torch"])
        box.state(box_format.STATE_TORCH_IMPORTED)


@guarded
def _interpreter_exits():
    if not box.active:
        return
    exceptions.record_missed()
    if not exceptions.ended_by_one():
        for hook in exit_hooks:
            hook()
    box.state(box_format.STATE_EXITING)


def torch_import_begins():
    ensure_box()
