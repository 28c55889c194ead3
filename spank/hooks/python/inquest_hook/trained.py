"""What one optimizer trains, as the tensors of its parts. Holds nothing of the user's alive."""
import sys
import weakref

from inquest_hook import agreement, format as box_format, naming
from inquest_hook.box import box
from inquest_hook.digest_library import Digester
from inquest_hook.schedule import Schedule, budget

MAX_DIGESTED = 16  # optimizers of one process; one per layer is a style too, and costs too much
RUNNING_STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


class Trained:
    def __init__(self, ordinal, optimizer):
        self.ordinal = ordinal
        self.optimizer = weakref.ref(optimizer)
        self.steps = 0  # completed
        self.digested_step = -1  # of the newest digest of the parameters
        self.is_stepping = False  # also after a step that failed: a signal's handler may save in the middle of one
        self.nests = False  # whether its step calls that of another optimizer, which then has the state
        self.loads_seen = 0
        self.optimizer_name = type(optimizer).__name__
        self.schedule = Schedule(budget)
        self.digesters = {}
        self.named = {}  # part -> number of tensors that the table has names for
        self.left_out = set()  # parts
        self._names = {}
        self._modules = []
        self._norms = []
        self.agreement = None

    def look(self):
        """Finds who must agree, the modules and the names: once, before the first step."""
        parameters = self._all_parameters()
        self.agreement = agreement.find(parameters) if parameters and self.ordinal <= MAX_DIGESTED else None
        if self.agreement is None:
            return
        modules = naming.owners(parameters)
        self._names = naming.names(modules, {id(parameter) for parameter in parameters})
        self._modules = [weakref.ref(module) for module in modules]
        self._norms = _norms(modules)

    def digester(self, part):
        return self.digesters.setdefault(part, Digester())

    def _all_parameters(self):
        optimizer = self.optimizer()
        groups = optimizer.param_groups if optimizer is not None else ()
        return list({id(parameter): parameter for group in groups for parameter in group["params"]}.values())

    def parameters(self):
        covers = self.agreement.covers
        return [one for one in self._all_parameters() if covers is None or id(one) in covers]

    def devices(self):
        """Those of its parameters, other than the host's."""
        return {one.device for one in self.parameters() if not one.is_cpu and not one.is_meta}

    def is_changed_by(self, target, part):
        """Whether loading into `target`, a module or an optimizer or None for anything, may have changed this part. Libraries load
        an optimizer's own state into it as they take it over: that says nothing about the weights."""
        if target is None:
            return True
        if part == box_format.PART_OPTIMIZER:
            return target is self.optimizer()
        ids = {id(parameter) for parameter in self.parameters()}
        return hasattr(target, "named_modules") and any(id(parameter) in ids for parameter in target.parameters())

    def training_mode(self):
        """True when a model that it trains is in train mode; None when there is no model."""
        modules = [module for module in (reference() for reference in self._modules) if module is not None]
        return any(module.training for module in modules) if modules else None

    def tensors(self, part):
        """[(name of a parameter or None, what of it, tensor or None)] of a part, in order."""
        if part == box_format.PART_BUFFERS:
            return self._buffers()
        if part == box_format.PART_OPTIMIZER:
            return self._state()
        parameters = self.parameters()
        if part == box_format.PART_GRADIENTS:
            return [(parameter, "", parameter.grad) for parameter in parameters]
        return [(parameter, "", parameter) for parameter in parameters]

    def _buffers(self):
        """Running statistics of normalisation layers. Other buffers may well differ between replicas."""
        found = {}
        for reference, name in self._norms if not self.agreement.is_dtensor else ():
            module = reference()
            for key in RUNNING_STATISTICS if module is not None else ():
                tensor = module._buffers.get(key)
                if tensor is not None:
                    found.setdefault(id(tensor), (None, name + "." + key if name else key, tensor))
        return list(found.values())

    def _state(self):
        optimizer = self.optimizer()
        if optimizer is None or self.nests:
            return []
        return [
            (parameter, "." + key, tensor) for parameter in self.parameters()
            for key, tensor in _tensors_of(optimizer.state.get(parameter) or {})]

    def hyperparameters(self):
        optimizer = self.optimizer()
        groups = optimizer.param_groups if optimizer is not None else ()
        return [sorted((key, _number(value)) for key, value in group.items() if key != "params") for group in groups]

    def name(self, index, entry):
        parameter, suffix, _ = entry
        if parameter is None:
            return suffix
        return (self._names.get(id(parameter)) or "parameter%d" % index) + suffix


def _norms(modules):
    normalisation = sys.modules["torch"].nn.modules.batchnorm._NormBase
    return [
        (weakref.ref(module), ("%d:" % number if len(modules) > 1 else "") + name)
        for number, root in enumerate(modules) for name, module in root.named_modules() if isinstance(module, normalisation)]


def _tensors_of(state):
    """The tensors of one parameter's state with their keys, also those in lists (LBFGS)."""
    is_tensor = sys.modules["torch"].is_tensor
    for key in sorted(state, key=str):
        values = state[key]
        for index, value in enumerate(values) if isinstance(values, (list, tuple)) else ((None, values),):
            if is_tensor(value):
                yield "%s" % key if index is None else "%s.%d" % (key, index), value


def _number(value):
    """A setting as something with the same text on all ranks; a number on a device is not read."""
    if isinstance(value, (list, tuple)):
        return [_number(one) for one in value]
    if sys.modules["torch"].is_tensor(value):
        return value.item() if value.device.type == "cpu" and value.numel() == 1 else "tensor"
    return value if isinstance(value, (bool, int, float, complex, str, type(None))) else type(value).__name__


class Registry:
    """All optimizers that have stepped, by identity."""

    def __init__(self):
        self._known = weakref.WeakKeyDictionary()
        self._count = 0
        box.forget_hooks.append(self.reset)

    def reset(self):
        self._known = weakref.WeakKeyDictionary()
        self._count = 0
        budget.reset()

    def of(self, optimizer):
        """Its Trained, None before its first step."""
        return self._known.get(optimizer)

    def add(self, optimizer):
        self._count += 1
        trained = self._known[optimizer] = Trained(self._count, optimizer)
        return trained

    def all(self):
        return sorted(self._known.values(), key=lambda trained: trained.ordinal)


registry = Registry()
