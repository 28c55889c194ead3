"""Counts that several patches share: optimizer steps and backward calls of this process."""
from inquest_hook.box import box


class Training:
    def __init__(self):
        self.reset()

    def reset(self):
        self.step = 0  # completed optimizer steps
        self.micro_batches = 0  # backward calls since the last one
        self.backward_open = False
        self.backward_place = (0, 0, 0)


training = Training()
box.forget_hooks.append(training.reset)
