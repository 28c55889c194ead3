"""Checkpoint libraries beside torch.save: torch.distributed.checkpoint and safetensors."""
from inquest_hook import format as box_format, phases

SAVES = ("save", "async_save", "save_file", "save_model")
LOADS = ("load", "load_file", "load_model")


def apply(module):
    library = module.__name__
    if library.startswith("torch.distributed.checkpoint"):
        library = "torch.distributed.checkpoint"
    # safetensors.torch.save and load turn tensors into bytes in memory: no phase.
    in_memory = ("save", "load") if library == "safetensors.torch" else ()
    for names, phase in ((SAVES, box_format.PHASE_SAVE), (LOADS, box_format.PHASE_LOAD)):
        for name in names:
            if name not in in_memory:
                phases.wrap_attribute(module, name, phase, library + "." + name)
