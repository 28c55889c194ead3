"""When seeds.py sets the generators: each as its library is imported, and all again when training begins.

Training begins when a model has been wrapped in DistributedDataParallel, which has made the replicas equal by then. Without it,
at the first backward call or optimizer step, or already when a data loader is read and there is an optimizer: its order
and its workers' seeds hold for the whole epoch. Not when FSDP shards a module: layers are sharded one by one, and often
initialised after that.
"""

from inquest_hook import transparent
from inquest_hook.seeds import seeds


def apply(module):
    _PATCHES[module.__name__](module)


def _torch(torch):
    seeds.torch_is_there(torch)
    torch.Tensor.backward = _beginning_before(torch.Tensor.backward)
    torch.autograd.backward = _beginning_before(torch.autograd.backward)


def _beginning_before(original):
    @transparent.wraps(original)
    def inquest_begin(*args, **kwargs):
        seeds.training_begins()
        return original(*args, **kwargs)

    return inquest_begin


def _data_parallel(module):
    original = module.DistributedDataParallel.__init__

    @transparent.wraps(original)
    def inquest_init(*args, **kwargs):
        original(*args, **kwargs)
        seeds.training_begins()

    module.DistributedDataParallel.__init__ = inquest_init


def _optimizer(module):
    original = module.Optimizer.__init__

    @transparent.wraps(original)
    def inquest_init(*args, **kwargs):
        original(*args, **kwargs)
        seeds.optimizer_exists = True

    module.Optimizer.__init__ = inquest_init
    module.register_optimizer_step_pre_hook(lambda *_: seeds.training_begins())


def _data_loader(module):
    original = module.DataLoader.__iter__

    @transparent.wraps(original)
    def inquest_iter(*args, **kwargs):
        if seeds.optimizer_exists:
            seeds.training_begins()
        return original(*args, **kwargs)

    module.DataLoader.__iter__ = inquest_iter


_PATCHES = {
    "random": seeds.python_is_there,
    "numpy.random": seeds.numpy_is_there,
    "torch": _torch,
    "torch.nn.parallel.distributed": _data_parallel,
    "torch.optim.optimizer": _optimizer,
    "torch.utils.data.dataloader": _data_loader,
}
