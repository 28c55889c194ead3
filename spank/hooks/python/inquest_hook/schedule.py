"""When digests are taken, so that their cost stays below the profile's share of the run time.

Checkpoints are the steps that are powers of two or multiples of `every`, itself a power of two that each rank chooses alone:
two ranks with different choices meet at the multiples of the larger one. No message between ranks is needed. The run time is
that since the box was claimed, so that the first steps, where most goes wrong, can be looked at one by one.
"""
import os
import time

from inquest_hook.box import box

DEFAULT_SHARE_PPM = 1000
MAX_EVERY = 1 << 40
DATA_PART = 0.25  # of the share is for what the loaders deliver
FIRST_ESTIMATE = 4  # before that many steps the time of a step is not known


class Budget:
    """What all digests of this process have cost."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.share = _share()
        self.spent_ns = 0
        self.start_up_ns = 0  # of them once for each optimizer: to find out what it trains
        self.checkpoints = 0
        self.payers = 0  # optimizers that share it

    def elapsed_ns(self):
        return time.perf_counter_ns() - box.claimed_ns

    def pay(self, begun_ns):
        """Adds the time since `begun_ns`; returns it."""
        cost_ns = time.perf_counter_ns() - begun_ns
        self.spent_ns += cost_ns
        return cost_ns

    def affordable(self):
        return self.spent_ns - self.start_up_ns < self.share * self.elapsed_ns()


def _share():
    try:
        return max(0, int(os.environ.get("INQUEST_DIGEST_SHARE", DEFAULT_SHARE_PPM))) / 1e6
    except ValueError:
        return DEFAULT_SHARE_PPM / 1e6


class Schedule:
    """The checkpoints of one optimizer."""

    __slots__ = ("every", "_budget", "_first_end_ns")

    def __init__(self, budget):
        self.every = 1
        self._budget = budget
        self._first_end_ns = 0

    def due(self, step):
        return not step & (step - 1) or not step & (self.every - 1)

    def adapt(self, step, cost_ns):
        """After the checkpoint of a step that cost that much. Falls by halves only: one cheap checkpoint proves little."""
        now_ns = time.perf_counter_ns()
        if step == 1:
            self._first_end_ns = now_ns
        if step < FIRST_ESTIMATE or not self._first_end_ns:
            return
        step_ns = (now_ns - self._first_end_ns) / (step - 1)
        share = self._budget.share * (1 - DATA_PART) / max(1, self._budget.payers)
        wanted = _power_of_two(cost_ns / max(1.0, share * step_ns))
        if not self._budget.affordable():
            self.every = max(self.every, wanted)
        elif wanted < self.every:
            self.every //= 2


def _power_of_two(number):
    """The smallest one that is not below `number`."""
    every = 1
    while every < number and every < MAX_EVERY:
        every *= 2
    return every


budget = Budget()
