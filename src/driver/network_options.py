"""Applies the options of build_engine.py to a network and its builder configuration, and explains ONNX parser errors."""

import json
import os
import re

from job import JobError

TYPES = {
    "fp32": "FLOAT",
    "fp16": "HALF",
    "bf16": "BF16",
    "int8": "INT8",
    "fp8": "FP8",
    "int32": "INT32",
    "int64": "INT64",
    "bool": "BOOL",
}


def looks_like_text(path):
    with open(path, "rb") as file:
        head = file.read(512)
    text = head.decode("utf-8", "ignore")
    return len(head) - len(text.encode("utf-8")) < 4 and not re.search("[\x00-\x08\x0e-\x1f]", text)


def parse_model(trt, network, logger, path):
    if not os.path.isfile(path):
        raise JobError("parse", "%s: %s" % (path, "not a regular file" if os.path.exists(path) else "no such file"))
    if os.path.getsize(path) == 0:
        raise JobError("parse", "%s: the file is empty. Export the model again" % path)
    parser = trt.OnnxParser(network, logger)
    # From the file, not from its bytes: external weights are searched for next to it.
    if parser.parse_from_file(path):
        if network.num_outputs == 0:  # many text files are valid protobuf: an empty model
            what = "a text file" if looks_like_text(path) else "not an ONNX model, or one without outputs"
            raise JobError("parse", "%s: this is %s: TensorRT found no outputs in it" % (path, what))
        return parser
    details = [describe_error(parser.get_error(index)) for index in range(parser.num_errors)]
    weights = weights_trouble(logger.errors)
    if weights:
        raise JobError("parse", "%s: %s" % (path, weights), details, "weights-missing")
    if not details:
        raise JobError("parse", "%s: %s" % (path, logger.cause("the parser returned no reason")))
    first = details[0]
    if first["code"] == "MODEL_DESERIALIZE_FAILED":
        if looks_like_text(path):
            raise JobError("parse", "%s: this is a text file, not an ONNX model" % path)
        raise JobError("parse", "%s: not an ONNX model, or a truncated one: %s" % (path, first["message"]), details)
    where = "node %s '%s' (%s): " % (first["node"], first["nodeName"], first["operator"]) if first["operator"] else ""
    reason = "this version of TensorRT cannot run it" if first["message"] == "false" else first["message"]
    raise JobError("parse", "%s: %s%s: %s" % (path, where, first["code"], reason), details)


def weights_trouble(errors):
    """What the parser's log says about a file of external weights; its errors name only the tensor."""
    for text in errors:
        found = re.search(r"(Failed to open file|Failed to map file to memory|from external file): (.+)", text)
        if found:
            return "the weights file %s cannot be opened; put it next to the model" % found.group(2).strip()
        found = re.search(r"out of range for file: (.+?)(?: \((.*)\))?$", text)
        if found:
            return "the weights file %s is truncated, or belongs to another model (%s)" % (found.group(1), found.group(2) or text)
    return None


def describe_error(error):
    def get(field):  # older parsers lack some of them
        return getattr(error, field, lambda: None)()

    code = error.code().name  # a method where the binding was made for another Python

    return {
        "code": code() if callable(code) else code,
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
            raise JobError("arguments", "no layer of the network outputs a tensor named '%s'" % name)
    for name in options.debug:
        if not hasattr(network, "mark_debug"):
            raise JobError(
                "arguments", "--debug: this version of TensorRT has no debug tensors; use 10.0 or later"
            )
        network.mark_debug(tensors[name])
    for name, tensor in tensors.items():
        wanted = name in options.output or (options.all_outputs and not tensor.is_shape_tensor)
        if wanted and not tensor.is_network_output and not tensor.is_network_input:
            network.mark_output(tensor)


def set_precisions(trt, network, options):
    """Sets layer precisions, for versions that support them (TensorRT 8.2 to 10.x, weakly typed networks)."""
    if not options.precisions:
        return
    try:
        with open(options.precisions, encoding="utf-8") as file:
            wanted = json.load(file)
        types = dict(wanted.get("precisions", {})), dict(wanted.get("outputTypes", {}))
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise JobError("arguments", "--precisions %s: %s" % (options.precisions, error)) from None
    left = set(types[0]) | set(types[1])
    for layer in (network.get_layer(index) for index in range(network.num_layers)):
        left.discard(layer.name)
        if layer.name in types[0]:
            layer.precision = data_type(trt, types[0][layer.name], "--precisions")
        names = types[1].get(layer.name, [])
        # A single type applies to all outputs, as in trtexec.
        for index, name in enumerate((names * layer.num_outputs if len(names) == 1 else names)[: layer.num_outputs]):
            layer.set_output_type(index, data_type(trt, name, "--precisions"))
    if left:
        raise JobError(
            "arguments",
            "--precisions: no layer of the network is named %s" % ", ".join("'%s'" % name for name in sorted(left)[:5]),
        )


def data_type(trt, name, option):
    value = getattr(trt.DataType, TYPES.get(name, ""), None)
    if value is None:
        known = [short for short, long in TYPES.items() if hasattr(trt.DataType, long)]
        raise JobError("arguments", "%s: unknown value '%s'; expected one of %s" % (option, name, ", ".join(known)))
    return value


def add_profiles(builder, network, config, options, logger):
    """One optimization profile per --profile; without any, each unknown dimension is 1, as in trtexec."""
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
                raise JobError("profile", "input '%s' %s: %s" % (name, shapes, logger.cause(error))) from None
        if config.add_optimization_profile(profile) < 0:
            raise JobError("profile", logger.cause("TensorRT rejected the optimization profile"))


def read_profile(text, inputs):
    """'{"input": {"min": [1, 3], "opt": [4, 3], "max": [8, 3]}}'; a missing one equals `opt`, or whichever is given."""
    ranges = {}
    try:
        for name, given in json.loads(text).items():
            best = given.get("opt") or given.get("max") or given.get("min")
            ranges[name] = [tuple(int(size) for size in given.get(kind) or best) for kind in ("min", "opt", "max")]
    except (ValueError, AttributeError, TypeError):
        raise JobError(
            "arguments", '--profile: expected {"input": {"min": [1], "opt": [4], "max": [8]}}, got %s' % text
        ) from None
    for name in ranges:
        if name not in inputs:
            raise JobError(
                "profile", "the model has no input named '%s'; its inputs are %s" % (name, ", ".join(sorted(inputs)))
            )
    return ranges


def set_targets(trt, config, wanted, gpu):
    """Only TensorRT-RTX can build for other GPUs than the one in this machine; without a GPU there is no `current`."""
    if not hasattr(trt, "ComputeCapability"):
        if wanted:
            raise JobError("arguments", "--compute-capability: only TensorRT-RTX can build for other GPUs")
        return []
    names = [name.strip().replace(".", "").upper() for name in (wanted or ("current" if gpu else "8.9")).split(",")]
    config.num_compute_capabilities = len(names)
    for index, name in enumerate(names):
        value = getattr(
            trt.ComputeCapability, name if name == "CURRENT" or name.startswith("SM") else "SM" + name, None
        )
        if value is None or not config.set_compute_capability(value, index):
            known = ", ".join(member for member in trt.ComputeCapability.__members__ if member != "NONE")
            raise JobError("arguments", "--compute-capability: unknown value '%s'; expected one of %s" % (name, known))
    return names


def set_flags(trt, config, options, typed):
    names = [name for name in ("fp16", "bf16", "int8", "fp8") if getattr(options, name)] + options.flag
    if options.precision_constraints:
        names.append(options.precision_constraints + "_precision_constraints")
    for name in names:
        flag = getattr(trt.BuilderFlag, name.upper(), None)
        if flag is None:
            why = (
                "its networks are strongly typed and take all types from the model (Cast nodes)"
                if typed
                else "its flags are " + ", ".join(trt.BuilderFlag.__members__).lower()
            )
            raise JobError(
                "arguments", "'%s': %s %s has no such builder flag: %s" % (name, trt.__name__, trt.__version__, why)
            )
        config.set_flag(flag)
    if options.int8 and options.calibration_cache:
        config.int8_calibrator = make_calibrator(trt, options.calibration_cache)
    for text in options.pool:
        name, _, size = text.partition("=")
        if not size.isdigit():
            raise JobError("arguments", "--pool: expected NAME=MIB, got '%s'" % text)
        config.set_memory_pool_limit(member(trt, "MemoryPoolType", name, "--pool"), int(size) << 20)
    if options.no_tf32:
        config.clear_flag(trt.BuilderFlag.TF32)
    if options.hardware_compatibility:
        config.hardware_compatibility_level = member(
            trt, "HardwareCompatibilityLevel", options.hardware_compatibility, "--hardware-compatibility"
        )
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
        raise JobError("arguments", "%s: unknown value '%s'; %s %s supports %s" % (option, name, trt.__name__, trt.__version__, known))
    return value


def make_calibrator(trt, path):
    """Passes the scales of a calibration cache to TensorRT; there is no data to calibrate with."""
    if not hasattr(trt, "IInt8EntropyCalibrator2"):
        raise JobError(
            "arguments",
            "--calibration-cache: %s %s does not support calibration; use QuantizeLinear nodes" % (trt.__name__, trt.__version__),
        )
    try:
        with open(path, "rb") as file:
            cache = file.read()
    except OSError as error:
        raise JobError("arguments", "--calibration-cache %s: %s" % (path, error.strerror)) from None

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


class Timings:
    """What tactics took in builds of one process, by the options that select among them: networks that are pieces of
    another one share most of their layers."""

    #: Options that say what is built, not how.
    OF_NETWORK = ("onnx", "engine", "profile", "output")

    def __init__(self):
        self.known = {}

    def open(self, config, options):
        """The cache to build with; it must live until the engine is built."""
        cache = config.create_timing_cache(self.known.get(self.key(options), b""))
        return cache if cache is not None and config.set_timing_cache(cache, False) else None

    def keep(self, config, options):
        cache = config.get_timing_cache()
        self.known[self.key(options)] = b"" if cache is None else bytes(memoryview(cache.serialize()))

    def key(self, options):
        return str({name: value for name, value in vars(options).items() if name not in self.OF_NETWORK})


def make_network(trt, builder, options):
    flags = trt.NetworkDefinitionCreationFlag
    typed = hasattr(flags, "STRONGLY_TYPED") and not any(hasattr(trt.BuilderFlag, name) for name in ("FP16", "INT8"))
    bits = 0
    if hasattr(flags, "EXPLICIT_BATCH") and int(trt.__version__.split(".")[0]) < 10:
        bits |= 1 << int(flags.EXPLICIT_BATCH)
    if typed or options.strongly_typed:
        if not hasattr(flags, "STRONGLY_TYPED"):
            raise JobError(
                "arguments",
                "--strongly-typed: %s %s supports only weakly typed networks" % (trt.__name__, trt.__version__),
            )
        bits |= 1 << int(flags.STRONGLY_TYPED)
    return builder.create_network(bits), typed
