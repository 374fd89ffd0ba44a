#!/usr/bin/env python3
"""Build, run and free many engines in one process: to load TensorRT takes ten times longer than to build a small network.

Needs a GPU, NumPy, and the module `tensorrt` (8.5 or newer) or `tensorrt_rtx`. A conversation (`conversation.py`); the
request of the job: {"module": "tensorrt" | "tensorrt_rtx", "plugins": [path]}. Events before the first answer:
{"event": "start", "module", "version", "gpu", "computeCapability"}. Requests:

  build   {"engine": ID, "args": [...], "log": path, "layers": path or null}   args: options of `build_engine.py`
          answer {"seconds", "engineBytes"}; refused `build`, `parse`, `profile`, …: with TensorRT's reason
  load    {"engine": ID, "path"}             an engine that exists; answer {}
  run     {"engine": ID, "inputs": [path], "inputTypes": null, "outputs": path, "time": bool}
          answer {"outputs": [{"name", "shape", "type"}], "milliseconds", "samples"}; outputs: an .npz as `run_engine.py` writes
  free    {"engine": ID}                     answer {"freeBytes", "totalBytes"} of the GPU's memory
"""

import gc
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import build_engine  # noqa: E402
import conversation  # noqa: E402
import job  # noqa: E402
import network_options  # noqa: E402
import tensor_files  # noqa: E402
from cuda_memory import Cuda, CudaError  # noqa: E402
from job import JobError  # noqa: E402
from run_engine import Engine, read_plan  # noqa: E402
from trt_binding import find_gpu, letter, load, load_plugins  # noqa: E402


def make_logger(trt):
    class Logger(trt.ILogger):
        """TensorRT keeps the first logger of a process: this one writes where the request at hand wants it."""

        def __init__(self):
            trt.ILogger.__init__(self)
            self.file, self.errors = None, []

        def log(self, severity, message):
            kind = letter(severity)
            if kind in "EF":
                self.errors.append(message)
            if self.file is not None:
                self.file.write("[%s] [TRT] %s\n" % (kind, message))

        def cause(self, otherwise):
            return next((text for text in self.errors if "catchCudaError" not in text), otherwise)

        def begin(self, path):
            self.end()
            self.errors = []
            self.file = open(path, "w", encoding="utf-8", errors="replace") if path else None

        def end(self):
            if self.file is not None:
                self.file.close()
                self.file = None

    return Logger()


class Silent:
    """What a build would report to an editor; the caller of a conversation gets answers only."""

    closed = False

    def __init__(self):
        self.layers = None

    def send(self, event, **fields):
        if event == "layers":
            self.layers = fields["text"]


class Worker:
    def __init__(self, trt, cuda, stop):
        self.trt, self.cuda, self.stop = trt, cuda, stop
        self.logger = make_logger(trt)
        #: One for all: a new one loads its kernels again, which takes seconds.
        self.builder = trt.Builder(self.logger)
        self.engines = {}
        self.timings = network_options.Timings()

    def build(self, engine, args, log, layers):
        started = time.monotonic()
        try:
            options = build_engine.arguments(args)
        except SystemExit:
            raise conversation.Refused("arguments", "unusable options of a build: %s" % " ".join(args)) from None
        self.logger.begin(log)
        try:
            plan, text = self.plan_of(options)
            self.engines[engine] = Engine(self.trt, self.logger, plan, engine, self.cuda)
        except JobError as error:
            raise conversation.Refused(error.stage, str(error)) from None
        finally:
            self.logger.end()
        if layers and text is not None:
            with open(layers, "w", encoding="utf-8") as file:
                file.write(text)
        return {"seconds": round(time.monotonic() - started, 3), "engineBytes": plan.nbytes}

    def plan_of(self, options):
        trt, logger = self.trt, self.logger
        builder = self.builder
        network, typed = network_options.make_network(trt, builder, options)
        config = builder.create_builder_config()
        network_options.set_targets(trt, config, options.compute_capability, True)
        network_options.set_flags(trt, config, options, typed)
        if hasattr(trt, "IProgressMonitor"):
            config.progress_monitor = build_engine.make_monitor(trt, Silent(), self.stop)
        if options.timing_cache:
            network_options.open_timing_cache(config, options.timing_cache)
        timings = None if options.timing_cache else self.timings.open(config, options)
        parser = network_options.parse_model(trt, network, logger, options.onnx)
        network_options.set_precisions(trt, network, options)
        network_options.mark_tensors(network, options)
        network_options.add_profiles(builder, network, config, options, logger)
        self.stop.check()
        plan = builder.build_serialized_network(network, config)
        self.stop.check()
        if plan is None:
            raise JobError("build", logger.cause("TensorRT returned no engine and no reason"))
        del parser
        if options.timing_cache and config.get_timing_cache() is not None:
            build_engine.write_whole(options.timing_cache, config.get_timing_cache().serialize(), self.stop)
        if timings is not None:
            self.timings.keep(config, options)
        if options.engine:
            build_engine.write_whole(options.engine, plan, self.stop)
        reported = Silent()
        build_engine.inspect_engine(trt, logger, plan, reported)
        return plan, reported.layers

    def load(self, engine, path):
        try:
            self.engines[engine] = Engine(self.trt, self.logger, read_plan(path), path, self.cuda)
        except JobError as error:
            raise conversation.Refused(error.stage, str(error)) from None
        return {}

    def run(self, engine, inputs, outputs, time=False):
        loaded = self.engines[engine]
        stored, milliseconds = {}, None
        try:
            samples, _ = tensor_files.model_samples(inputs, loaded.inputs(), 0)
            for number, sample in enumerate(samples, 1):
                self.stop.check()
                made, spent = loaded.run(sample, time and number == 1)
                milliseconds = spent if number == 1 else milliseconds
                stored.update({name if number == 1 else "%s#%d" % (name, number): value for name, value in made.items()})
        except JobError as error:
            raise conversation.Refused(error.stage, str(error)) from None
        tensor_files.write_npz(outputs, stored, self.stop.leftovers)
        described = [{"name": name, "shape": list(value.shape), "type": str(value.dtype)} for name, value in stored.items()]
        return {"outputs": described, "milliseconds": milliseconds, "samples": len(samples)}

    def free(self, engine):
        self.engines.pop(engine, None)
        gc.collect()
        free, total = self.cuda.memory()
        return {"freeBytes": free, "totalBytes": total}


def handle(request, channel, stop):
    trt = load(request["module"])
    try:
        cuda = Cuda()
        _, _, capability = find_gpu()
        worker = Worker(trt, cuda, stop)
        load_plugins(trt, worker.logger, request.get("plugins", []))
        channel.send("start", module=trt.__name__, version=trt.__version__, gpu=cuda.gpu, computeCapability=capability)
        does = {name: getattr(worker, name) for name in ("build", "load", "run", "free")}
        # An error of CUDA spoils the process: the caller starts another one.
        conversation.converse(does, channel, stop, [(tensor_files.Unfit, "inputs"), (CudaError, "cuda")])
    except CudaError as error:
        raise JobError("cuda", str(error)) from None
    return None


if __name__ == "__main__":
    job.serve(handle)
