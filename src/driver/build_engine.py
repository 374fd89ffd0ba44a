#!/usr/bin/env python3
"""Build an engine from an ONNX model with TensorRT or TensorRT-RTX, and tell the caller as JSON lines.

Needs Python 3.8 or newer and one of the modules `tensorrt`, `tensorrt_rtx`; nothing else. TensorRT-RTX needs neither
a GPU nor a driver to build. Each line on stdout is one JSON object; anything that native code prints goes to stderr:

  {"event": "start", "module", "version", "python", "gpu", "driver", "targets"}   gpu: its name or null
  {"event": "log", "severity": "V" | "I" | "W" | "E" | "F", "message"}
  {"event": "network", "inputs", "outputs", "layers"}                             after parsing; layers: how many
  {"event": "progress", "phase", "parent", "step", "steps"}                       step: steps done; 0: the phase begins
  {"event": "progress", "phase", "finished": true}
  {"event": "layers", "text"}                                                     the inspector's JSON, where the engine loads here
  {"event": "done", "engineBytes", "seconds", "parseSeconds", "buildSeconds", "peakMemoryBytes"}
  {"event": "error", "stage", "message", "details"}                               details: the parser's errors, with their nodes

The last line is `done` (exit status 0) or `error` (1; 2: unusable arguments; 143: cancelled by SIGTERM, SIGINT or, with
--until-stdin-closes, by the caller's end). The engine appears under its name whole or not at all.
"""
import argparse
import ctypes
import importlib
import json
import os
import re
import signal
import sys
import threading
import time

TYPES = {"fp32": "FLOAT", "fp16": "HALF", "bf16": "BF16", "int8": "INT8", "fp8": "FP8", "int32": "INT32", "int64": "INT64", "bool": "BOOL"}
SEVERITIES = {"INTERNAL_ERROR": "F", "ERROR": "E", "WARNING": "W", "INFO": "I", "VERBOSE": "V"}


class BuildError(Exception):
    """Worth one plain line. Stages: import, arguments, parse, profile, build, write, cancelled."""

    def __init__(self, stage, message, details=None):
        super().__init__(message)
        self.stage, self.details = stage, details or []


class Channel:
    """JSON lines on a private copy of stdout. Descriptor 1 itself then leads to stderr, so that no printf breaks a line."""

    def __init__(self):
        sys.stdout.flush()
        self._out = os.dup(1)
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self.closed = False

    def send(self, event, **fields):
        data = json.dumps(dict(event=event, **fields), separators=(",", ":")).encode("ascii") + b"\n"
        with self._lock:
            try:
                while data and not self.closed:
                    data = data[os.write(self._out, data) :]
            except OSError:  # nobody reads any more: the build ends at its next step
                self.closed = True


class Stop:
    """Whether somebody asked for the end, and until when the build may end by itself."""

    def __init__(self, grace):
        self._grace, self._asked, self._deadline = grace, threading.Event(), None
        self.leftovers = set()  # temporary files, removed on a hard exit

    def ask(self, *_):
        if self._deadline is None:
            self._deadline = time.monotonic() + self._grace
        self._asked.set()

    def asked(self):
        return self._asked.is_set()

    def overdue(self):
        return self._deadline is not None and time.monotonic() > self._deadline

    def check(self):
        if self.asked():
            raise BuildError("cancelled", "cancelled")


def load(name):
    """The binding. TensorRT-RTX's small outer package may be missing where only its wheels could be installed."""
    try:
        return importlib.import_module(name)
    except Exception as first:  # a broken or missing shared library raises OSError
        if name == "tensorrt_rtx":
            try:
                return importlib.import_module("tensorrt_rtx_bindings")
            except ImportError:
                pass
        raise BuildError("import", "cannot import %s with %s: %s" % (name, sys.executable, first)) from None


def find_gpu():
    """(name of the first GPU, CUDA version of the driver), each None where there is none."""
    for library in ("libcuda.so.1", "nvcuda.dll"):
        try:
            cuda = ctypes.CDLL(library)
        except OSError:
            continue
        version, device, name = ctypes.c_int(0), ctypes.c_int(0), ctypes.create_string_buffer(256)
        if cuda.cuInit(0) or cuda.cuDriverGetVersion(ctypes.byref(version)) or cuda.cuDeviceGet(ctypes.byref(device), 0):
            return None, None
        cuda.cuDeviceGetName(name, 256, device)
        return name.value.decode("utf-8", "replace"), "%d.%d" % (version.value // 1000, version.value % 1000 // 10)
    return None, None


def make_logger(trt, channel):
    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)  # the binding demands this form
            self.errors = []

        def log(self, severity, message):
            letter = SEVERITIES.get(severity.name, "I")
            if letter in "EF":
                self.errors.append(message)
            channel.send("log", severity=letter, message=message)

        def cause(self, otherwise):
            """The first error: without a driver each is followed by a CUDA error that is the cause of nothing."""
            return next((text for text in self.errors if "catchCudaError" not in text), otherwise)

    return Logger()


def make_monitor(trt, channel, stop):
    class Monitor(trt.IProgressMonitor):
        def __init__(self):
            trt.IProgressMonitor.__init__(self)
            self._open = {}
            self._told = 0.0

        def phase_start(self, phase_name, parent_phase, num_steps):
            self._open[phase_name] = (parent_phase, num_steps)
            channel.send("progress", phase=phase_name, parent=parent_phase, step=0, steps=num_steps)

        def step_complete(self, phase_name, step):
            parent, steps = self._open.get(phase_name, (None, None))
            now = time.monotonic()
            if now - self._told >= 0.05 or step + 1 == steps:  # tens of thousands come within a second
                self._told = now
                channel.send("progress", phase=phase_name, parent=parent, step=step + 1, steps=steps)
            return not (stop.asked() or channel.closed)

        def phase_finish(self, phase_name):
            self._open.pop(phase_name, None)
            channel.send("progress", phase=phase_name, finished=True)

    return Monitor()


def looks_like_text(path):
    with open(path, "rb") as file:
        head = file.read(512)
    text = head.decode("utf-8", "ignore")
    return len(head) - len(text.encode("utf-8")) < 4 and not re.search("[\x00-\x08\x0e-\x1f]", text)


def parse_model(trt, network, logger, path):
    if not os.path.isfile(path):
        raise BuildError("parse", "%s: %s" % (path, "is no file" if os.path.exists(path) else "no such file"))
    if os.path.getsize(path) == 0:
        raise BuildError("parse", "%s: the file is empty, it holds no ONNX model" % path)
    parser = trt.OnnxParser(network, logger)
    # From the file, not from its bytes: external weights are looked for beside it.
    if parser.parse_from_file(path):
        if network.num_outputs == 0:  # many a text file is valid protobuf: a model without anything in it
            what = "a text file" if looks_like_text(path) else "no ONNX model, or one without outputs"
            raise BuildError("parse", "%s: this is %s: TensorRT found no outputs in it" % (path, what))
        return parser
    details = [describe_error(parser.get_error(index)) for index in range(parser.num_errors)]
    weights = weights_trouble(logger.errors)
    if weights:
        raise BuildError("parse", "%s: %s" % (path, weights), details)
    if not details:
        raise BuildError("parse", "%s: %s" % (path, logger.cause("the parser gave no reason")))
    first = details[0]
    if first["code"] == "MODEL_DESERIALIZE_FAILED":
        what = "this is a text file" if looks_like_text(path) else "no ONNX model, or one cut off"
        raise BuildError("parse", "%s: %s: %s" % (path, what, first["message"]), details)
    where = "node %s '%s' (%s): " % (first["node"], first["nodeName"], first["operator"]) if first["operator"] else ""
    reason = "this version of TensorRT cannot run it" if first["message"] == "false" else first["message"]
    raise BuildError("parse", "%s: %s%s: %s" % (path, where, first["code"], reason), details)


def weights_trouble(errors):
    """What the parser's log says about a file of external weights; its errors name the tensor alone."""
    for text in errors:
        found = re.search(r"(Failed to open file|Failed to map file to memory|from external file): (.+)", text)
        if found:
            return "the weights file %s cannot be opened; it must lie beside the model" % found.group(2).strip()
        found = re.search(r"out of range for file: (.+?)(?: \((.*)\))?$", text)
        if found:
            return "the weights file %s is cut off, or another model's (%s)" % (found.group(1), found.group(2) or text)
    return None


def describe_error(error):
    def get(field):  # older parsers lack some
        return getattr(error, field, lambda: None)()

    return {
        "code": error.code().name,
        "message": error.desc(),
        "node": get("node"),
        "nodeName": get("node_name"),
        "operator": get("node_operator"),
        "file": get("file"),
        "line": get("line"),
        "function": get("func"),
    }


def describe_tensor(tensor):
    try:
        shape = list(tensor.shape)
    except ValueError:  # rank unknown
        shape = None
    return {"name": tensor.name, "type": tensor.dtype.name.lower(), "shape": shape}


def mark_tensors(network, options):
    """Turns tensors into outputs, by name or all of them, and marks others to be read without changing what is fused."""
    if not (options.output or options.debug or options.all_outputs):
        return
    tensors = {}
    for layer in (network.get_layer(index) for index in range(network.num_layers)):
        for tensor in (layer.get_output(index) for index in range(layer.num_outputs)):
            if tensor is not None:
                tensors.setdefault(tensor.name, tensor)
    for name in options.output + options.debug:
        if name not in tensors:
            raise BuildError("arguments", "no layer of the network gives a tensor named '%s'" % name)
    for name in options.debug:
        if not hasattr(network, "mark_debug"):
            raise BuildError("arguments", "--debug: this version of TensorRT has no debug tensors (10.0 and later have)")
        network.mark_debug(tensors[name])
    for name, tensor in tensors.items():
        wanted = name in options.output or (options.all_outputs and not tensor.is_shape_tensor)
        if wanted and not tensor.is_network_output and not tensor.is_network_input:
            network.mark_output(tensor)


def set_precisions(trt, network, options):
    """Precision by layer, for the versions that know it (TensorRT 8.2 to 10.x, weakly typed networks)."""
    if not options.precisions:
        return
    try:
        with open(options.precisions, encoding="utf-8") as file:
            wanted = json.load(file)
        types = dict(wanted.get("precisions", {})), dict(wanted.get("outputTypes", {}))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise BuildError("arguments", "--precisions %s: %s" % (options.precisions, error)) from None
    left = set(types[0]) | set(types[1])
    for layer in (network.get_layer(index) for index in range(network.num_layers)):
        left.discard(layer.name)
        if layer.name in types[0]:
            layer.precision = data_type(trt, types[0][layer.name], "--precisions")
        for index, name in enumerate(types[1].get(layer.name, [])[: layer.num_outputs]):
            layer.set_output_type(index, data_type(trt, name, "--precisions"))
    if left:
        raise BuildError("arguments", "--precisions: no layer of the network is named %s" % ", ".join("'%s'" % name for name in sorted(left)[:5]))


def data_type(trt, name, option):
    value = getattr(trt.DataType, TYPES.get(name, ""), None)
    if value is None:
        known = [short for short, long in TYPES.items() if hasattr(trt.DataType, long)]
        raise BuildError("arguments", "%s: '%s' is none of %s" % (option, name, ", ".join(known)))
    return value


def add_profiles(builder, network, config, options, logger):
    """One optimization profile per --profile; without any, each unknown dimension is 1, as trtexec has it."""
    inputs = {tensor.name: tensor for tensor in (network.get_input(index) for index in range(network.num_inputs))}
    dynamic = {name: tensor for name, tensor in inputs.items() if -1 in tuple(tensor.shape)}
    for text in options.profile or (["{}"] if dynamic else []):
        ranges = read_profile(text, inputs)
        profile = builder.create_optimization_profile()
        for name, tensor in inputs.items():
            if name not in ranges and name not in dynamic:
                continue
            low, best, high = ranges.get(name) or [tuple(1 if size < 0 else size for size in tensor.shape)] * 3
            setter = profile.set_shape_input if tensor.is_shape_tensor else profile.set_shape
            try:
                setter(name, low, best, high)
            except (ValueError, RuntimeError, TypeError) as error:
                shapes = "%s: min %s, opt %s, max %s" % (tuple(tensor.shape), low, best, high)
                raise BuildError("profile", "input '%s' %s: %s" % (name, shapes, logger.cause(error))) from None
        if config.add_optimization_profile(profile) < 0:
            raise BuildError("profile", logger.cause("TensorRT refused the optimization profile"))


def read_profile(text, inputs):
    """'{"input": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}'; left out: as `opt`, or as whichever is given."""
    ranges = {}
    try:
        for name, given in json.loads(text).items():
            best = given.get("opt") or given.get("max") or given.get("min")
            ranges[name] = [tuple(int(size) for size in given.get(kind) or best) for kind in ("min", "opt", "max")]
    except (ValueError, AttributeError, TypeError):
        raise BuildError("arguments", '--profile: expected {"input": {"min": [1], "opt": [4], "max": [8]}}, got %s' % text) from None
    for name in ranges:
        if name not in inputs:
            raise BuildError("profile", "no input is named '%s'; the model's inputs: %s" % (name, ", ".join(sorted(inputs))))
    return ranges


def set_targets(trt, config, wanted, gpu):
    """TensorRT-RTX alone can build for other GPUs than the one at hand; without one there is no `current`."""
    if not hasattr(trt, "ComputeCapability"):
        if wanted:
            raise BuildError("arguments", "--compute-capability: only TensorRT-RTX builds for other GPUs")
        return []
    names = [name.strip().replace(".", "").upper() for name in (wanted or ("current" if gpu else "8.9")).split(",")]
    config.num_compute_capabilities = len(names)
    for index, name in enumerate(names):
        value = getattr(trt.ComputeCapability, name if name == "CURRENT" or name.startswith("SM") else "SM" + name, None)
        if value is None or not config.set_compute_capability(value, index):
            known = ", ".join(member for member in trt.ComputeCapability.__members__ if member != "NONE")
            raise BuildError("arguments", "--compute-capability: '%s' is none of %s" % (name, known))
    return names


def set_flags(trt, config, options, typed):
    names = [name for name in ("fp16", "bf16", "int8", "fp8") if getattr(options, name)] + options.flag
    if options.precision_constraints:
        names.append(options.precision_constraints + "_precision_constraints")
    for name in names:
        flag = getattr(trt.BuilderFlag, name.upper(), None)
        if flag is None:
            why = "networks are strongly typed there, types come from the model (Cast nodes)" if typed else "it knows: " + ", ".join(trt.BuilderFlag.__members__).lower()
            raise BuildError("arguments", "'%s': %s %s has no such builder flag: %s" % (name, trt.__name__, trt.__version__, why))
        config.set_flag(flag)
    if options.int8 and options.calibration_cache:
        config.int8_calibrator = make_calibrator(trt, options.calibration_cache)
    for text in options.pool:
        name, _, size = text.partition("=")
        if not size.isdigit():
            raise BuildError("arguments", "--pool: expected NAME=MIB, got '%s'" % text)
        config.set_memory_pool_limit(member(trt, "MemoryPoolType", name, "--pool"), int(size) << 20)
    if options.no_tf32:
        config.clear_flag(trt.BuilderFlag.TF32)
    if options.hardware_compatibility:
        config.hardware_compatibility_level = member(trt, "HardwareCompatibilityLevel", options.hardware_compatibility, "--hardware-compatibility")
    if options.tactic_sources:
        sources = config.get_tactic_sources()
        for text in options.tactic_sources.split(","):
            bit = 1 << int(member(trt, "TacticSource", text.lstrip("+-"), "--tactic-sources"))
            sources = sources & ~bit if text.startswith("-") else sources | bit
        config.set_tactic_sources(sources)
    if options.optimization_level is not None:
        config.builder_optimization_level = options.optimization_level
    if options.profiling_verbosity != "default":
        config.profiling_verbosity = getattr(trt.ProfilingVerbosity, options.profiling_verbosity.upper())


def member(trt, kind, name, option):
    value = getattr(getattr(trt, kind, None), name.upper(), None)
    if value is None:
        known = ", ".join(getattr(getattr(trt, kind, None), "__members__", [])).lower() or "nothing"
        raise BuildError("arguments", "%s: '%s': %s %s knows %s" % (option, name, trt.__name__, trt.__version__, known))
    return value


def make_calibrator(trt, path):
    """Gives TensorRT the scales of a calibration cache; there is no data to calibrate with."""
    if not hasattr(trt, "IInt8EntropyCalibrator2"):
        raise BuildError("arguments", "--calibration-cache: %s %s has no calibration: use QuantizeLinear nodes" % (trt.__name__, trt.__version__))
    try:
        with open(path, "rb") as file:
            cache = file.read()
    except OSError as error:
        raise BuildError("arguments", "--calibration-cache %s: %s" % (path, error.strerror)) from None

    class Calibrator(trt.IInt8EntropyCalibrator2):
        def __init__(self):
            trt.IInt8EntropyCalibrator2.__init__(self)

        def get_batch_size(self):
            return 1

        def get_batch(self, names):
            return None

        def read_calibration_cache(self):
            return cache

        def write_calibration_cache(self, cache):
            pass

    return Calibrator()


def open_timing_cache(config, path):
    """An unreadable cache or one of another version is replaced: it only saves time."""
    content = b""
    if os.path.exists(path):
        with open(path, "rb") as file:
            content = file.read()
    cache = (config.create_timing_cache(content) if content else None) or config.create_timing_cache(b"")
    return cache if cache is not None and config.set_timing_cache(cache, False) else None


def write_whole(path, content, stop):
    temporary = "%s.%d.tmp" % (path, os.getpid())
    stop.leftovers.add(temporary)
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        stop.check()
        os.replace(temporary, path)
    except OSError as error:
        raise BuildError("write", "%s: %s" % (path, error.strerror)) from None
    finally:
        remove([temporary])
        stop.leftovers.discard(temporary)


def remove(paths):
    for path in list(paths):
        try:
            os.unlink(path)
        except OSError:
            pass


def inspect_engine(trt, logger, plan, channel):
    """The inspector's text. An engine that was built for another GPU cannot be loaded: then there is none."""
    try:
        engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
        if engine is not None:
            channel.send("layers", text=engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON))
    except Exception as error:  # the binding raises TypeError, RuntimeError and others here
        channel.send("log", severity="W", message="the engine could not be inspected: %s" % error)


def make_network(trt, builder, options):
    flags = trt.NetworkDefinitionCreationFlag
    typed = hasattr(flags, "STRONGLY_TYPED") and not any(hasattr(trt.BuilderFlag, name) for name in ("FP16", "INT8"))
    bits = 0
    if hasattr(flags, "EXPLICIT_BATCH") and int(trt.__version__.split(".")[0]) < 10:
        bits |= 1 << int(flags.EXPLICIT_BATCH)
    if typed or options.strongly_typed:
        if not hasattr(flags, "STRONGLY_TYPED"):
            raise BuildError("arguments", "--strongly-typed: %s %s knows weakly typed networks only" % (trt.__name__, trt.__version__))
        bits |= 1 << int(flags.STRONGLY_TYPED)
    return builder.create_network(bits), typed


def build(options, channel, stop):
    started = time.monotonic()
    trt = load(options.module)
    gpu, driver = find_gpu()
    logger = make_logger(trt, channel)
    version = {"module": options.module, "version": trt.__version__, "python": "%d.%d.%d" % sys.version_info[:3], "gpu": gpu, "driver": driver}
    if not hasattr(trt, "ComputeCapability"):
        trt.init_libnvinfer_plugins(logger, "")
        if gpu is None:
            channel.send("start", targets=[], **version)
            raise BuildError("build", "%s %s needs an NVIDIA GPU and its driver, and none was found; TensorRT-RTX builds without" % (options.module, trt.__version__))
    builder = trt.Builder(logger)
    network, typed = make_network(trt, builder, options)
    config = builder.create_builder_config()
    channel.send("start", targets=set_targets(trt, config, options.compute_capability, gpu), **version)
    set_flags(trt, config, options, typed)
    if hasattr(trt, "IProgressMonitor"):
        config.progress_monitor = make_monitor(trt, channel, stop)
    cache = open_timing_cache(config, options.timing_cache) if options.timing_cache else None

    parser = parse_model(trt, network, logger, options.onnx)  # owns the weights: kept until the engine is built
    parsed = time.monotonic()
    ends = [[describe_tensor(get(index)) for index in range(count)] for count, get in ((network.num_inputs, network.get_input), (network.num_outputs, network.get_output))]
    channel.send("network", inputs=ends[0], outputs=ends[1], layers=network.num_layers)
    set_precisions(trt, network, options)
    mark_tensors(network, options)
    add_profiles(builder, network, config, options, logger)
    stop.check()

    plan = builder.build_serialized_network(network, config)
    stop.check()
    if plan is None:
        raise BuildError("build", logger.cause("TensorRT gave no engine and no reason"))
    built = time.monotonic()
    del parser
    if cache is not None:
        write_whole(options.timing_cache, config.get_timing_cache().serialize(), stop)
    if gpu:
        inspect_engine(trt, logger, plan, channel)
    if options.engine:
        write_whole(options.engine, plan, stop)
    channel.send("done", engineBytes=plan.nbytes, seconds=round(time.monotonic() - started, 3), parseSeconds=round(parsed - started, 3),
                 buildSeconds=round(built - parsed, 3), peakMemoryBytes=peak_memory())


def peak_memory():
    try:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    except ImportError:
        return None


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = parser.add_argument
    add("--module", default="tensorrt_rtx", choices=["tensorrt_rtx", "tensorrt"])
    add("--onnx", required=True, metavar="FILE")
    add("--engine", metavar="FILE", help="where the engine goes (left out: built and dropped)")
    add("--profile", action="append", default=[], metavar="JSON", help='one optimization profile: {"input": {"min": [1], "opt": [4], "max": [8]}}')
    for name in ("fp16", "bf16", "int8", "fp8", "strongly-typed"):
        add("--" + name, action="store_true")
    add("--calibration-cache", metavar="FILE", help="scales for --int8")
    add("--precisions", metavar="FILE", help='JSON: {"precisions": {"layer": "fp32"}, "outputTypes": {"layer": ["fp32"]}}')
    add("--precision-constraints", choices=["obey", "prefer"])
    add("--flag", action="append", default=[], metavar="NAME", help="a BuilderFlag by name, such as tf32")
    add("--pool", action="append", default=[], metavar="NAME=MIB", help="a memory pool's limit, such as workspace=1024")
    add("--no-tf32", action="store_true")
    add("--tactic-sources", metavar="+NAME,-NAME")
    add("--hardware-compatibility", metavar="LEVEL")
    add("--optimization-level", type=int, metavar="N")
    add("--profiling-verbosity", default="detailed", choices=["default", "none", "layer_names_only", "detailed"])
    add("--timing-cache", metavar="FILE", help="read where it exists, written after the build")
    add("--compute-capability", metavar="8.9[,12.0]", help="TensorRT-RTX: the GPUs to build for, or `current`")
    add("--output", action="append", default=[], metavar="TENSOR", help="make this tensor an output")
    add("--debug", action="append", default=[], metavar="TENSOR", help="mark this tensor for debugging")
    add("--all-outputs", action="store_true", help="make every tensor an output")
    add("--grace", type=float, default=1.0, metavar="SECONDS", help="how long a cancelled build may take to end by itself")
    add("--until-stdin-closes", action="store_true", help="cancel when stdin ends: the caller is gone")
    return parser.parse_args(argv)


def main(argv=None):
    options = arguments(argv)
    channel, stop, status = Channel(), Stop(options.grace), []
    for name in ("SIGTERM", "SIGINT"):
        signal.signal(getattr(signal, name), stop.ask)

    def work():
        try:
            build(options, channel, stop)
            status.append(0)
        except BuildError as error:
            status.append({"arguments": 2, "cancelled": 143}.get(error.stage, 1))
            channel.send("error", stage=error.stage, message=str(error), details=error.details)
        except BaseException as error:  # nothing may end without its last line
            status.append(1)
            channel.send("error", stage="internal", message="%s: %s" % (type(error).__name__, error), details=[])

    def listen():
        while os.read(0, 4096):
            pass
        stop.ask()

    if options.until_stdin_closes:
        threading.Thread(target=listen, daemon=True).start()
    # Python runs signal handlers in the main thread only, which must therefore not be the one inside the builder.
    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.05)
        if stop.overdue():
            channel.send("error", stage="cancelled", message="cancelled", details=[])
            remove(stop.leftovers)
            os._exit(143)
    os._exit(status[0])  # at once: the binding's own teardown may crash after a failed build


if __name__ == "__main__":
    main()
