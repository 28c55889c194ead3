"""STEP records, through torch's own global hook (torch 2.1 and later): it fires after the step of every optimizer."""
import sys

from inquest_hook import format as box_format, place
from inquest_hook.box import box, guarded, pack_numbers, pack_texts
from inquest_hook.training import training


def apply(optimizer_module):
    optimizer_module.register_optimizer_step_post_hook(_step_done)


@guarded
def _step_done(optimizer, args, kwargs):
    if not box.active:
        return
    training.step += 1
    file, function, line = place.nearest(sys._getframe(1))
    box.write(
        box_format.RING_COLLECTIVES, box_format.KIND_STEP, 0, pack_texts(file, function, 0, 0, 0, 0),
        pack_numbers(line, training.step, training.micro_batches, 0, 0, 0, 0, 0))
    training.micro_batches = 0
