"""MODEL records: which module was wrapped for data parallelism, and a hash that must agree on all ranks.

The record is written before the wrapper's own code runs, because a wrapper that waits for the other ranks may hang.
"""
import hashlib
import sys

from inquest_hook import format as box_format, place, transparent, wrapped_models
from inquest_hook.box import box, guarded
from inquest_hook.patches import data_parallel

_largest = [0]  # parameters of the largest module recorded so far
box.forget_hooks.append(lambda: _largest.__setitem__(0, 0))


def apply(module):
    if module.__name__.endswith("._fully_shard"):
        module.fully_shard = _with_model(module.fully_shard, "fully_shard", 0)
        return
    if module.__name__ == "torch.nn.parallel.distributed":
        data_parallel.apply(module.DistributedDataParallel, _record)
    else:
        wrapper = module.FullyShardedDataParallel
        wrapper.__init__ = _with_model(wrapper.__init__, wrapper.__name__, 1)


def _with_model(original, wrapper_name, position):
    @transparent.wraps(original)
    def inquest_wrap(*args, **kwargs):
        model = kwargs.get("module", args[position] if len(args) > position else None)
        _record(model, wrapper_name, sys._getframe(1))
        result = original(*args, **kwargs)
        _wrapped(args[0], wrapper_name)
        return result

    return inquest_wrap


@guarded
def _wrapped(wrapper, wrapper_name):
    if box.active:
        box.state(box_format.STATE_MODEL_WRAPPED)
        # NO_SHARD keeps whole replicas; nobody promises that they were equal at the beginning.
        if wrapper_name == "FullyShardedDataParallel" and getattr(wrapper.sharding_strategy, "name", None) != "NO_SHARD":
            wrapped_models.add_flat_sharded(wrapper)


@guarded
def _record(model, wrapper_name, frame):
    """FSDP wraps every layer on its own: only a module larger than all before is news."""
    if not box.active or not hasattr(model, "named_parameters"):
        return
    parameters = list(model.named_parameters())
    if len(parameters) <= _largest[0] and wrapper_name != "DistributedDataParallel":
        return
    _largest[0] = max(_largest[0], len(parameters))
    file, function, line = place.nearest_texts(frame)
    trainable = sum(1 for _, parameter in parameters if parameter.requires_grad)
    buffers = sum(1 for _ in model.buffers())
    box.event(
        box_format.KIND_MODEL, (file, function, wrapper_name, type(model).__name__),
        (line, len(parameters), trainable, _hash(parameters), buffers))


def _hash(parameters):
    digest = hashlib.blake2b(digest_size=8)
    for name, parameter in parameters:
        digest.update(("%s %s %s;" % (name, list(parameter.shape), parameter.dtype)).encode())
    return int.from_bytes(digest.digest(), "little", signed=True)
