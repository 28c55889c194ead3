"""ENVIRONMENT records inquest.*: what the hook set for the program and what it left alone because the program has its own."""
from inquest_hook import environment
from inquest_hook.box import box

_notes = {}


def note(key, value):
    """Records it now, or as soon as the process has a box."""
    _notes[key] = value
    if box.active:
        environment.record(key, value)


def record():
    """Into a new box: settings made before, also those made in the process that this one was forked from."""
    for key, value in _notes.items():
        environment.record(key, value)
