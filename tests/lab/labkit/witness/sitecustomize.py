"""Writes digests of gradients and weights at each optimizer step of a local run, one line each, for weights.py to compare."""

import hashlib
import os

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

LOG = open(f"weights-{os.environ['SLURM_PROCID']}.txt", "a", encoding="utf-8")
STEPS = {}
GRADIENTS = {}


def parameters(optimizer):
    return [p for group in optimizer.param_groups for p in group["params"]]


def digest(tensors):
    state = hashlib.blake2b(digest_size=8)
    for tensor in tensors:
        local = getattr(tensor, "_local_tensor", tensor)
        state.update(local.detach().contiguous().numpy().tobytes())
    return state.hexdigest()


def tell(optimizer, gradients):
    """One line: optimizer, completed steps, gradients that were used, weights."""
    steps = STEPS.setdefault(id(optimizer), [len(STEPS) + 1, 0])
    LOG.write(f"{steps[0]} {steps[1]} {gradients} {digest(parameters(optimizer))}\n")
    LOG.flush()
    steps[1] += 1


def before(optimizer, *_):
    if id(optimizer) not in STEPS:
        tell(optimizer, "-")
    GRADIENTS[id(optimizer)] = digest(p.grad for p in parameters(optimizer) if p.grad is not None)


def after(optimizer, *_):
    tell(optimizer, GRADIENTS[id(optimizer)])


register_optimizer_step_pre_hook(before)
register_optimizer_step_post_hook(after)
