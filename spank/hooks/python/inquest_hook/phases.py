"""PHASE records around calls that may take long for a good reason."""
import sys

from inquest_hook import format as box_format, place, transparent
from inquest_hook.box import box, guarded


@guarded
def begin(phase, call_name, frame):
    """Identifier of the open phase, None when nothing was written."""
    if not box.active:
        return None
    ident = box.next_ident()
    file, function, line = place.nearest_texts(frame)
    box.event(box_format.KIND_PHASE_BEGIN, (file, function, call_name), (line, phase), ident, box_format.RING_COLLECTIVES)
    return ident


@guarded
def end(ident, phase):
    if ident is not None and box.active:
        box.event(box_format.KIND_PHASE_END, (), (0, phase), ident, box_format.RING_COLLECTIVES)


def wrapped(original, phase, call_name):
    """`original` with a phase around it."""

    @transparent.wraps(original)
    def inquest_phase(*args, **kwargs):
        ident = begin(phase, call_name, sys._getframe(1))
        try:
            return original(*args, **kwargs)
        finally:
            end(ident, phase)

    return inquest_phase


def wrap_attribute(module, name, phase, call_name):
    original = getattr(module, name, None)
    if original is not None:
        setattr(module, name, wrapped(original, phase, call_name))
