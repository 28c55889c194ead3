"""Process groups: GROUP records, the rank, and the phase GROUP_SETUP around their creation."""
import sys

from inquest_hook import calls, format as box_format, lifecycle, milestones, phases, place, transparent, worker_server
from inquest_hook.box import box, guarded
from inquest_hook.ranks import ranks_text
from inquest_hook.training import training

CREATORS = ("new_group", "split_group")


def apply(c10d):
    c10d.init_process_group = _with_setup(c10d, "init_process_group", _default_group_ready)
    for name in CREATORS:
        if hasattr(c10d, name):
            setattr(c10d, name, _with_setup(c10d, name, _group_ready))
    c10d.destroy_process_group = _with_end(c10d.destroy_process_group)


def _with_end(original):
    """Many programs end with this call while their model is still there; at the interpreter's end it is gone."""

    @transparent.wraps(original)
    def destroy_process_group(group=None):
        if group is None:
            milestones.at_end()
        return original(group)

    return destroy_process_group


def _with_setup(c10d, name, ready):
    original = getattr(c10d, name)

    @transparent.wraps(original)
    def inquest_setup(*args, **kwargs):
        if calls.nesting.open:
            return original(*args, **kwargs)
        if name == "init_process_group":
            lifecycle.become_rank()
        frame = sys._getframe(1)
        ident = phases.begin(box_format.PHASE_GROUP_SETUP, "torch.distributed." + name, frame)
        calls.nesting.open = True
        try:
            result = original(*args, **kwargs)
        finally:
            calls.nesting.open = False
            phases.end(ident, box_format.PHASE_GROUP_SETUP)
        ready(c10d, result, args, kwargs, frame)
        return result

    return inquest_setup


@guarded
def _default_group_ready(c10d, result, args, kwargs, frame):
    if not box.active:
        return
    group = c10d._get_default_group()
    calls.forget_groups()
    box.set_rank(group.rank(), group.size())
    training.world_size = group.size()
    _record(c10d, group, frame)
    box.state(box_format.STATE_GROUP_READY)
    worker_server.start()


@guarded
def _group_ready(c10d, result, args, kwargs, frame):
    if not box.active:
        return
    if isinstance(result, c10d.ProcessGroup):
        _record(c10d, result, frame)
    else:
        _record_foreign(args[0] if args else kwargs.get("ranks"), frame)


def _record(c10d, group, frame):
    file, function, line = place.nearest_texts(frame)
    ranks = ranks_text(c10d.get_process_group_ranks(group))
    box.event(
        box_format.KIND_GROUP,
        (file, function, group.group_name, _backend(c10d, group), ranks, getattr(group, "group_desc", None)),
        (line, group.rank(), group.size(), _timeout_ns(c10d, group)))


def _record_foreign(ranks, frame):
    """A group that this rank is no member of: torch gives it no name here."""
    file, function, line = place.nearest_texts(frame)
    ranks = list(ranks) if isinstance(ranks, (list, tuple, range)) else []
    box.event(box_format.KIND_GROUP, (file, function, None, None, ranks_text(ranks)), (line, -1, len(ranks)))


def _backend(c10d, group):
    try:
        return str(c10d.get_backend(group))
    except Exception:
        return None


def _timeout_ns(c10d, group):
    """The timeout in force, 0 when torch does not show it. Options of a backend hold it since torch 2.0."""
    for device in getattr(group, "_device_types", ()):
        try:
            timeout = group._get_backend(device).options._timeout
            return int(timeout.total_seconds() * 1e9)
        except Exception:
            continue
    return 0
