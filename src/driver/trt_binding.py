"""TensorRT's Python module, and the GPU that it would use. Needs nothing else; Python 3.8 or newer."""

import ctypes
import importlib
import sys

from job import JobError

SEVERITIES = {"INTERNAL_ERROR": "F", "ERROR": "E", "WARNING": "W", "INFO": "I", "VERBOSE": "V"}


def load(name):
    """Imports the binding. TensorRT-RTX's outer package may be missing if only its wheels could be installed."""
    try:
        return importlib.import_module(name)
    except Exception as first:  # a broken or missing shared library raises OSError
        if name == "tensorrt_rtx":
            try:
                return importlib.import_module("tensorrt_rtx_bindings")
            except ImportError:
                pass
        raise JobError("import", "cannot import %s with %s: %s" % (name, sys.executable, first)) from None


def load_plugins(trt, logger, libraries):
    """TensorRT's own plugins, and those of these libraries."""
    try:
        trt.init_libnvinfer_plugins(logger, "")
    except (AttributeError, RuntimeError, TypeError):
        pass  # TensorRT-RTX has none
    for library in libraries:
        try:
            handle = trt.get_plugin_registry().load_library(library)
        except (AttributeError, RuntimeError, TypeError):
            handle = None
        if handle is not None:
            continue
        try:
            ctypes.CDLL(library, ctypes.RTLD_GLOBAL)
        except OSError as error:
            raise JobError("plugin", "%s: %s" % (library, error)) from None


def find_gpu():
    """(name of the first GPU, CUDA version of the driver, compute capability), each None if there is none."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        try:
            cuda = ctypes.CDLL(library)
        except OSError:
            continue
        version, device, name = ctypes.c_int(0), ctypes.c_int(0), ctypes.create_string_buffer(256)
        if (
            cuda.cuInit(0)
            or cuda.cuDriverGetVersion(ctypes.byref(version))
            or cuda.cuDeviceGet(ctypes.byref(device), 0)
        ):
            return None, None, None
        cuda.cuDeviceGetName(name, 256, device)
        major, minor = ctypes.c_int(0), ctypes.c_int(0)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)  # COMPUTE_CAPABILITY_MAJOR
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)  # COMPUTE_CAPABILITY_MINOR
        return (
            name.value.decode("utf-8", "replace"),
            "%d.%d" % (version.value // 1000, version.value % 1000 // 10),
            "%d.%d" % (major.value, minor.value),
        )
    return None, None, None


def letter(severity):
    return SEVERITIES.get(getattr(severity, "name", str(severity).rpartition(".")[2]), "I")


def make_collector(trt):
    """A logger that keeps what TensorRT warns of, in `messages`: [{"severity": "W" | "E" | "F", "message"}]."""

    class Collector(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)  # required by the binding
            self.messages = []

        def log(self, severity, message):
            if letter(severity) in "WEF":
                self.messages.append({"severity": letter(severity), "message": message})

        def cause(self, otherwise):
            """The first error. Without a driver, each is followed by a CUDA error that is not a cause."""
            errors = (one["message"] for one in self.messages if one["severity"] in "EF")
            return next((text for text in errors if "catchCudaError" not in text), otherwise)

    return Collector()
