"""A stand-in for TensorRT's Python module, as far as read_engine.py and timing_caches.py use it.

Signatures are those of the API reference of 10.x. An engine is a file that ends with a JSON object, behind a header:
{"name", "tensors": [{"name", "mode", "dtype", "shape", "format", "location", "profiles"?, "values"?}], "profiles",
"layers", "inspector", "level", "fails"?, "warns"?}; `fails` is the error with which loading it ends. STANDIN_VERSION is
the version; STANDIN_GPU the GPU's name, empty: no driver.
"""

import enum
import json
import os
import types

__version__ = os.environ.get("STANDIN_VERSION", "10.6.0")

if "trt_binding" in __import__("sys").modules:
    import trt_binding

    _gpu = os.environ.get("STANDIN_GPU", "Stand-in GPU")
    trt_binding.find_gpu = lambda: (_gpu, "12.8", "9.0") if _gpu else (None, None, None)

DataType = enum.IntEnum("DataType", "FLOAT HALF INT8 INT32 BOOL UINT8 FP8 BF16 INT64 INT4", start=0)
TensorIOMode = enum.IntEnum("TensorIOMode", "NONE INPUT OUTPUT", start=0)
TensorLocation = enum.IntEnum("TensorLocation", "DEVICE HOST", start=0)
HardwareCompatibilityLevel = enum.IntEnum("HardwareCompatibilityLevel", "NONE AMPERE_PLUS", start=0)
EngineCapability = enum.IntEnum("EngineCapability", "STANDARD SAFETY DLA_STANDALONE", start=0)
ProfilingVerbosity = enum.IntEnum("ProfilingVerbosity", "LAYER_NAMES_ONLY NONE DETAILED", start=0)
LayerInformationFormat = enum.IntEnum("LayerInformationFormat", "ONELINE JSON", start=0)


class ILogger:
    pass


class Engine:
    engine_capability = EngineCapability.STANDARD
    profiling_verbosity = ProfilingVerbosity.DETAILED
    refittable = False
    num_aux_streams = 1
    device_memory_size_v2 = 12_582_912
    streamable_weights_size = 0

    def __init__(self, content):
        self._content = content
        self._tensors = {tensor["name"]: tensor for tensor in content["tensors"]}
        self.name = content["name"]
        self.num_io_tensors = len(self._tensors)
        self.num_optimization_profiles = content["profiles"]
        self.num_layers = content["layers"]
        self.hardware_compatibility_level = HardwareCompatibilityLevel[content["level"]]

    def get_tensor_name(self, index):
        return list(self._tensors)[index]

    def get_tensor_mode(self, name):
        return TensorIOMode[self._tensors[name]["mode"]]

    def get_tensor_dtype(self, name):
        return DataType[self._tensors[name]["dtype"]]

    def get_tensor_shape(self, name):
        return tuple(self._tensors[name]["shape"])

    def get_tensor_format_desc(self, name):
        return self._tensors[name]["format"]

    def get_tensor_location(self, name):
        return TensorLocation[self._tensors[name].get("location", "DEVICE")]

    def is_shape_inference_io(self, name):
        return "values" in self._tensors[name]

    def get_tensor_profile_shape(self, name, profile_index):
        return [tuple(one) for one in self._tensors[name]["profiles"][profile_index]]

    def get_tensor_profile_values(self, name, profile_index):
        # The binding takes them in the other order than it names them.
        if not isinstance(name, int):
            raise TypeError("incompatible function arguments")
        return self._tensors[profile_index]["values"][name]

    def create_engine_inspector(self):
        return types.SimpleNamespace(get_engine_information=lambda kind: self._content["inspector"])


class Runtime:
    def __init__(self, logger):
        self._logger = logger

    def deserialize_cuda_engine(self, plan):
        content = json.loads(plan[plan.index(b"{") :])
        for message in content.get("warns", []):
            self._logger.log(types.SimpleNamespace(name="WARNING"), message)
        if "fails" in content:
            self._logger.log(types.SimpleNamespace(name="ERROR"), content["fails"])
            return None
        return Engine(content)


def init_libnvinfer_plugins(logger, namespace):
    return True
