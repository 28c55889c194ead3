"""torch itself: import finished, backward calls, torch.save, torch.load and load_state_dict."""
import gc
import os
import struct
import sys
import threading

from inquest_hook import environment, exceptions, format as box_format, milestones, naming, phases, place, transparent, wrapped_models
from inquest_hook.box import box, pack_texts
from inquest_hook.training import training

_pack_begin = struct.Struct("=qdqq32x").pack  # line, loss, whether there is one, step


def apply(torch):
    place.add_machinery(os.path.dirname(torch.__file__))
    exceptions.install_for_threads(threading)
    environment.drop_outdated_names(torch)
    if box.active:
        environment.record_torch(torch)
        box.state(box_format.STATE_TORCH_IMPORTED)
    # Tensor.backward calls it by this name.
    torch.autograd.backward = _with_backward(torch.autograd.backward, (torch.Tensor, torch.nn.Parameter))
    _patch_files(torch)
    gc.freeze = naming.with_search(gc.freeze)
    torch.nn.Module.load_state_dict = milestones.with_load(torch.nn.Module.load_state_dict)


def _patch_files(torch):
    torch.serialization.save = milestones.with_save(torch.serialization.save)
    phases.wrap_attribute(torch.serialization, "save", box_format.PHASE_SAVE, "torch.save")
    phases.wrap_attribute(torch.serialization, "load", box_format.PHASE_LOAD, "torch.load")
    torch.save = torch.serialization.save
    torch.load = torch.serialization.load


def _loss(tensors, plain_types):
    """The loss, None unless it is one number in host memory: reading a device would wait for it."""
    loss = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
    if type(loss) not in plain_types or not loss.is_cpu or loss.numel() != 1:
        return None
    value = loss.item()
    return value if isinstance(value, float) else None


def _begin_backward(args, kwargs, plain_types, frame):
    """Identifier of the backward call; 0 when nothing was written."""
    try:
        loss = _loss(args[0] if args else kwargs.get("tensors"), plain_types)
        ident = box.next_ident()
        file, function, line = training.backward_place = place.nearest(frame)
        training.micro_batches += 1
        box.write(
            box_format.RING_COLLECTIVES, box_format.KIND_BACKWARD_BEGIN, ident, pack_texts(file, function, 0, 0, 0, 0),
            _pack_begin(line, loss or 0.0, loss is not None, training.step))
        return ident
    except Exception:
        box.turn_off()
        return 0


def _with_backward(original, plain_types):
    # One at a time: activation checkpointing calls backward again from inside, also from autograd's own threads.
    @transparent.wraps(original)
    def inquest_call(*args, **kwargs):
        if training.backward_open or not box.active:
            return original(*args, **kwargs)
        begun, ident = None, 0
        try:  # around all of it: a signal's handler of the program may raise anywhere
            training.backward_open = True
            begun = wrapped_models.backward_begins()
            ident = _begin_backward(args, kwargs, plain_types, sys._getframe(1))
            return original(*args, **kwargs)
        except BaseException:
            call_name = "backward"  # noqa: F841 - exceptions.py reads it from the traceback
            raise
        finally:
            training.backward_open = False
            wrapped_models.backward_ends(begun, training.micro_batches - 1)
            if box.active and ident:
                box.write(box_format.RING_COLLECTIVES, box_format.KIND_BACKWARD_END, ident, None, None)

    return inquest_call
