"""Counts that several patches share: optimizer steps, backward calls and forward passes of this process."""
from inquest_hook.box import box


class Training:
    def __init__(self):
        self.reset()

    def reset(self):
        self.world_size = 0  # ranks of the default group, 0 without one
        self.step = 0  # completed optimizer steps
        self.backward_open = False
        self.backward_place = (0, 0, 0)
        self.begin_interval()

    def begin_interval(self):
        """A step is over: what follows is counted for the next one."""
        self.micro_batches = 0  # backward calls
        self.unsynced = 0  # bit k: the k-th of them did not reduce its gradients
        self.wrapped_forwards = 0  # forward passes through a data-parallel wrapper
        self.bare_forwards = 0  # forward passes that went past it


training = Training()
box.forget_hooks.append(training.reset)
