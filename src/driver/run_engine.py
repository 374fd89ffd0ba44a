#!/usr/bin/env python3
"""Run an engine with TensorRT's Python API and store its outputs.

Needs a GPU, NumPy, and the module `tensorrt` (8.5 or newer) or `tensorrt_rtx`. Writes JSON lines (`job.py`):

  {"event": "start", "module", "version", "gpu"}
  {"event": "log", "severity": "V" | "I" | "W" | "E" | "F", "message"}
  {"event": "done", "result": {"outputs": [{"name", "shape", "type"}], "milliseconds", "samples"}}

The output is an .npz with the outputs of the first sample under their names; further samples are NAME#2, NAME#3, …
`milliseconds`: the least of ten runs after one that does not count.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402

import job  # noqa: E402
import tensor_files  # noqa: E402
from cuda_memory import Cuda, CudaError  # noqa: E402
from job import JobError  # noqa: E402
from trt_binding import letter, load, load_plugins  # noqa: E402

RUNS = 10


def arguments(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", required=True, choices=["tensorrt", "tensorrt_rtx"])
    parser.add_argument("--engine", required=True)
    parser.add_argument("--input", action="append", default=[])
    parser.add_argument("--output", required=True)
    parser.add_argument("--plugin", action="append", default=[], help="library with plugins, loaded before the engine")
    return parser.parse_args(argv)


def dtypes(trt):
    """NumPy's type of each type of TensorRT; None for those that NumPy has not."""
    kinds = {
        "FLOAT": np.float32, "HALF": np.float16, "INT8": np.int8, "INT32": np.int32, "BOOL": np.bool_,
        "UINT8": np.uint8, "INT64": np.int64, "BF16": None,
    }  # fmt: skip
    return {getattr(trt.DataType, name): kind for name, kind in kinds.items() if hasattr(trt.DataType, name)}


def to_bf16(values):
    """The upper halves of FP32 numbers, rounded to even; NaN stays NaN."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7FC0), rounded)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


class Engine:
    """An engine in the GPU's memory. `plan`: its bytes; `name`: what errors call it."""

    def __init__(self, trt, logger, plan, name, cuda):
        self.trt, self.cuda = trt, cuda
        self.runtime = trt.Runtime(logger)
        self.engine = self.runtime.deserialize_cuda_engine(plan)
        if self.engine is None:
            raise JobError("engine", f"{name}: TensorRT {trt.__version__} cannot load this engine on this GPU; its log says why")
        self.names = [self.engine.get_tensor_name(i) for i in range(self.engine.num_io_tensors)]
        self.context = self.engine.create_execution_context()
        if self.context is None:
            raise JobError("engine", "TensorRT cannot create an execution context; its log says why")
        self.types = dtypes(trt)
        self.profile = 0

    def is_input(self, name):
        return self.engine.get_tensor_mode(name) == self.trt.TensorIOMode.INPUT

    def type_of(self, name):
        kind = self.engine.get_tensor_dtype(name)
        if kind not in self.types:
            raise JobError("engine", f"tensor '{name}' has type {kind}, which cannot be read here")
        return self.types[kind]

    def on_host(self, name):
        return self.engine.get_tensor_location(name) == self.trt.TensorLocation.HOST

    def inputs(self):
        """What the engine takes, as `tensor_files.model_samples` wants it."""
        found = []
        for name in filter(self.is_input, self.names):
            shape = [None if dim < 0 else dim for dim in self.engine.get_tensor_shape(name)]
            dtype = self.type_of(name)
            kind = "float" if dtype is None else [key for key, value in tensor_files.DTYPES.items() if value is dtype][0]
            found.append({"name": name, "type": kind, "shape": shape, "random": {"shape": shape, "values": "normal"}})
        return found

    def choose_profile(self, sample):
        """The first optimization profile that takes these shapes."""
        for profile in range(self.engine.num_optimization_profiles):
            if profile != self.profile:
                self.context.set_optimization_profile_async(profile, self.cuda.stream)
                self.cuda.wait()
                self.profile = profile
            if all(self.context.set_input_shape(name, value.shape) for name, value in sample.items()):
                return
        shapes = ", ".join(f"{name} {tensor_files.text(value.shape)}" for name, value in sample.items())
        raise JobError("inputs", f"no optimization profile of the engine takes these shapes: {shapes}")

    def run(self, sample, time):
        """(outputs by name, milliseconds or None)"""
        self.choose_profile(sample)
        held, outputs, allocators = [], {}, {}
        try:
            for name, value in sample.items():
                data = to_bf16(value) if self.type_of(name) is None else value
                data = np.ascontiguousarray(data)
                if self.on_host(name):
                    held.append((data, None))
                    self.context.set_tensor_address(name, data.ctypes.data)
                    continue
                held.append((data, self.cuda.allocate(data.nbytes)))
                self.cuda.copy_in(held[-1][1], data)
                self.context.set_tensor_address(name, held[-1][1])
            for name in (name for name in self.names if not self.is_input(name)):
                allocators[name] = self.prepare(name, held, outputs)
            milliseconds = self.execute(time)
            return {name: self.fetch(name, outputs[name], allocators[name]) for name in outputs}, milliseconds
        finally:
            for _, address in held:
                if address is not None:
                    self.cuda.free(address)

    def prepare(self, name, held, outputs):
        """Memory for an output: now, or when TensorRT knows its shape."""
        shape = tuple(self.context.get_tensor_shape(name))
        dtype = self.type_of(name) or np.uint16
        if any(dim < 0 for dim in shape):
            allocator = make_allocator(self.trt, self.cuda, held)
            self.context.set_output_allocator(name, allocator)
            outputs[name] = None
            return allocator
        data = np.empty(shape, dtype)
        if self.on_host(name):
            self.context.set_tensor_address(name, data.ctypes.data)
            outputs[name] = (data, None)
            return None
        address = self.cuda.allocate(data.nbytes)
        held.append((data, address))
        self.context.set_tensor_address(name, address)
        outputs[name] = (data, address)
        return None

    def execute(self, time):
        def once():
            if not self.context.execute_async_v3(self.cuda.stream):
                raise JobError("run", "TensorRT could not run the engine; its log says why")

        once()
        self.cuda.wait()
        if not time:
            return None
        best = None
        for _ in range(RUNS):
            start, end = self.cuda.event(), self.cuda.event()
            self.cuda.record(start)
            once()
            self.cuda.record(end)
            spent = self.cuda.milliseconds(start, end)
            best = spent if best is None else min(best, spent)
        return best

    def fetch(self, name, output, allocator):
        dtype = self.type_of(name)
        if output is None:
            output = np.empty(allocator.shape, dtype or np.uint16), allocator.address
        data, address = output
        if address is not None:
            self.cuda.copy_out(data, address)
        return from_bf16(data) if dtype is None else data


def read_plan(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise JobError("engine", f"{path}: {error.strerror}") from None


def make_allocator(trt, cuda, held):
    class Allocator(trt.IOutputAllocator):
        """Memory for an output whose shape depends on values."""

        def __init__(self):
            trt.IOutputAllocator.__init__(self)
            self.address, self.size, self.shape = 0, 0, ()

        def reallocate_output(self, name, memory, size, alignment):
            if size > self.size or not self.address:
                self.address, self.size = cuda.allocate(size), size
                held.append((None, self.address))
            return self.address

        def reallocate_output_async(self, name, memory, size, alignment, stream):
            return self.reallocate_output(name, memory, size, alignment)

        def notify_shape(self, name, shape):
            self.shape = tuple(shape)

    return Allocator()


def make_logger(trt, channel):
    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)

        def log(self, severity, message):
            if letter(severity) != "V":
                channel.send("log", severity=letter(severity), message=message)

    return Logger()


def run_engine(options, channel, stop):
    trt = load(options.module)
    try:
        cuda = Cuda()
        channel.send("start", module=trt.__name__, version=trt.__version__, gpu=cuda.gpu)
        logger = make_logger(trt, channel)
        if options.plugin:
            load_plugins(trt, logger, options.plugin)
        engine = Engine(trt, logger, read_plan(options.engine), options.engine, cuda)
        samples, _ = tensor_files.model_samples(options.input, engine.inputs(), 0)
        stored, milliseconds = {}, None
        for number, sample in enumerate(samples, 1):
            stop.check()
            outputs, spent = engine.run(sample, number == 1)
            milliseconds = spent if number == 1 else milliseconds
            stored.update({name if number == 1 else f"{name}#{number}": value for name, value in outputs.items()})
    except CudaError as error:
        raise JobError("cuda", str(error)) from None
    except tensor_files.Unfit as error:
        raise JobError("inputs", str(error)) from None
    tensor_files.write_npz(options.output, stored, stop.leftovers)
    described = [{"name": name, "shape": list(value.shape), "type": str(value.dtype)} for name, value in stored.items()]
    return {"outputs": described, "milliseconds": milliseconds, "samples": len(samples)}


def main(argv=None):
    channel, stop = job.Channel(), job.Stop(2.0)
    stop.ask_on_signals()
    stop.ask_when_stdin_closes()
    options = arguments(argv)
    job.run(lambda: channel.send("done", result=run_engine(options, channel, stop)), channel, stop)


if __name__ == "__main__":
    main()
