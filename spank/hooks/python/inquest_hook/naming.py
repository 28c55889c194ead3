"""The modules that own parameters, and the names that parameters have there.

A wrapper is asked first. Without one the modules are looked for once among the objects that Python's collector knows: that
costs some 0.2 s at the first checkpoint where many libraries are loaded, and nothing afterwards, where hooks on modules would
cost at each pass, be saved with the user's model and disturb torch.compile. What a program freezes the collector knows no more,
so they are looked for before that too.
"""
import gc
import sys
import weakref

from inquest_hook import transparent, wrapped_models
from inquest_hook.box import box, guarded

_TRANSPARENT = ("DistributedDataParallel", "OptimizedModule", "FullyShardedDataParallel")
_MAX_CLIMB = 64
_seen = []  # weak references to the modules of the newest search: the next optimizer's may be among them
_frozen = []  # weak references to the modules that were there at the newest gc.freeze()


def owners(parameters):
    """The outermost modules that own any of the parameters, in a stable order."""
    ids = {id(parameter) for parameter in parameters}
    wrapped = [module for module in wrapped_models.modules() if _own(module, ids)]
    found = {id(parameter) for module in wrapped for parameter in module.parameters()}
    return wrapped if ids <= found else _search(ids)


def names(modules, ids):
    """Names by identity of the parameters; with the number of the module in front when there are several."""
    named = {}
    for number, module in enumerate(modules):
        prefix = "%d:" % number if len(modules) > 1 else ""
        for name, parameter in module.named_parameters():
            if id(parameter) in ids:
                named.setdefault(id(parameter), prefix + name)
    return named


def _own(module, ids):
    return any(id(parameter) in ids for parameter in module.parameters())


def _search(ids):
    modules = [module for module in (reference() for reference in _seen) if module is not None]
    if not ids <= {id(one) for module in modules for one in module._parameters.values()}:
        modules = _all_modules()
        _seen[:] = map(weakref.ref, modules)
    return _outermost(modules, ids)


def _all_modules():
    module_type = sys.modules["torch"].nn.Module
    found = [one for one in gc.get_objects() if issubclass(type(one), module_type) and "_modules" in one.__dict__]
    frozen = [module for module in (reference() for reference in _frozen) if module is not None]
    return list({id(module): module for module in frozen + found}.values())


def with_search(freeze):
    """gc.freeze with a search for the modules that it hides."""

    @transparent.wraps(freeze)
    def inquest_freeze():
        _remember()
        return freeze()

    return inquest_freeze


@guarded
def _remember():
    if box.active:
        _frozen[:] = map(weakref.ref, _all_modules())


def _outermost(modules, ids):
    parents = {
        id(child): module for module in modules if type(module).__name__ not in _TRANSPARENT
        for child in module._modules.values()}
    holders = [module for module in modules if any(id(one) in ids for one in module._parameters.values())]
    found = {id(root): root for root in (_climb(module, parents) for module in holders)}
    return sorted(found.values(), key=_rank_of_root)


def _climb(module, parents):
    for _ in range(_MAX_CLIMB):
        parent = parents.get(id(module))
        if parent is None:
            break
        module = parent
    return module


def _rank_of_root(module):
    """Order that does not depend on addresses: the same on all ranks."""
    return type(module).__name__, -sum(1 for _ in module.parameters())
