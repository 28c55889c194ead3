"""Checkpoint libraries beside torch.save: torch.distributed.checkpoint and safetensors."""
from inquest_hook import format as box_format, milestones, phases

SAVES = ("save", "async_save", "save_file", "save_model")
LOADS = ("load", "load_file", "load_model")


def apply(module):
    library = module.__name__
    if library.startswith("torch.distributed.checkpoint"):
        library = "torch.distributed.checkpoint"
        _wrap(module, ("load",), milestones.with_load_in_place)
    # safetensors.torch.save and load turn tensors into bytes in memory: no phase.
    in_memory = ("save", "load") if library == "safetensors.torch" else ()
    saves = [name for name in SAVES if name not in in_memory]
    loads = [name for name in LOADS if name not in in_memory]
    _wrap(module, saves, milestones.with_save)
    for names, phase in ((saves, box_format.PHASE_SAVE), (loads, box_format.PHASE_LOAD)):
        for name in names:
            phases.wrap_attribute(module, name, phase, library + "." + name)


def _wrap(module, names, wrapped):
    for name in names:
        if hasattr(module, name):
            setattr(module, name, wrapped(getattr(module, name)))
