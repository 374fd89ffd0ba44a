"""Unit tests of the copies between host and GPU, against a stand-in of the driver's library."""

import ctypes
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "driver"))
import cuda_memory  # noqa: E402


class Library:
    """A stream that does its work when someone waits for it, and knows no other: a copy outside it comes too late."""

    def __init__(self):
        self.queue = []

    def cuMemcpyHtoD_v2(self, *_):
        return 0

    cuMemcpyDtoH_v2 = cuMemcpyHtoD_v2

    def cuMemcpyHtoDAsync_v2(self, to, data, size, stream):
        # Memory that is not pinned is read at once.
        held = ctypes.string_at(data, size.value)
        self.queue.append((stream.value, lambda: ctypes.memmove(to.value, held, size.value)))
        return 0

    def cuMemcpyDtoHAsync_v2(self, data, source, size, stream):
        self.queue.append((stream.value, lambda: ctypes.memmove(data, source.value, size.value)))
        return 0

    def cuStreamSynchronize(self, stream):
        queue, self.queue = self.queue, []
        for of, work in queue:
            assert of == stream.value
            work()
        return 0


class Array:
    def __init__(self, values):
        self.values = (ctypes.c_uint8 * len(values))(*values)
        self.nbytes = len(values)
        self.ctypes = self

    def data_as(self, kind):
        return ctypes.cast(self.values, kind)


class Copies(unittest.TestCase):
    def test_an_engine_reads_what_was_copied_last(self):
        cuda = cuda_memory.Cuda.__new__(cuda_memory.Cuda)
        cuda._library, cuda.stream = Library(), 7
        memory, result = (ctypes.c_uint8 * 3)(9, 9, 9), (ctypes.c_uint8 * 3)()
        cuda.copy_in(ctypes.addressof(memory), Array([1, 2, 3]))
        # The engine, in the stream.
        cuda._library.queue.append((7, lambda: ctypes.memmove(result, memory, 3)))
        got = Array([0, 0, 0])
        cuda.copy_out(got, ctypes.addressof(result))
        self.assertEqual(list(got.values), [1, 2, 3])


if __name__ == "__main__":
    unittest.main()
