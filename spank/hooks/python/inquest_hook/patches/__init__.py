"""One module per library, each with a function `apply(module)` that is called right after the import.

To add a library: write patches/<name>.py with apply(module), add a line here.
"""

# Imported library -> modules of this package that patch it.
PATCHES = {
    "multiprocessing.process": ("processes",),
    "torch": ("torch_core",),
    "torch._dynamo.trace_rules": ("dynamo",),
    "torch.optim.optimizer": ("optimizers",),
    "torch.multiprocessing.spawn": ("processes",),
    "torch.distributed.distributed_c10d": ("groups", "collectives"),
    "torch.nn.parallel.distributed": ("models",),
    "torch.distributed.fsdp._fully_shard._fully_shard": ("models",),
    "torch.distributed.fsdp.fully_sharded_data_parallel": ("models",),
    "torch.distributed.checkpoint.state_dict_saver": ("checkpoints",),
    "torch.distributed.checkpoint.state_dict_loader": ("checkpoints",),
    "safetensors.torch": ("checkpoints",),
}
