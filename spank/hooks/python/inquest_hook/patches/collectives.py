"""COLLECTIVE records: every call of a torch.distributed operation, at the outermost call that the user can see.

The functions are replaced in torch.distributed.distributed_c10d right after it ran, before torch.distributed copies
their names, so that all later importers get the recorded ones. Names that this version of torch lacks are skipped.
"""
import binascii
import math
import sys

from inquest_hook import calls, format as box_format, place, transparent, works
from inquest_hook.box import box, pack_numbers, pack_texts
from inquest_hook.training import training

ALWAYS_ASYNC = frozenset(("isend", "irecv", "batch_isend_irecv"))


class Operation:
    """`tensor`, `peer`: names of arguments. `..._at`: positions of arguments in torch 2.0 to 2.14; -1: there is no such argument.
    `sized`: all ranks have to give the same number of elements, so it belongs into the hash."""

    def __init__(self, name, tensor, tensor_at, peer, peer_at, group_at, async_at, transfer=False, sized=False):
        self.name = name
        self.tensor = tensor
        self.tensor_at = tensor_at
        self.peer = peer
        self.peer_at = peer_at
        self.group_at = group_at
        self.async_at = async_at
        self.always_async = name in ALWAYS_ASYNC
        self.transfer = transfer
        self.sized = sized


def _collective(name, tensor, tensor_at, group_at, async_at, peer=None, peer_at=-1, sized=False):
    return Operation(name, tensor, tensor_at, peer, peer_at, group_at, async_at, sized=sized)


def _transfer(name, tensor, peer):
    return Operation(name, tensor, 0, peer, 1, 2, -1, transfer=True)


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
BATCH = Operation("batch_isend_irecv", None, -1, None, -1, -1, -1, transfer=True)

MAX_DESCRIPTIONS = 2048
_descriptions = {}  # (operation, peer, dtype, shape) -> what _describe() says
box.forget_hooks.append(_descriptions.clear)


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
            works.end(ident)
            raise
        nesting.open = False
        if is_async:
            _track(result, ident)
        else:
            works.end(ident)
        return result

    return inquest_call


def _begin(operation, arguments_of, args, kwargs, frame):
    """(identifier of the call, whether it returns before it is done); (0, False) when nothing was written."""
    try:
        tensor, peer, group, is_async = arguments_of(operation, args, kwargs)
        group_calls = calls.group_calls(group)
        if group_calls is None:
            return 0, False
        name, dtype, shape, elements, signature = _description(operation, peer, tensor)
        sequence = group_calls.next_transfer() if operation.transfer else group_calls.next_collective(signature)
        file, function, line = place.nearest(frame)
        if not line and training.backward_open:
            file, function, line = training.backward_place  # a hook of FSDP on a thread of autograd
        ident = box.next_ident()
        box.write(
            box_format.RING_COLLECTIVES, box_format.KIND_COLLECTIVE_BEGIN, ident,
            pack_texts(file, function, name, dtype, group_calls.name_ident, shape),
            pack_numbers(line, sequence, elements, group_calls.hash, peer, training.step, is_async, 0))
        return ident, is_async
    except Exception:
        box.turn_off()
        return 0, False


def _track(result, ident):
    try:
        works.track(result, ident)
    except Exception:
        box.turn_off()


def _argument(args, kwargs, name, position):
    return args[position] if 0 <= position < len(args) else kwargs.get(name)


def _arguments_of_call(operation, args, kwargs):
    group = _argument(args, kwargs, "group", operation.group_at)
    is_async = operation.always_async or bool(_argument(args, kwargs, "async_op", operation.async_at))
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


def _description(operation, peer, tensor):
    """(identifiers of the operation's name, the dtype and the shape, number of elements, signature) of a call."""
    try:
        key = (operation, peer, None, None) if tensor is None else (operation, peer, tensor.dtype, tensor.shape)
        return _descriptions.get(key) or _describe(key)
    except Exception:
        return _describe((operation, peer, None, None))  # not a tensor: torch itself will say so


def _describe(key):
    """The signature is 32 bits that depend on texts, which are the same on all ranks, not on identifiers."""
    operation, peer, dtype, shape = key
    elements = 0 if dtype is None else int(math.prod(shape))
    text = "%s %s %d %d" % (operation.name, dtype, elements if operation.sized else 0, peer)
    is_kept = len(_descriptions) < MAX_DESCRIPTIONS
    found = (
        box.text(operation.name), box.text(str(dtype)) if dtype is not None else 0,
        box.text(str(list(shape))) if dtype is not None and is_kept else 0, elements, binascii.crc32(text.encode()))
    if is_kept:
        _descriptions[key] = found
    return found
