"""The digests with torch's own operations are those of libinquest, bit for bit. Shown on the CPU: the operations are the same."""
import math
import os
import random
import sys
import unittest
import weakref
from unittest import mock

from hook_case import HOOK, LIBRARY, TorchCase

DTYPES = ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
          "complex128", "float8_e5m2")


class DeviceDigest(TorchCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        global device_digest, digest_library, torch
        import torch

        os.environ["INQUEST_LIBRARY"] = LIBRARY
        if HOOK not in sys.path:
            sys.path.insert(0, HOOK)
        from inquest_hook import device_digest, digest_library

    def assert_same(self, tensors):
        on_host = digest_library.Digester().digest(tensors)
        for tensor, one, (low, high, lanes, norm) in zip(tensors, on_host, device_digest.digest(tensors)):
            text = "%s %s %s" % (tensor.dtype, tuple(tensor.shape), tensor.stride())
            self.assertEqual((one.low, one.high, tuple(one.lane)), (low, high, lanes), text)
            self.assertEqual(math.isnan(one.norm), math.isnan(norm), text)
            if not math.isnan(norm) and not math.isinf(norm):
                self.assertLessEqual(abs(one.norm - norm), 1e-9 * abs(norm), text)

    def random_tensor(self, generator, dtype, shape):
        count = 1
        for size in shape:
            count *= size
        width = torch.empty(0, dtype=getattr(torch, dtype)).element_size()
        data = bytes(generator.getrandbits(8) % (2 if dtype == "bool" else 256) for _ in range(count * width))
        if not data:
            return torch.empty(shape, dtype=getattr(torch, dtype))
        return torch.frombuffer(bytearray(data), dtype=getattr(torch, dtype)).reshape(shape)

    def test_all_types_and_shapes(self):
        generator = random.Random(5)
        shapes = ((), (0,), (1,), (3,), (7, 5), (16, 16), (2, 3, 5, 7), (257,), (1, 1))
        self.assert_same([self.random_tensor(generator, dtype, shape) for dtype in DTYPES for shape in shapes])

    def test_views(self):
        generator = random.Random(6)
        for dtype in DTYPES:
            base = self.random_tensor(generator, dtype, (6, 10, 9))
            self.assert_same([
                base.t() if base.dim() == 2 else base.permute(2, 0, 1), base[1:, ::3], base[2][3:], base[:, :, 1], base[0, 0, 1:],
                base[:1].expand(4, 10, 9), base.contiguous().view(-1)[1:]])

    def test_tensors_of_one_size_together(self):
        generator = random.Random(8)
        tensors = [self.random_tensor(generator, dtype, (5, 3)) for dtype in DTYPES for _ in range(4)]
        tensors += [torch.empty(0, 2), torch.empty(2, 0)]
        self.assert_same(tensors + [one.t() for one in tensors])

    def test_chunks_meet_without_a_seam(self):
        generator = random.Random(7)
        whole = device_digest.CHUNK_BYTES
        device_digest.CHUNK_BYTES = 256
        self.addCleanup(setattr, device_digest, "CHUNK_BYTES", whole)
        tensors = [self.random_tensor(generator, dtype, (13, 11, 9)) for dtype in ("float32", "int8", "complex64", "bfloat16")]
        self.assert_same(tensors + [one.permute(1, 2, 0) for one in tensors] + [one[:, 1:, ::2] for one in tensors])

    def test_a_device_without_memory_is_refused(self):
        with self.assertRaises(digest_library.Undigestable):
            digest_library.Digester().digest([torch.empty(3, device="meta")])

    def test_memory_that_is_replaced_meanwhile_is_kept(self):
        tensor = torch.ones(8)
        storages = []

        def replace(*_):
            storages.append(weakref.ref(tensor.untyped_storage()))
            tensor.data = torch.zeros(8)
            self.assertIsNotNone(storages[0]())
            return 0

        with mock.patch.object(digest_library, "library") as library:
            library.return_value.inquest_digest_tensors.side_effect = replace
            digest_library.Digester().digest([tensor])
        self.assertIsNone(storages[0]())

    def test_a_device_that_stands_still_is_not_waited_for(self):
        stream, event = mock.Mock(), mock.Mock()
        stream.record_event.return_value = event
        with mock.patch.object(torch.cuda, "current_stream", return_value=stream), \
                mock.patch.object(device_digest, "SETTLE_SECONDS", 0.01):
            event.query.side_effect = [False, True]
            self.assertTrue(device_digest.settles({torch.device("cuda", 0)}))
            event.query.side_effect = None
            event.query.return_value = False
            self.assertFalse(device_digest.settles({torch.device("cuda", 0)}))
        self.assertTrue(device_digest.settles(set()))


if __name__ == "__main__":
    unittest.main()
