"""SCALER_SKIP records: torch.amp.GradScaler found infinite gradients and left the optimizer step out.

Nothing is read from a device for this: a step that was asked for and not made was skipped. Optimizers that look at the
infinities themselves (fused ones) say nothing, nor do those whose steps torch's hooks do not show.
"""
import struct

from inquest_hook import format as box_format, transparent
from inquest_hook.box import box, guarded, pack_numbers, pack_texts
from inquest_hook.trained import registry
from inquest_hook.training import training

_DOUBLE = struct.Struct("=d")
_BITS = struct.Struct("=q")


def apply(grad_scaler):
    scaler = grad_scaler.GradScaler
    if hasattr(scaler, "_maybe_opt_step"):
        scaler._maybe_opt_step = _watched(scaler._maybe_opt_step)


def _watched(original):
    @transparent.wraps(original)
    def _maybe_opt_step(self, optimizer, *args, **kwargs):
        before = training.step
        result = original(self, optimizer, *args, **kwargs)
        if box.active and training.step == before:
            _not_made(self, optimizer)
        return result

    return _maybe_opt_step


@guarded
def _not_made(scaler, optimizer):
    """The optimizer may be anything that has a step."""
    if not getattr(getattr(type(optimizer), "step", None), "hooked", False):
        return
    trained = registry.of(optimizer)
    scale = scaler._scale.item()  # torch itself has just waited for the device to learn of the infinities
    bits, = _BITS.unpack(_DOUBLE.pack(scale))
    box.write(
        box_format.RING_COLLECTIVES, box_format.KIND_SCALER_SKIP, trained.ordinal if trained else 0,
        pack_texts(0, 0, 0, 0, 0, 0), pack_numbers(0, training.step + 1, bits, 0, 0, 0, 0, 0))
