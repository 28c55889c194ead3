"""COLLECTIVE records: every call of a torch.distributed operation, at the outermost call that the user can see.

The functions are replaced in torch.distributed.distributed_c10d right after it ran, before torch.distributed copies
their names, so that all later importers get the recorded ones. Names that this version of torch lacks are skipped.
"""
import binascii
import sys
from collections import namedtuple

from inquest_hook import calls, format as box_format, place, transparent, works
from inquest_hook.box import box, pack_numbers, pack_texts
from inquest_hook.training import training

# Positions of the arguments in torch 2.0 to 2.14; -1: the operation has no such argument. `sized`: all ranks have to give
# the same number of elements, so it belongs into the hash.
Operation = namedtuple("Operation", "name tensor tensor_at peer peer_at group_at async_at transfer sized")


def _collective(name, tensor, tensor_at, group_at, async_at, peer=None, peer_at=-1, sized=False):
    return Operation(name, tensor, tensor_at, peer, peer_at, group_at, async_at, False, sized)


def _transfer(name, tensor, peer):
    return Operation(name, tensor, 0, peer, 1, 2, -1, True, False)


OPERATIONS = (
    _collective("all_reduce", "tensor", 0, 2, 3, sized=True),
    _collective("all_reduce_coalesced", "tensors", 0, 2, 3, sized=True),
    _collective("reduce", "tensor", 0, 3, 4, "dst", 1, sized=True),
    _collective("broadcast", "tensor", 0, 2, 3, "src", 1, sized=True),
    _collective("all_gather", "tensor", 1, 2, 3),
    _collective("all_gather_into_tensor", "input_tensor", 1, 2, 3, sized=True),
    _collective("all_gather_single", "input_tensor", 1, 2, 3, sized=True),
    _collective("all_gather_coalesced", "input_tensor_list", 1, 2, 3),
    _collective("gather", "tensor", 0, 3, 4, "dst", 2),
    _collective("scatter", "tensor", 0, 3, 4, "src", 2),
    _collective("reduce_scatter", "output", 0, 3, 4),
    _collective("reduce_scatter_tensor", "output", 0, 3, 4, sized=True),
    _collective("reduce_scatter_single", "output", 0, 3, 4, sized=True),
    _collective("all_to_all_single", "input", 1, 4, 5),
    _collective("all_to_all", "input_tensor_list", 1, 2, 3),
    _collective("barrier", None, -1, 0, 1),
    _collective("monitored_barrier", None, -1, 0, -1),
    _collective("all_gather_object", None, -1, 2, -1),
    _collective("gather_object", None, -1, 3, -1, "dst", 2),
    _collective("broadcast_object_list", None, -1, 2, -1, "src", 1),
    _collective("scatter_object_list", None, -1, 3, -1, "src", 2),
    _transfer("send", "tensor", "dst"),
    _transfer("recv", "tensor", "src"),
    _transfer("isend", "tensor", "dst"),
    _transfer("irecv", "tensor", "src"),
    _transfer("send_object_list", None, "dst"),
    _transfer("recv_object_list", None, "src"),
)
ALWAYS_ASYNC = frozenset(("isend", "irecv", "batch_isend_irecv"))
BATCH = Operation("batch_isend_irecv", None, -1, None, -1, -1, -1, True, False)

MAX_DESCRIPTIONS = 2048
_NO_TENSOR = (0, 0, 0)
_descriptions = {}  # (dtype, shape) -> (dtype identifier, shape identifier, elements)
_signatures = {}  # (operation, dtype identifier, elements, peer) -> 32 bits that depend on the texts, not on identifiers
box.forget_hooks.append(_descriptions.clear)
box.forget_hooks.append(_signatures.clear)


def apply(c10d):
    for operation in OPERATIONS:
        if hasattr(c10d, operation.name):
            setattr(c10d, operation.name, _recorded(getattr(c10d, operation.name), operation, _arguments_of_call))
    if hasattr(c10d, BATCH.name):
        setattr(c10d, BATCH.name, _recorded(getattr(c10d, BATCH.name), BATCH, _arguments_of_batch))
    works.patch_wait(c10d.Work)


def _recorded(original, operation, arguments_of):
    nesting = calls.nesting

    @transparent.wraps(original)
    def inquest_call(*args, **kwargs):
        if nesting.open or not box.active:
            return original(*args, **kwargs)
        ident, is_async = _begin(operation, arguments_of, args, kwargs, sys._getframe(1))
        nesting.open = True
        try:
            result = original(*args, **kwargs)
        except BaseException:
            nesting.open = False
            call_name = operation.name  # noqa: F841 - exceptions.py reads it from the traceback
            _end(ident, None)
            raise
        nesting.open = False
        _end(ident, result if is_async else None)
        return result

    return inquest_call


def _begin(operation, arguments_of, args, kwargs, frame):
    """(identifier of the call, whether it returns before it is done); (0, False) when nothing was written."""
    try:
        tensor, peer, group, is_async = arguments_of(operation, args, kwargs)
        group_calls = calls.group_calls(group)
        if group_calls is None:
            return 0, False
        return _write_begin(operation, tensor, peer, group_calls, is_async, frame), is_async
    except Exception:
        box.turn_off()
        return 0, False


def _write_begin(operation, tensor, peer, group_calls, is_async, frame):
    dtype_ident, shape_ident, elements = _describe(tensor)
    if operation.transfer:
        sequence = group_calls.next_transfer()
    else:
        counted = elements if operation.sized else 0
        sequence = group_calls.next_collective(_signature(operation.name, tensor, dtype_ident, counted, peer))
    file, function, line = place.nearest(frame)
    if not line and training.backward_open:
        file, function, line = training.backward_place  # a hook of FSDP on a thread of autograd
    ident = box.next_ident()
    box.write(
        box_format.RING_COLLECTIVES, box_format.KIND_COLLECTIVE_BEGIN, ident,
        pack_texts(file, function, box.text(operation.name), dtype_ident, group_calls.name_ident, shape_ident),
        pack_numbers(line, sequence, elements, group_calls.hash, peer, training.step, is_async, 0))
    return ident


def _end(ident, async_result):
    if not ident:
        return
    try:
        if async_result is None:
            works.end(ident)
        else:
            works.track(async_result, ident)
    except Exception:
        box.turn_off()


def _argument(args, kwargs, name, position, absent=None):
    if 0 <= position < len(args):
        return args[position]
    return kwargs.get(name, absent) if name else absent


def _arguments_of_call(operation, args, kwargs):
    group = _argument(args, kwargs, "group", operation.group_at)
    is_async = operation.name in ALWAYS_ASYNC or bool(_argument(args, kwargs, "async_op", operation.async_at))
    tensor = _argument(args, kwargs, operation.tensor, operation.tensor_at)
    if isinstance(tensor, (list, tuple)):
        tensor = tensor[0] if tensor else None
    peer = -1 if operation.peer is None else _peer(operation, args, kwargs, group)
    return tensor, peer, group, is_async


def _peer(operation, args, kwargs, group):
    """Root or peer as a global rank. `group_src` and `group_dst` (torch 2.6 and later) count within the group."""
    peer = _argument(args, kwargs, operation.peer, operation.peer_at)
    if isinstance(peer, int):
        return peer
    in_group = kwargs.get("group_" + operation.peer)
    if not isinstance(in_group, int):
        return -1 if operation.transfer else 0
    c10d = sys.modules["torch.distributed.distributed_c10d"]
    return c10d.get_global_rank(group or c10d.GroupMember.WORLD, in_group)


def _arguments_of_batch(operation, args, kwargs):
    batch = _argument(args, kwargs, "p2p_op_list", 0) or ()
    first = batch[0] if batch else None
    peer = getattr(first, "peer", -1)
    return getattr(first, "tensor", None), peer if isinstance(peer, int) else -1, getattr(first, "group", None), True


def _describe(tensor):
    if tensor is None:
        return _NO_TENSOR
    try:
        key = (tensor.dtype, tensor.shape)
        known = _descriptions.get(key)
        return known if known is not None else _new_description(key)
    except Exception:
        return _NO_TENSOR  # not a tensor: torch itself will say so


def _new_description(key):
    dtype, shape = key
    elements = 1
    for size in shape:
        elements *= int(size)
    if len(_descriptions) >= MAX_DESCRIPTIONS:
        return box.text(str(dtype)), 0, elements
    known = _descriptions[key] = (box.text(str(dtype)), box.text(str(list(shape))), elements)
    return known


def _signature(name, tensor, dtype_ident, elements, peer):
    key = (name, dtype_ident, elements, peer)
    known = _signatures.get(key)
    if known is None:
        text = "%s %s %d %d" % (name, getattr(tensor, "dtype", None), elements, peer)
        known = binascii.crc32(text.encode())
        if len(_signatures) < MAX_DESCRIPTIONS:
            _signatures[key] = known
    return known
