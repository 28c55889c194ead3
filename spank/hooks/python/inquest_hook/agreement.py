"""Which ranks must hold the same values as this one, and who promises it.

DistributedDataParallel promises equal replicas to all ranks of its process group, as long as the program does not reduce the
gradients itself (communication hook). DTensor promises them along the mesh dimensions where it is replicated. Without any
wrapper nobody promises: the ranks are those of the default group. FSDP's shards and a single rank agree with nobody.
"""
import sys

from inquest_hook import wrapped_models
from inquest_hook.ranks import ranks_of, ranks_text

PROMISE_DDP = "DistributedDataParallel"
PROMISE_DTENSOR = "DTensor"


class Agreement:
    """`ranks` as text; `covers`: ids of the parameters that it is about, None: all that the optimizer trains."""

    def __init__(self, ranks, wrapped=None, covers=None, is_dtensor=False):
        self.ranks = ranks_text(ranks)
        self.covers = covers
        self.is_dtensor = is_dtensor
        self._wrapped = wrapped

    def promise(self):
        """Asked at each checkpoint: a communication hook may come later."""
        if self.is_dtensor:
            return PROMISE_DTENSOR
        return PROMISE_DDP if self._wrapped is not None and not self._wrapped.comm_hook else None


def find(parameters):
    """The agreement about these parameters, None when there is none to hold."""
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or not c10d.is_initialized() or wrapped_models.is_flat_sharded(parameters):
        return None
    sharded = [parameter for parameter in parameters if type(parameter).__name__ == "DTensor" or hasattr(parameter, "placements")]
    if sharded:
        return _of_dtensors(sharded)
    wrapped = wrapped_models.wrapper_of(parameters)
    group = wrapped.wrapper().process_group if wrapped else c10d._get_default_group()
    ranks = ranks_of(group)
    return Agreement(ranks, wrapped) if len(ranks) > 1 else None


def _of_dtensors(parameters):
    """All that share replicas; when those of some are others, the ranks that hold all of them, else the most parameters."""
    by_ranks = {}
    for parameter in parameters:
        ranks = _replicas(parameter)
        if len(ranks) > 1:
            by_ranks.setdefault(ranks, []).append(id(parameter))
    if not by_ranks:
        return None
    common = frozenset.intersection(*by_ranks)
    if len(common) > 1:
        return Agreement(common, None, {one for ids in by_ranks.values() for one in ids}, True)
    ranks = max(by_ranks, key=lambda ranks: len(by_ranks[ranks]))
    return Agreement(ranks, None, set(by_ranks[ranks]), True)


def _replicas(parameter):
    """Global ranks that hold the same shard: those that differ from this one in replicated mesh dimensions only."""
    mesh = parameter.device_mesh
    coordinate = mesh.get_coordinate()
    if coordinate is None:
        return frozenset()
    index = tuple(
        slice(None) if placement.is_replicate() else coordinate[dimension]
        for dimension, placement in enumerate(parameter.placements))
    return frozenset(mesh.mesh[index].reshape(-1).tolist())
