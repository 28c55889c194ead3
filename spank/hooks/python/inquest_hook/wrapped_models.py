"""The models that were wrapped for data parallelism, held weakly, and what passes through their wrappers."""
import sys
import weakref

from inquest_hook import errors
from inquest_hook.box import box
from inquest_hook.training import training


class Wrapped:
    """One DistributedDataParallel."""

    __slots__ = ("wrapper", "probes", "init_sync", "synchronised", "fresh", "comm_hook", "shows_forward")

    def __init__(self, wrapper, init_sync):
        self.wrapper = weakref.ref(wrapper)
        self.init_sync = init_sync  # whether the wrapper made the replicas equal when it was made
        trainable = [parameter for parameter in wrapper.module.parameters() if parameter.requires_grad]
        self.probes = [weakref.ref(parameter) for parameter in trainable[:1] + trainable[1:][-1:]]
        self.synchronised = True  # whether its newest forward pass asked for the reduction of the gradients
        self.fresh = False  # whether a forward pass came through it that no backward call has used yet
        # Not where Python reduces the gradients, or one hook all together (torch 2.13, DistributedDataParallel._pre_forward).
        self.shows_forward = not any(
            getattr(wrapper, name, False) for name in ("_use_python_reducer", "_delay_all_reduce_all_params"))
        self.comm_hook = False  # whether the program replaced the reduction of the gradients

    def gradients(self):
        """Changes when a backward call reaches the model."""
        found = []
        for probe in self.probes:
            gradient = getattr(probe(), "grad", None)
            found.append(gradient if gradient is None else (id(gradient), gradient._version))
        return found


LAST_MASK_BIT = 62  # number[] is signed

_wrapped = []
_flat_sharded = []  # FullyShardedDataParallel
box.forget_hooks.append(_wrapped.clear)
box.forget_hooks.append(_flat_sharded.clear)


def add(wrapper, init_sync):
    _wrapped[:] = [known for known in _wrapped if known.wrapper() is not None]
    _wrapped.append(Wrapped(wrapper, init_sync))
    return _wrapped[-1]


def add_flat_sharded(wrapper):
    _flat_sharded.append(weakref.ref(wrapper))


def modules():
    """The modules inside the wrappers."""
    return [wrapper.module for wrapper in (known.wrapper() for known in _wrapped) if wrapper is not None]


def is_flat_sharded(parameters):
    """Whether FullyShardedDataParallel owns any of them: each rank has its own part then."""
    ids = {id(parameter) for parameter in parameters}
    models = [model for model in (reference() for reference in _flat_sharded) if model is not None]
    return any(id(parameter) in ids for model in models for parameter in model.parameters())


def of(wrapper):
    for known in _wrapped:
        if known.wrapper() is wrapper:
            return known
    return None


def wrapper_of(parameters):
    """The Wrapped that reduces the gradients of all of them, None when there is no single group that does."""
    left = {id(parameter) for parameter in parameters}
    found, groups = [], set()
    for known in _wrapped:
        wrapper = known.wrapper()
        owned = left & _reduced(wrapper) if wrapper is not None else None
        if owned:
            left -= owned
            found.append(known)
            groups.add(id(wrapper.process_group))
    return found[0] if not left and len(groups) == 1 else None


def _reduced(wrapper):
    ignored = getattr(wrapper, "parameters_to_ignore", ())
    return {id(parameter) for name, parameter in wrapper.module.named_parameters() if name not in ignored}


def _stop_counting():
    """After an error: no forward passes and no promises of wrappers any more, nothing else."""
    errors.let_pass()
    _wrapped.clear()
    errors.show()


def forward_begins(wrapper):
    """A forward pass, if it is one through a wrapper. Whether backward will reduce is decided here, not in backward (torch 2.13,
    DistributedDataParallel._post_forward)."""
    try:
        known = of(wrapper) if sys.modules["torch"].is_grad_enabled() else None
        if known is not None:
            known.synchronised = wrapper.require_backward_grad_sync
            known.fresh = True
            training.wrapped_forwards += 1
    except Exception:
        _stop_counting()


def backward_begins():
    """To be given to backward_ends()."""
    try:
        return [(known, known.gradients()) for known in _wrapped]
    except Exception:
        return _stop_counting()


def backward_ends(begun, micro_batch):
    """Counts what the backward call that is over has done: whether its gradients were reduced, and whether it reached a model
    without a forward pass through its wrapper."""
    try:
        for known, gradients in begun or ():
            if known.shows_forward and known.gradients() != gradients:
                _reached(known, micro_batch)
    except Exception:
        _stop_counting()


def _reached(known, micro_batch):
    if not known.fresh:
        training.bare_forwards += 1
    elif not known.synchronised:
        training.unsynced |= 1 << min(micro_batch, LAST_MASK_BIT)
    known.fresh = False
