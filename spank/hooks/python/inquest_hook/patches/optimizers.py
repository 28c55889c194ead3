"""Optimizer steps, through torch's own global hooks (torch 2.1 and later): they fire around the step of every optimizer.

An optimizer may call another one's step inside its own (ZeroRedundancyOptimizer, wrappers), and a step may call that of its
base class: only the outermost counts. Before its end ZeroRedundancyOptimizer has not yet sent the parameters around.
"""
import sys

from inquest_hook import format as box_format, loaders, milestones, place
from inquest_hook.box import box, pack_numbers, pack_texts
from inquest_hook.schedule import budget
from inquest_hook.trained import registry
from inquest_hook.training import training

MAX_FRAMES = 256


class OpenStep:
    """The outermost step that runs."""

    def __init__(self):
        self.reset()
        box.forget_hooks.append(self.reset)

    def reset(self):
        self.trained = None  # None: no step runs, or it ended with an exception that nobody told us about
        self.again = 0  # steps of the same optimizer inside
        self.is_due = False
        self.has_closure = False
        self.spent_ns = 0  # by all digests before it


_open = OpenStep()


def apply(optimizer_module):
    optimizer_module.register_optimizer_step_pre_hook(_step_begins)
    optimizer_module.register_optimizer_step_post_hook(_step_done)
    optimizer = optimizer_module.Optimizer
    optimizer.load_state_dict = milestones.with_load(optimizer.load_state_dict)


def _is_inside_step(frame):
    """Whether a step calls the one that runs in `frame`: all have the same code (torch's wrapper around step)."""
    code = frame.f_code
    for _ in range(MAX_FRAMES):
        frame = frame.f_back
        if frame is None:
            return False
        if frame.f_code is code:
            return True
    return False


def _step_begins(optimizer, args, kwargs):
    if not box.active:
        return
    try:
        if _open.trained is not None and _is_inside_step(sys._getframe(1)):
            _nested_step(optimizer)
            return
        trained = registry.of(optimizer) or registry.add(optimizer)
        _open.trained, _open.again = trained, 0
        trained.is_stepping = True
        _open.is_due = milestones.is_due(trained, trained.steps + 1)
        if _open.is_due:
            _open.spent_ns = budget.spent_ns
            _open.has_closure = (args[1] if len(args) > 1 else kwargs.get("closure")) is not None
            milestones.before_step(trained, place.nearest(sys._getframe(1)), not _open.has_closure)
    except Exception:
        box.turn_off()


def _nested_step(optimizer):
    if registry.of(optimizer) is _open.trained:
        _open.again += 1
    else:
        _open.trained.nests = True


def _step_done(optimizer, args, kwargs):
    if not box.active:
        return
    try:
        trained = _ended(optimizer)
        if trained is not None:
            _record(trained, place.nearest(sys._getframe(1)))
    except Exception:
        box.turn_off()


def _ended(optimizer):
    """The optimizer whose outermost step is over now, None when this one is inside another."""
    trained = _open.trained
    if trained is None:
        return registry.of(optimizer) or registry.add(optimizer)  # its beginning was not seen
    if trained.optimizer() is not optimizer:
        return None
    if _open.again:
        _open.again -= 1
        return None
    _open.trained = None
    trained.is_stepping = False
    return trained


def _record(trained, found):
    training.step += 1
    trained.steps += 1
    file, function, line = found
    box.write(
        box_format.RING_COLLECTIVES, box_format.KIND_STEP, trained.ordinal, pack_texts(file, function, 0, 0, 0, 0),
        pack_numbers(
            line, training.step, training.micro_batches, trained.ordinal, training.unsynced, training.wrapped_forwards,
            training.bare_forwards, trained.steps))
    training.begin_interval()
    if _open.is_due:
        _open.is_due = False
        _checkpoint(trained, found)


def _checkpoint(trained, found):
    if trained.schedule.due(trained.steps):
        milestones.after_step(trained, found, _open.has_closure)
        trained.schedule.adapt(trained.steps, budget.spent_ns - _open.spent_ns)
        if not trained.steps & (trained.steps - 1):
            loaders.write_sketches()
