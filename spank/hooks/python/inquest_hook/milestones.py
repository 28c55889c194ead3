"""Checkpoints of the state: before and after optimizer steps, after loading, before saving and at the end."""
import sys
import threading
import time
import weakref

from inquest_hook import environment, format as box_format, hardware, lifecycle, transparent
from inquest_hook.box import box, guarded
from inquest_hook.device_digest import settles
from inquest_hook.digests import Checkpoint, accounted, digests, possible
from inquest_hook.schedule import budget
from inquest_hook.trained import registry
from inquest_hook.training import training

PARAMETERS, BUFFERS, GRADIENTS, OPTIMIZER = (
    box_format.PART_PARAMETERS, box_format.PART_BUFFERS, box_format.PART_GRADIENTS, box_format.PART_OPTIMIZER)


class Loads:
    """What was loaded into, newest last. An optimizer compares the number of loads with what it has seen."""

    KEPT = 16

    def __init__(self):
        self.reset()
        box.forget_hooks.append(self.reset)

    def reset(self):
        self.count = 0
        self._newest = []

    def add(self, target):
        """`target`: a module or an optimizer, None for anything."""
        self.count += 1
        self._newest = self._newest[1 - self.KEPT:] + [None if target is None else weakref.ref(target)]

    def since(self, seen):
        """The targets of the loads after the first `seen`, as far as they are alive; None among them for anything."""
        references = self._newest[-(self.count - seen):] if self.count > seen else ()
        return [None if reference is None else reference() or () for reference in references]


loads = Loads()


def is_due(trained, step):
    """Asked before each step; nothing else is done for most of them."""
    if not digests.active:
        return False
    return trained.steps == 0 or (
        trained.agreement is not None and (trained.schedule.due(step) or trained.loads_seen != loads.count))


@accounted(digests)
def before_step(trained, place, with_gradients):
    """Before a step that is_due(); `with_gradients`: they are there already, no closure makes them."""
    if trained.steps == 0 and not _begin(trained):
        return
    if trained.steps == 0:
        _whole(Checkpoint(trained, 0, box_format.SITE_START, place))
    _loaded(trained, place)
    if with_gradients and trained.schedule.due(trained.steps + 1):
        Checkpoint(trained, trained.steps + 1, box_format.SITE_STEP, place).parts(GRADIENTS)


def _begin(trained):
    """The first step of an optimizer: whether there is anything new to agree upon."""
    if not possible():
        digests.active = False
        return False
    if trained.agreement is not None:
        return False  # a first step that failed and is made again
    begun_ns = time.perf_counter_ns()
    trained.look()
    if trained.agreement is not None and not budget.payers:
        hardware.record()
    budget.start_up_ns += time.perf_counter_ns() - begun_ns
    budget.payers += trained.agreement is not None
    return trained.agreement is not None


def _loaded(trained, place):
    targets = loads.since(trained.loads_seen)
    trained.loads_seen = loads.count
    if trained.steps and not trained.schedule.due(trained.steps + 1) and not budget.affordable():
        return
    parts = [part for part in (PARAMETERS, OPTIMIZER) if any(trained.is_changed_by(target, part) for target in targets)]
    Checkpoint(trained, trained.steps, box_format.SITE_LOADED, place).parts(*parts)


def _whole(checkpoint):
    checkpoint.parts(PARAMETERS, BUFFERS)
    checkpoint.hyperparameters()
    checkpoint.circumstances()


@accounted(digests)
def after_step(trained, place, with_gradients):
    if trained.agreement is None:
        return
    budget.checkpoints += 1
    checkpoint = Checkpoint(trained, trained.steps, box_format.SITE_STEP, place)
    if with_gradients:
        checkpoint.parts(GRADIENTS)
    checkpoint.parts(OPTIMIZER)
    _whole(checkpoint)


@accounted(digests)
def _parameters_of_all(site):
    for trained in registry.all():
        if trained.agreement is not None and trained.steps > trained.digested_step and not trained.is_stepping:
            if site == box_format.SITE_END and not settles(trained.devices()):
                return
            Checkpoint(trained, trained.steps, site).parts(PARAMETERS)


def _fails():
    """Whether an exception is being handled or passes: a device may wait for a rank that is gone, and who waits for it hangs."""
    return sys.exc_info()[0] is not None


def before_save():
    """Not in a thread that saves in the background: the parameters may change while it reads them."""
    is_main = threading.get_ident() == threading.main_thread().ident
    if is_main and box.active and digests.active and budget.affordable() and not _fails():
        _parameters_of_all(box_format.SITE_SAVE)


def at_end():
    """The training is over: the process group is taken down, or the interpreter ends."""
    if box.active and digests.active and budget.payers and not _fails():
        _parameters_of_all(box_format.SITE_END)


@guarded
def _record_cost():
    if budget.payers:
        running_ns = budget.spent_ns - budget.start_up_ns
        environment.record("inquest.digest_cost", "%.3f microseconds per step: %d checkpoints, %.1f ms at the start, %.1f ms in %d steps" % (
            running_ns / 1e3 / max(1, training.step), budget.checkpoints, budget.start_up_ns / 1e6, running_ns / 1e6, training.step))


lifecycle.exit_hooks += [at_end, _record_cost]


def with_save(original):
    """`original` with a digest of the parameters in front."""

    @transparent.wraps(original)
    def inquest_save(*args, **kwargs):
        before_save()
        return original(*args, **kwargs)

    return inquest_save


def with_load_in_place(original):
    """A function that loads into tensors that may be anybody's."""

    @transparent.wraps(original)
    def inquest_load(*args, **kwargs):
        result = original(*args, **kwargs)
        if box.active:
            loads.add(None)
        return result

    return inquest_load


def with_load(original):
    """A load_state_dict method that tells the next step of the optimizer."""

    @transparent.wraps(original)
    def load_state_dict(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if box.active:
            loads.add(self)
        return result

    return load_state_dict
