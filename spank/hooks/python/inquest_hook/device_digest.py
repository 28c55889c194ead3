"""Digests of tensors that are not in host memory: the algorithm of libinquest (docs/formats/tensor_table.md) with torch's own
integer operations on the tensor's device, bit for bit the same.

Torch has no unsigned 64-bit arithmetic, but its int64 wraps around in the same way. Temporary memory is bounded by chunks;
one transfer for all tensors brings the sums to the host, where they are folded. Norms may differ from the host's in the last
bits, because the squares are summed in another order.
"""
import math
import struct
import sys
import time

LANES = 16
SETTLE_SECONDS = 5.0
CHUNK_BYTES = 8 << 20  # a multiple of LANES words; the operations below need a few times as much
INDEX_FACTOR = 0x9E3779B97F4A7C15
FIRST_CHAIN_FACTOR = 0xBF58476D1CE4E5B9
SECOND_CHAIN_FACTOR = 0x94D049BB133111EB
FIRST_FACTOR = FIRST_CHAIN_FACTOR >> 32
SECOND_FACTOR = SECOND_CHAIN_FACTOR >> 32

_WORD = (1 << 64) - 1
_LOW_HALF = 0xFFFFFFFF
_DOUBLE_BITS = struct.Struct("=q")
_DOUBLE = struct.Struct("=d")


def digest(tensors):
    """[(low, high, lanes, norm)] of plain strided tensors, unsigned as in struct inquest_digest."""
    torch = sys.modules["torch"]
    if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
        raise RuntimeError("a graph is being captured")
    rows = [None] * len(tensors)
    with torch.no_grad():
        for batches in _by_device(tensors).values():
            sums = torch.cat([_sums_of(torch, [tensors[index] for index in batch]) for batch in batches])
            indexes = [index for batch in batches for index in batch]
            for index, row in zip(indexes, sums.tolist()):  # the one transfer
                rows[index] = row
    return [_folded(row, tensor) for row, tensor in zip(rows, tensors)]


def settles(devices):
    """Whether the devices do what they have been told to within SETTLE_SECONDS. A collective whose peer is gone keeps its device
    busy for ever, and who waits for that device with it."""
    deadline = time.monotonic() + SETTLE_SECONDS
    events = [getattr(sys.modules["torch"], device.type).current_stream(device).record_event() for device in devices]
    while not all(event.query() for event in events):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


def _by_device(tensors):
    """{device: lists of indexes}. Small tensors of one kind and size, as layers have them, are computed together."""
    groups = {}
    for index, tensor in enumerate(tensors):
        key = tensor.device, tensor.dtype, tensor.numel()
        size = tensor.numel() * tensor.element_size()
        at_once = CHUNK_BYTES // max(1, size) or 1
        batches = groups.setdefault(key, [[]])
        if len(batches[-1]) == at_once:
            batches.append([])
        batches[-1].append(index)
    found = {}
    for (device, _, _), batches in groups.items():
        found.setdefault(device, []).extend(batches)
    return found


def _sums_of(torch, tensors):
    """One row of sums for each of some tensors of one kind and size."""
    if len(tensors) == 1 or not tensors[0].numel():
        chunks = (chunk.unsqueeze(0) for chunk in _chunks(torch, tensors[0]))
    else:
        chunks = [torch.stack([_bytes(torch, tensor.contiguous().view(-1)) for tensor in tensors])]
    return _sums(torch, chunks, len(tensors), tensors[0])


def _sums(torch, chunks, count, tensor):
    """int64[count, 18] on the tensor's device: the lanes, the product, the bits of the sum of the squares."""
    lanes = torch.zeros(count, LANES, dtype=torch.int64, device=tensor.device)
    product = torch.zeros(count, 1, dtype=torch.int64, device=tensor.device)
    squares = torch.zeros(count, 1, dtype=torch.float64, device=tensor.device)
    word = 0
    for data in chunks:
        mixed = _mixed(torch, data, word)
        word += mixed.shape[1]
        product += ((mixed & _LOW_HALF) * _shifted(mixed)).sum(1, keepdim=True)
        missing = -mixed.shape[1] % LANES
        lanes += torch.nn.functional.pad(mixed, (0, missing)).view(count, -1, LANES).sum(1)
        if tensor.is_floating_point() and tensor.element_size() > 1:
            squares += data.view(tensor.dtype).double().square().sum(1, keepdim=True)
    return torch.cat([lanes, product, squares.view(torch.int64)], 1)


def _shifted(words):
    return (words >> 32) & _LOW_HALF


def _mixed(torch, data, first_word):
    words = torch.nn.functional.pad(data, (0, -data.shape[1] % 8)).view(torch.int64)
    index = torch.arange(first_word + 1, first_word + 1 + words.shape[1], dtype=torch.int64, device=data.device)
    mixed = words ^ index.mul_(INDEX_FACTOR - (1 << 64))
    for factor in (FIRST_FACTOR, SECOND_FACTOR):
        mixed ^= _shifted(mixed)
        mixed *= factor
    return mixed.bitwise_xor_(_shifted(mixed))


def _chunks(torch, tensor):
    """The bytes in logical order as contiguous uint8 tensors of whole blocks, the last one as long as it is."""
    rest, rest_bytes = [], 0
    for piece in _pieces(torch, tensor):
        rest.append(piece)
        rest_bytes += piece.numel()
        if rest_bytes >= CHUNK_BYTES:
            joined = torch.cat(rest) if len(rest) > 1 else piece
            whole = rest_bytes - rest_bytes % (8 * LANES)
            yield _aligned(joined[:whole])
            rest, rest_bytes = [joined[whole:]], rest_bytes - whole
    if rest_bytes:
        yield _aligned(torch.cat(rest))


def _aligned(data):
    return data.clone() if data.data_ptr() % 16 or data.storage_offset() % 16 else data


def _pieces(torch, tensor):
    """Contiguous bytes, at most CHUNK_BYTES at once, in logical order."""
    if tensor.is_contiguous():
        data = _bytes(torch, tensor.view(-1))
        for start in range(0, data.numel(), CHUNK_BYTES):
            yield data[start:start + CHUNK_BYTES]
    elif tensor.numel() * tensor.element_size() <= CHUNK_BYTES:
        yield _bytes(torch, tensor.contiguous().view(-1))
    else:
        step = max(1, tensor.shape[0] * CHUNK_BYTES // (tensor.numel() * tensor.element_size()))
        for start in range(0, tensor.shape[0], step):
            part = tensor[start:start + step]
            yield from _pieces(torch, part if step > 1 else part[0])


def _bytes(torch, flat):
    return (torch.view_as_real(flat).view(-1) if flat.is_complex() else flat).view(torch.uint8)


def _chain(state, value, factor):
    number = (state ^ value) * factor & _WORD
    return number ^ (number >> 32)


def _folded(sums, tensor):
    lanes = [number & _WORD for number in sums[:LANES]]
    product, size = sums[LANES] & _WORD, tensor.numel() * tensor.element_size()
    low = _chain(INDEX_FACTOR, size, FIRST_CHAIN_FACTOR)
    high = _chain(_chain(INDEX_FACTOR, size, SECOND_CHAIN_FACTOR), product, SECOND_CHAIN_FACTOR)
    for lane in lanes:
        low = _chain(low, lane, FIRST_CHAIN_FACTOR)
        high = _chain(high, lane, SECOND_CHAIN_FACTOR)
    return _chain(low, 0, SECOND_CHAIN_FACTOR), _chain(high, 0, FIRST_CHAIN_FACTOR), tuple(lanes), _norm(sums[LANES + 1], tensor)


def _norm(bits, tensor):
    if not tensor.is_floating_point() or tensor.element_size() == 1:
        return math.nan
    total, = _DOUBLE.unpack(_DOUBLE_BITS.pack(bits))
    return math.sqrt(total)
