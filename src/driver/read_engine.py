#!/usr/bin/env python3
"""Describe an engine through TensorRT's Python API: what it needs, whether it loads here, its layers.

Needs the module `tensorrt` (8.5 or newer) or `tensorrt_rtx`, and a GPU to load the engine; without one, TensorRT-RTX
still recognizes files that are no engine of its own. Writes JSON lines (`job.py`); the result of the last one:

  {"module", "version"}
  "gpu": {"name", "computeCapability", "cuda"} | null       cuda: the version that the driver supports; null: no driver
  "validity": {"verdict": "VALID" | "SUBOPTIMAL" | "INVALID", "reasons": [flag]} | null   TensorRT-RTX's own check of the header
  "engine": {...} | null                                    see `describe`; null: it was not loaded, `error` says why
  "layers": TEXT | null                                     the inspector's JSON
  "messages": [{"severity": "W" | "E" | "F", "message"}]    what TensorRT warned of
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import job  # noqa: E402
import trt_binding  # noqa: E402
from job import JobError  # noqa: E402

TYPES = {"FLOAT": "fp32", "HALF": "fp16"}


def arguments(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", required=True, choices=["tensorrt", "tensorrt_rtx"])
    parser.add_argument("--engine", required=True)
    parser.add_argument("--plugin", action="append", default=[], help="library with plugins, loaded before the engine")
    parser.add_argument("--allow-host-code", action="store_true", help="run code that a version-compatible engine contains")
    return parser.parse_args(argv)


def attempt(get):
    """What this version of TensorRT has no name for is None."""
    try:
        return get()
    except (AttributeError, RuntimeError, TypeError):
        return None


def name_of(value):
    """The name of an enumerator."""
    return None if value is None else getattr(value, "name", str(value).rpartition(".")[2])


def describe(trt, engine):
    profiles = engine.num_optimization_profiles
    return {
        "name": engine.name,
        "tensors": [describe_tensor(trt, engine, engine.get_tensor_name(i), profiles) for i in range(engine.num_io_tensors)],
        "profiles": profiles,
        "layers": engine.num_layers,
        "auxStreams": attempt(lambda: engine.num_aux_streams),
        "deviceMemory": device_memory(engine),
        "streamableWeights": attempt(lambda: engine.streamable_weights_size),
        "refittable": attempt(lambda: engine.refittable),
        "hardwareCompatibility": name_of(attempt(lambda: engine.hardware_compatibility_level)),
        "capability": name_of(attempt(lambda: engine.engine_capability)),
        "profilingVerbosity": name_of(attempt(lambda: engine.profiling_verbosity)),
    }


def device_memory(engine):
    """The newer name first: later versions warn of the older one."""
    size = attempt(lambda: engine.device_memory_size_v2)
    return attempt(lambda: engine.device_memory_size) if size is None else size


def describe_tensor(trt, engine, name, profiles):
    kind = name_of(engine.get_tensor_dtype(name))
    is_input = engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT
    shapes = [attempt(lambda p=p: ranges(engine.get_tensor_profile_shape(name, p))) for p in range(profiles)] if is_input else []
    # Inputs that are shapes have ranges of values, too.
    is_shape = is_input and attempt(lambda: engine.is_shape_inference_io(name)) is True
    values = [attempt(lambda p=p: ranges(profile_values(engine, name, p))) for p in range(profiles)] if is_shape else None
    return {
        "name": name,
        "mode": "input" if is_input else "output",
        "type": TYPES.get(kind, kind.lower()),
        "shape": list(engine.get_tensor_shape(name)),
        "format": formats(engine, name, profiles),
        "location": name_of(attempt(lambda: engine.get_tensor_location(name))),
        "profiles": shapes,
        "values": values,
    }


def formats(engine, name, profiles):
    """One text, or one for each optimization profile where they differ."""
    texts = [attempt(lambda p=p: engine.get_tensor_format_desc(name, p)) for p in range(profiles)]
    if None in texts:
        return attempt(lambda: engine.get_tensor_format_desc(name))
    if len(set(texts)) == 1:
        return texts[0]
    return "; ".join("profile %d: %s" % one for one in enumerate(texts))


def profile_values(engine, name, profile):
    """Versions differ in the order of the arguments."""
    try:
        return engine.get_tensor_profile_values(name, profile)
    except TypeError:
        return engine.get_tensor_profile_values(profile, name)


def ranges(triple):
    """Smallest, best and largest."""
    return dict(zip(("min", "opt", "max"), (list(one) for one in triple)))


def validity(trt, runtime, header, gpu):
    """TensorRT-RTX's own check. Without a driver only what it says of the file counts."""
    check = getattr(runtime, "get_engine_validity", None)
    if check is None:
        return None
    verdict, bits = check(header[: runtime.engine_header_size])
    reasons = [name for name, flag in trt.EngineInvalidityDiagnostics.__members__.items() if bits & int(flag.value)]
    return {"verdict": name_of(verdict), "reasons": reasons} if gpu or "MALFORMED_ENGINE" in reasons else None


def read_engine(options, channel, stop):
    trt = trt_binding.load(options.module)
    try:
        with open(options.engine, "rb") as file:
            plan = file.read()
    except OSError as error:
        raise JobError("engine", "%s: %s" % (options.engine, error.strerror)) from None
    name, cuda, capability = trt_binding.find_gpu()
    gpu = None if name is None else {"name": name, "computeCapability": capability, "cuda": cuda}
    logger = trt_binding.make_collector(trt)
    result = {
        "module": options.module, "version": trt.__version__, "gpu": gpu, "messages": logger.messages,
        "validity": None, "engine": None, "error": None, "layers": None,
    }  # fmt: skip
    if gpu is None and not hasattr(trt.Runtime, "get_engine_validity"):
        result["error"] = "no NVIDIA driver was found, which TensorRT needs to load an engine"
        return result
    trt_binding.load_plugins(trt, logger, options.plugin)
    runtime = trt.Runtime(logger)
    result["validity"] = validity(trt, runtime, plan, gpu)
    if gpu is None:
        result["error"] = "no NVIDIA driver was found, which TensorRT-RTX needs to load an engine"
        return result
    if options.allow_host_code:
        runtime.engine_host_code_allowed = True
    stop.check()
    engine = runtime.deserialize_cuda_engine(plan)
    stop.check()
    if engine is None:
        result["error"] = logger.cause("TensorRT returned no engine and no reason")
        return result
    result["engine"] = describe(trt, engine)
    text = engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON)
    result["layers"] = text or None  # empty: built without profiling verbosity, or the inspector failed
    return result


def main(argv=None):
    channel, stop = job.Channel(), job.Stop(2.0)
    stop.ask_on_signals()
    stop.ask_when_stdin_closes()
    options = arguments(argv)
    job.run(lambda: channel.send("done", result=read_engine(options, channel, stop)), channel, stop)


if __name__ == "__main__":
    main()
