"""A stand-in for TensorRT's Python module, as far as read_engine.py and timing_caches.py use it.

Signatures are those of the API reference of 10.x. An engine is a file that ends with a JSON object, behind a header:
{"name", "tensors": [{"name", "mode", "dtype", "shape", "format", "location", "profiles"?, "values"?}], "profiles",
"layers", "inspector", "level", "fails"?, "warns"?}; `fails` is the error with which loading it ends. STANDIN_VERSION is
the version; STANDIN_GPU the GPU's name, empty: no driver.
"""

import enum
import json
import os
import struct
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

    def __init__(self, content, logger):
        self._content, self._logger = content, logger
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

    def get_tensor_format_desc(self, name, profile_index=None):
        if profile_index is None and self.num_optimization_profiles > 1:
            # TensorRT's own words.
            text = "The engine contains %d profiles. ICudaEngine::getTensorFormatDesc(char const* tensorName) only returns results for profile 0."
            self._logger.log(types.SimpleNamespace(name="WARNING"), text % self.num_optimization_profiles)
        formats = self._tensors[name]["format"]
        return formats if isinstance(formats, str) else formats[profile_index or 0]

    @property
    def device_memory_size(self):
        raise AssertionError("deprecated since 10.1")

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
        return Engine(content, self._logger)


def init_libnvinfer_plugins(logger, namespace):
    return True


class TimingCacheKey:
    def __init__(self, text):
        self._text = text

    @staticmethod
    def parse(text):
        return TimingCacheKey(text)

    def __str__(self):
        return self._text


class TimingCacheValue:
    def __init__(self, tacticHash, timingMSec):
        self.tacticHash, self.timingMSec = tacticHash, timingMSec


class TimingCache:
    """{"device", "entries": {key: [hash, milliseconds]}} behind a header like that of a real cache."""

    def __init__(self, content):
        self.content = content

    def combine(self, input_cache, ignore_mismatch):
        if self.content["device"] != input_cache.content["device"] and not ignore_mismatch:
            return False
        self.content["entries"] = {**input_cache.content["entries"], **self.content["entries"]}
        return True

    def serialize(self):
        body = json.dumps(self.content).encode()
        lists = (struct.pack("<IQ", 0x00018013, 0) + b"\x01\x80" + struct.pack("<IQ", 0x0001800C, 0)) * 2
        rest = lists + struct.pack("<IQ", 0x00018008, len(self.content["entries"])) + body
        return b"ptrt" + struct.pack("<IQI", 0xEF, len(rest), 0) + rest


def has_keys():
    return tuple(int(part) for part in __version__.split(".")[:2]) >= (10, 8)


if has_keys():

    def query_keys(self):
        if self.content.get("hidden"):
            raise RuntimeError("queryKeys failed")
        return [TimingCacheKey(key) for key in self.content["entries"]]

    def query(self, key):
        return TimingCacheValue(*self.content["entries"][str(key)])

    def update(self, key, value):
        if not self.content.get("editable") or str(key) not in self.content["entries"]:
            return False
        if value.timingMSec != value.timingMSec:
            del self.content["entries"][str(key)]
        else:
            self.content["entries"][str(key)] = [value.tacticHash, value.timingMSec]
        return True

    TimingCache.queryKeys, TimingCache.query, TimingCache.update = query_keys, query, update

BuilderFlag = enum.IntEnum("BuilderFlag", "FP16 EDITABLE_TIMING_CACHE" if has_keys() else "FP16", start=0)


class Config:
    def __init__(self, logger):
        self._logger = logger

    def set_flag(self, flag):
        pass

    def create_timing_cache(self, serialized):
        try:
            return TimingCache(json.loads(serialized[serialized.index(b"{") :]))
        except ValueError:
            # TensorRT's own words, in their order.
            for text in ("The timing cache will not be used!", "Failed to deserialize timing cache. Returning an empty timing cache."):
                self._logger.log(types.SimpleNamespace(name="WARNING"), text)
            return TimingCache({"device": None, "entries": {}})


class Builder:
    def __init__(self, logger):
        self._logger = logger

    def create_builder_config(self):
        return Config(self._logger)
