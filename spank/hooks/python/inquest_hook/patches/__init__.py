"""One module per library, each with a function `apply(module)` that is called right after the import.

To add a library: write patches/<name>.py with apply(module), add a line here, and, when torch does not come first
anyway, one to FIRST in sitecustomize.py.
"""

# Imported library -> modules of this package that patch it.
PATCHES = {
    "multiprocessing.popen_fork": ("children",),
    "multiprocessing.process": ("processes",),
    "torch": ("torch_core",),
    "torch._dynamo.trace_rules": ("dynamo",),
    "torch.optim.optimizer": ("optimizers",),
    "torch.amp.grad_scaler": ("scaler",),
    "torch.utils.data.dataloader": ("data",),
    "torch.multiprocessing.spawn": ("processes",),
    "torch.distributed.distributed_c10d": ("groups", "collectives"),
    "torch.nn.parallel.distributed": ("models",),
    "torch.distributed.fsdp._fully_shard._fully_shard": ("models",),
    "torch.distributed.fsdp.fully_sharded_data_parallel": ("models",),
    "torch.distributed.elastic.multiprocessing.api": ("children",),
    "torch.distributed.checkpoint.state_dict_saver": ("checkpoints",),
    "torch.distributed.checkpoint.state_dict_loader": ("checkpoints",),
    "safetensors.torch": ("checkpoints",),
}

# Variable of the step's environment -> what is patched besides where it is set. These run first: a library gets its
# settings before anything is recorded about it.
ON_REQUEST = {
    "INQUEST_DETERMINISTIC": {"torch": ("deterministic",)},
    "INQUEST_SEED": {
        "random": ("seeds",),
        "numpy.random": ("seeds",),
        "torch": ("seeds",),
        "torch.nn.parallel.distributed": ("seeds",),
        "torch.optim.optimizer": ("seeds",),
        "torch.utils.data.dataloader": ("seeds",),
    },
    "INQUEST_TIMEOUT_SECONDS": {"torch.distributed.distributed_c10d": ("timeouts",)},
}


def chosen(environ):
    """PATCHES and what `environ` asks for."""
    patches = dict(PATCHES)
    for variable, requested in ON_REQUEST.items():
        if environ.get(variable):
            for library, names in requested.items():
                patches[library] = names + patches.get(library, ())
    return patches
