"""Memory of an NVIDIA GPU through the driver's own library, which is wherever a GPU can be used. Needs nothing else."""

import ctypes
import sys


class CudaError(Exception):
    pass


class Cuda:
    """The first GPU. Addresses are integers."""

    def __init__(self):
        name = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
        try:
            self._library = ctypes.CDLL(name)
        except OSError as error:
            raise CudaError(f"no NVIDIA driver: {error}") from None
        self._call("cuInit", 0)
        device, self._context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        label = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", label, 256, device)
        self.gpu = label.value.decode("utf-8", "replace")
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self._call("cuCtxSetCurrent", self._context)
        stream = ctypes.c_void_p()
        self._call("cuStreamCreate", ctypes.byref(stream), 1)
        self.stream = stream.value

    def _call(self, name, *args):
        status = getattr(self._library, name)(*args)
        if status != 0:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(status, ctypes.byref(text))
            raise CudaError(f"{name}: {(text.value or b'error').decode()} ({status})")

    def allocate(self, size):
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(1, size)))
        return address.value

    def free(self, address):
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def memory(self):
        """(free, total) bytes of the GPU"""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    # Both in the stream of the engine, which no other stream waits for: cuMemcpyHtoD returns before small arrays arrive.
    def copy_in(self, address, array):
        if array.nbytes:
            self._call("cuMemcpyHtoDAsync_v2", ctypes.c_uint64(address), *self._extent(array))

    def copy_out(self, array, address):
        if array.nbytes:
            data, size, stream = self._extent(array)
            self._call("cuMemcpyDtoHAsync_v2", data, ctypes.c_uint64(address), size, stream)
            self.wait()

    def _extent(self, array):
        return array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), ctypes.c_void_p(self.stream)

    def wait(self):
        self._call("cuStreamSynchronize", ctypes.c_void_p(self.stream))

    def event(self):
        event = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def record(self, event):
        self._call("cuEventRecord", event, ctypes.c_void_p(self.stream))

    def milliseconds(self, start, end):
        """Between two recorded events, once the second was reached."""
        time = ctypes.c_float()
        self._call("cuEventSynchronize", end)
        self._call("cuEventElapsedTime", ctypes.byref(time), start, end)
        return time.value
