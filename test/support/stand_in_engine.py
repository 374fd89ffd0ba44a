"""A GPU and TensorRT's runtime as far as run_engine.py uses them: what the engine does is in its file, as JSON.

`python stand_in_engine.py RUN_ENGINE.PY ARGUMENTS` runs that script with them. An engine is {"inputs": {name: [type,
shape]}, "outputs": {name: [type, shape or null for one that depends on values, Python expression]}, "profiles": [{name:
[min, max]}]}; host memory stands for the GPU's.
"""

import ctypes
import enum
import json
import os
import runpy
import sys
import types

import numpy as np

TYPES = {"FLOAT": np.float32, "HALF": np.float16, "INT64": np.int64, "BF16": np.uint16, "BOOL": np.bool_}
DataType = enum.IntEnum("DataType", "FLOAT HALF INT64 BF16 BOOL FP8", start=0)
TensorIOMode = enum.IntEnum("TensorIOMode", "INPUT OUTPUT", start=0)
TensorLocation = enum.IntEnum("TensorLocation", "DEVICE HOST", start=0)


class ILogger:
    pass


class IOutputAllocator:
    pass


class Cuda:
    gpu, stream, blocks = "stand-in GPU", 1, {}

    def allocate(self, size):
        block = np.zeros(max(1, size), np.uint8)
        self.blocks[block.ctypes.data] = block
        return block.ctypes.data

    def free(self, address):
        del self.blocks[address]

    def copy_in(self, address, array):
        ctypes.memmove(address, array.ctypes.data, array.nbytes)

    def copy_out(self, array, address):
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def wait(self):
        pass

    def event(self):
        return object()

    def record(self, event):
        pass

    def milliseconds(self, start, end):
        return 0.25


class Context:
    def __init__(self, engine):
        self.engine, self.shapes, self.addresses, self.allocators, self.profile = engine, {}, {}, {}, 0

    def set_optimization_profile_async(self, profile, stream):
        self.profile = profile

    def set_input_shape(self, name, shape):
        low, high = self.engine.content["profiles"][self.profile].get(name, [shape, shape])
        self.shapes[name] = tuple(shape)
        return all(a <= b <= c for a, b, c in zip(low, shape, high))

    def get_tensor_shape(self, name):
        _, shape, _ = self.engine.content["outputs"][name]
        return (-1,) if shape is None else tuple(self.shapes[shape] if isinstance(shape, str) else shape)

    def set_tensor_address(self, name, address):
        self.addresses[name] = address

    def set_output_allocator(self, name, allocator):
        self.allocators[name] = allocator

    def execute_async_v3(self, stream):
        values = {"np": np}
        for name, (kind, _) in self.engine.content["inputs"].items():
            array = np.empty(self.shapes[name], TYPES[kind])
            ctypes.memmove(array.ctypes.data, self.addresses[name], array.nbytes)
            values[name] = array
        for name, (kind, _, expression) in self.engine.content["outputs"].items():
            result = np.ascontiguousarray(eval(expression, values), TYPES[kind])
            if name in self.allocators:
                self.addresses[name] = self.allocators[name].reallocate_output(name, 0, result.nbytes, 1)
                self.allocators[name].notify_shape(name, result.shape)
            ctypes.memmove(self.addresses[name], result.ctypes.data, result.nbytes)
        return True


class Engine:
    def __init__(self, content):
        self.content = content
        self.names = [*content["inputs"], *content["outputs"]]
        self.num_io_tensors, self.num_optimization_profiles = len(self.names), len(content["profiles"])
        self.get_tensor_name = self.names.__getitem__

    def get_tensor_mode(self, name):
        return TensorIOMode.INPUT if name in self.content["inputs"] else TensorIOMode.OUTPUT

    def get_tensor_dtype(self, name):
        return DataType[{**self.content["inputs"], **self.content["outputs"]}[name][0]]

    def get_tensor_shape(self, name):
        return self.content["inputs"][name][1]

    def get_tensor_location(self, name):
        return TensorLocation.DEVICE

    def create_execution_context(self):
        return Context(self)


class Runtime:
    def __init__(self, logger):
        self.logger = logger

    def deserialize_cuda_engine(self, plan):
        try:
            return Engine(json.loads(plan))
        except ValueError:
            self.logger.log(types.SimpleNamespace(name="ERROR"), "Serialization assertion failed")
            return None


def main():
    script, *arguments = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    binding = types.ModuleType("tensorrt")
    binding.__dict__.update(
        __version__="10.6.0", DataType=DataType, TensorIOMode=TensorIOMode, TensorLocation=TensorLocation,
        ILogger=ILogger, IOutputAllocator=IOutputAllocator, Runtime=Runtime,
    )  # fmt: skip
    sys.modules["tensorrt"] = binding
    import cuda_memory

    cuda_memory.Cuda = Cuda
    sys.argv = [script, *arguments]
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        assert not Cuda.blocks, "memory was not freed"


main()
