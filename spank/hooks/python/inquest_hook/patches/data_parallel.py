"""DistributedDataParallel: MODEL and MODEL_FLAGS records, forward passes through the wrapper, communication hooks.

__init__ itself is left alone: its warnings name the line that called it, and that must be the user's. So is __new__: programs
read the wrapper's parameters with inspect. The first record is written in the constructor of its base class Joinable, which
comes before everything that waits for other ranks (torch 2.13, nn/parallel/distributed.py), the second where __init__ has made
the reducer.
"""
import sys

from inquest_hook import format as box_format, place, transparent, wrapped_models
from inquest_hook.box import box, guarded
from inquest_hook.ranks import ranks_of, ranks_text

COMM_HOOKS = ("register_comm_hook", "_register_builtin_comm_hook")


# Of the wrapper that is being made and whose model is recorded already: identity, whether it makes the replicas equal.
_newest = [0, True]


def apply(wrapper_type, record_model):
    names = vars(sys.modules[wrapper_type.__module__])
    base, join = names.get("Joinable"), names.get("Join")
    if base is not None:
        base.__init__ = _recording(base.__init__, wrapper_type, record_model)
    wrapper_type._ddp_init_helper = _with_flags(wrapper_type._ddp_init_helper, record_model)
    # Not forward itself: torch.compile asks where forward is defined before it decides how to treat the wrapper. Nor its part
    # _pre_forward, which is compiled with the model where Python reduces the gradients. What that part calls otherwise:
    if join is not None:
        join.notify_join_context = staticmethod(_counted(join.notify_join_context))
    for name in COMM_HOOKS:
        if hasattr(wrapper_type, name):
            setattr(wrapper_type, name, _with_comm_hook(getattr(wrapper_type, name)))


def _recording(original, wrapper_type, record_model):
    @transparent.wraps(original)
    def __init__(self, *args, **kwargs):
        if isinstance(self, wrapper_type):
            _begins(self, sys._getframe(1), record_model)
        return original(self, *args, **kwargs)

    return __init__


@guarded
def _begins(wrapper, frame, record_model):
    """`frame` runs the wrapper's constructor, whose parameters are its variables."""
    given = frame.f_locals
    if given.get("self") is wrapper and "module" in given:
        _newest[:] = id(wrapper), bool(given.get("init_sync", True))
        record_model(given["module"], "DistributedDataParallel", frame)


def _with_flags(original, record_model):
    @transparent.wraps(original)
    def _ddp_init_helper(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        frame = sys._getframe(1)
        if _newest[0] != id(self):
            record_model(self.module, "DistributedDataParallel", frame)
        _wrapped(self, frame)
        return result

    return _ddp_init_helper


def _counted(original):
    @transparent.wraps(original)
    def notify_join_context(joinable):
        if box.active:
            wrapped_models.forward_begins(joinable)
        return original(joinable)

    return notify_join_context


def _with_comm_hook(original):
    @transparent.wraps(original)
    def register(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        _has_comm_hook(self, sys._getframe(1))
        return result

    return register


@guarded
def _wrapped(wrapper, frame):
    if box.active:
        box.state(box_format.STATE_MODEL_WRAPPED)
        init_sync = _newest[1] if _newest[0] == id(wrapper) else True
        _record(wrapper, wrapped_models.add(wrapper, init_sync), frame)


@guarded
def _has_comm_hook(wrapper, frame):
    known = wrapped_models.of(wrapper) if box.active else None
    if known is not None:
        known.comm_hook = True
        _record(wrapper, known, frame)


def _record(wrapper, known, frame):
    file, function, line = place.nearest_texts(frame)
    plain, synchronised = _batch_norms(wrapper.module)
    box.event(
        box_format.KIND_MODEL_FLAGS,
        (file, function, "DistributedDataParallel", type(wrapper.module).__name__,
         ranks_text(ranks_of(wrapper.process_group))),
        (line, int(wrapper.broadcast_buffers), plain, synchronised, int(known.init_sync), int(known.comm_hook)))


def _batch_norms(module):
    """Numbers of layers with running statistics: those that each rank computes alone, those that are synchronised."""
    layers = sys.modules["torch"].nn.modules.batchnorm
    found = [one for one in module.modules() if isinstance(one, layers._NormBase) and one.track_running_stats]
    synchronised = sum(1 for one in found if isinstance(one, layers.SyncBatchNorm))
    return len(found) - synchronised, synchronised
