"""Digests of tensors that are not in host memory."""


def digest(tensors):
    raise NotImplementedError("no digests on %s yet" % tensors[0].device.type)
