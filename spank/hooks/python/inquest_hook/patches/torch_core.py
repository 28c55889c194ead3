"""torch itself: import finished, backward calls, torch.save, torch.load and load_state_dict."""
import os
import struct
import sys
import threading

from inquest_hook import environment, exceptions, format as box_format, milestones, phases, place, transparent, wrapped_models
from inquest_hook.box import box, pack_numbers, pack_texts
from inquest_hook.training import training

_DOUBLE = struct.Struct("=d")
_BITS = struct.Struct("=q")


def apply(torch):
    place.add_machinery(os.path.dirname(torch.__file__))
    exceptions.install_for_threads(threading)
    environment.drop_outdated_names(torch)
    if box.active:
        environment.record_torch(torch)
        box.state(box_format.STATE_TORCH_IMPORTED)
    _patch_backward(torch)
    _patch_files(torch)
    torch.nn.Module.load_state_dict = milestones.with_load(torch.nn.Module.load_state_dict)


def _patch_backward(torch):
    plain_types = (torch.Tensor, torch.nn.Parameter)
    torch.Tensor.backward = _with_backward(torch.Tensor.backward, plain_types)
    torch.autograd.backward = _with_backward(torch.autograd.backward, plain_types)


def _patch_files(torch):
    torch.serialization.save = milestones.with_save(torch.serialization.save)
    phases.wrap_attribute(torch.serialization, "save", box_format.PHASE_SAVE, "torch.save")
    phases.wrap_attribute(torch.serialization, "load", box_format.PHASE_LOAD, "torch.load")
    torch.save = torch.serialization.save
    torch.load = torch.serialization.load


def _loss_bits(tensors, plain_types):
    """The loss as bits, None unless it is one number in host memory: reading a device would wait for it."""
    loss = tensors[0] if isinstance(tensors, (list, tuple)) and tensors else tensors
    if type(loss) not in plain_types or loss.device.type != "cpu":
        return None
    if loss.numel() != 1 or not loss.is_floating_point():
        return None
    return _BITS.unpack(_DOUBLE.pack(loss.item()))[0]


def _begin_backward(args, kwargs, plain_types, frame):
    """Identifier of the backward call; 0 when nothing was written."""
    try:
        tensors = args[0] if args else kwargs.get("tensors")
        bits = _loss_bits(tensors, plain_types)
        ident = box.next_ident()
        file, function, line = training.backward_place = place.nearest(frame)
        training.micro_batches += 1
        box.write(
            box_format.RING_COLLECTIVES, box_format.KIND_BACKWARD_BEGIN, ident,
            pack_texts(file, function, 0, 0, 0, 0),
            pack_numbers(line, bits or 0, int(bits is not None), training.step, 0, 0, 0, 0))
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
        training.backward_open = True
        begun = wrapped_models.backward_begins()
        ident = _begin_backward(args, kwargs, plain_types, sys._getframe(1))
        try:
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
