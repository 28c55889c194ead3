"""The timeout of process groups where the program gives none.

A program gives none when it passes nothing, None, or torch's own default object, as Lightning does. Every call is filled
in: new_group and split_group take torch's default and not that of the default group (torch 2.13,
distributed/distributed_c10d.py, _get_default_timeout). The default group's timeout is also that of the rendezvous.
"""
import datetime
import os

from inquest_hook import injected, transparent
from inquest_hook.box import guarded

POSITIONS = {"init_process_group": 2, "new_group": 1, "split_group": 2}  # of the parameter `timeout`, torch 1.13 to 2.13
DEFAULTS = ("default_pg_timeout", "default_pg_nccl_timeout")


class Report:
    """What became of the calls, by name."""

    def __init__(self, seconds):
        self._seconds = seconds
        self._set = []
        self._left = []

    @guarded
    def add(self, name, was_set):
        names = self._set if was_set else self._left
        if name in names:
            return
        names.append(name)
        left = "; left to the program: " + ", ".join(self._left) if self._left else ""
        injected.note("inquest.timeout", "%d s: %s%s" % (self._seconds, ", ".join(self._set) or "nowhere", left))


def apply(c10d):
    seconds = int(os.environ["INQUEST_TIMEOUT_SECONDS"])
    report = Report(seconds)
    for name, position in POSITIONS.items():
        if hasattr(c10d, name):
            setattr(c10d, name, _with_timeout(c10d, name, position, datetime.timedelta(seconds=seconds), report))


def _with_timeout(c10d, name, position, timeout, report):
    original = getattr(c10d, name)
    defaults = [None] + [getattr(c10d, default, None) for default in DEFAULTS]

    @transparent.wraps(original)
    def inquest_timeout(*args, **kwargs):
        given = args[position] if len(args) > position else kwargs.get("timeout")
        is_default = any(given is default for default in defaults)
        report.add(name, is_default)
        if is_default and len(args) > position:
            args = args[:position] + (timeout,) + args[position + 1:]
        elif is_default:
            kwargs["timeout"] = timeout
        return original(*args, **kwargs)

    return inquest_timeout
