"""What the collectives of this process have in common: nesting, and the numbering of each group's calls."""
import sys
import threading

from inquest_hook.box import box

_HASH_PRIME = 1099511628211
_HASH_MASK = (1 << 63) - 1


class Nesting(threading.local):
    """True while this thread is inside a recorded call: what that call does inside is not recorded again."""

    open = False


class GroupCalls:
    """Numbers one group's calls on this rank. Sends and receives count apart: healthy ranks make different ones."""

    __slots__ = ("name_ident", "collectives", "transfers", "hash")

    def __init__(self, name):
        self.name_ident = box.text(name)
        self.collectives = 0
        self.transfers = 0
        self.hash = 0

    def next_collective(self, signature):
        self.collectives += 1
        self.hash = (self.hash * _HASH_PRIME ^ signature) & _HASH_MASK
        return self.collectives

    def next_transfer(self):
        self.transfers += 1
        return self.transfers


nesting = Nesting()
_groups = {}  # group name, None for the default group -> GroupCalls


def forget_groups():
    _groups.clear()


def _after_fork():
    nesting.open = False
    forget_groups()


box.forget_hooks.append(_after_fork)


def group_calls(group):
    """The numbering of `group` (None: the default group), None when this rank is no member of it."""
    name = None if group is None else getattr(group, "group_name", "")
    known = _groups.get(name)
    if known is None and name != "":
        known = _groups[name] = _new_group_calls(name)
    return known


def _new_group_calls(name):
    """The default group may be named by None and by itself: both share one numbering."""
    default_group = sys.modules["torch.distributed.distributed_c10d"].GroupMember.WORLD
    default_name = getattr(default_group, "group_name", None)
    if name is not None and name != default_name:
        return GroupCalls(name)
    shared = _groups.get(default_name) or _groups.get(None) or GroupCalls(default_name or "")
    _groups[default_name] = _groups[None] = shared
    return shared
