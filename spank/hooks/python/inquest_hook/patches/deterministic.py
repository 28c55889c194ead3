"""Deterministic algorithms in torch, cuDNN without its search for the fastest algorithm and without TF32.

Only settings that a program can set again: it then wins. Facts of torch 2.13:
- set_deterministic_debug_mode sets the same flag as use_deterministic_algorithms, which loads torch._inductor.config
  besides (one second of CPU time); Inductor reads TORCHINDUCTOR_DETERMINISTIC, which the launcher sets (torch/__init__.py).
- TF32 is on for cuDNN and off for matrix products. allow_tf32 of matrix products is left alone: once it is set, a program's
  `torch.backends.fp32_precision` no longer reaches them (torch/backends/__init__.py).
- torch.utils.deterministic.fill_uninitialized_memory stays on, as torch has it: it fills only what a program makes with
  torch.empty and the like (0.3 us, and a write of the memory), nothing measurable in training.
"""
import os
import sys

from inquest_hook import injected

_DEBUG_MODES = {"warn": "warn", "strict": "error"}
_ERROR_NAMES = "use_deterministic_algorithms"  # what torch and cuBLAS call it in their errors (aten/src/ATen/Context.cpp)
_EXPLANATION = (
    "inquest: this step runs with --inquest-deterministic=strict: an operation without a deterministic implementation fails."
    " With --inquest-deterministic=warn it runs, with a warning.\n")


def apply(torch):
    mode = os.environ["INQUEST_DETERMINISTIC"]
    if mode not in _DEBUG_MODES:
        return
    torch.set_deterministic_debug_mode(_DEBUG_MODES[mode])
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.allow_tf32 = False
    injected.note("inquest.deterministic", mode)


def explain(value):
    """Tells the user where torch's refusal comes from, when that is what ended the program."""
    if os.environ.get("INQUEST_DETERMINISTIC") == "strict" and _ERROR_NAMES in str(value):
        sys.stderr.write(_EXPLANATION)
