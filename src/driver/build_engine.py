#!/usr/bin/env python3
"""Build an engine from an ONNX model with TensorRT or TensorRT-RTX, and report to the caller in JSON lines.

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
import os
import sys
import time

# Also works if Python must not search the script's folder (PYTHONSAFEPATH).
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import network_options  # noqa: E402
from job import Channel, JobError, Stop, remove, run  # noqa: E402
from trt_binding import find_gpu, letter, load, load_plugins  # noqa: E402


def make_logger(trt, channel):
    class Logger(trt.ILogger):
        def __init__(self):
            trt.ILogger.__init__(self)  # required by the binding
            self.errors = []
            self.built = False

        def log(self, severity, message):
            kind = letter(severity)
            if self.built and kind in "EF":
                kind = "W"  # the engine exists: a GPU that cannot load it does not fail the build
            if kind in "EF":
                self.errors.append(message)
            channel.send("log", severity=kind, message=message)

        def cause(self, otherwise):
            """The first error. Without a driver, each is followed by a CUDA error that is not a cause."""
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
            if now - self._told >= 0.05 or step + 1 == steps:  # there are tens of thousands per second
                self._told = now
                channel.send("progress", phase=phase_name, parent=parent, step=step + 1, steps=steps)
            return not (stop.asked() or channel.closed)

        def phase_finish(self, phase_name):
            self._open.pop(phase_name, None)
            channel.send("progress", phase=phase_name, finished=True)

    return Monitor()


def write_whole(path, content, stop):
    temporary = "%s.%d.tmp" % (path, os.getpid())
    stop.leftovers.add(temporary)
    try:
        with open(temporary, "wb") as file:
            file.write(content)
        stop.check()
        os.replace(temporary, path)
    except OSError as error:
        raise JobError("write", "%s: %s" % (path, error.strerror)) from None
    finally:
        remove([temporary])
        stop.leftovers.discard(temporary)


def inspect_engine(trt, logger, plan, channel):
    """The inspector's text. None if the engine cannot be loaded because it was built for another GPU."""
    try:
        engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
        if engine is not None:
            channel.send(
                "layers", text=engine.create_engine_inspector().get_engine_information(trt.LayerInformationFormat.JSON)
            )
    except Exception as error:  # the binding raises TypeError, RuntimeError and others here
        channel.send("log", severity="W", message="the engine could not be inspected: %s" % error)


def build(options, channel, stop):
    started = time.monotonic()
    trt = load(options.module)
    gpu, driver, _ = find_gpu()
    logger = make_logger(trt, channel)
    version = {
        "module": options.module,
        "version": trt.__version__,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "gpu": gpu,
        "driver": driver,
    }
    if not hasattr(trt, "ComputeCapability"):
        trt.init_libnvinfer_plugins(logger, "")
        if gpu is None:
            channel.send("start", targets=[], **version)
            raise JobError(
                "build",
                "%s %s needs an NVIDIA GPU and its driver, but found none; TensorRT-RTX builds without them"
                % (options.module, trt.__version__),
            )
    if options.plugin:
        load_plugins(trt, logger, options.plugin)
    builder = trt.Builder(logger)
    network, typed = network_options.make_network(trt, builder, options)
    config = builder.create_builder_config()
    channel.send("start", targets=network_options.set_targets(trt, config, options.compute_capability, gpu), **version)
    network_options.set_flags(trt, config, options, typed)
    if hasattr(trt, "IProgressMonitor"):
        config.progress_monitor = make_monitor(trt, channel, stop)
    cache = network_options.open_timing_cache(config, options.timing_cache) if options.timing_cache else None
    if options.choices:
        add_recorder(trt, config, options, channel)

    parser = network_options.parse_model(
        trt, network, logger, options.onnx
    )  # owns the weights: kept until the engine is built
    parsed = time.monotonic()
    ends = [
        [network_options.describe_tensor(get(index)) for index in range(count)]
        for count, get in ((network.num_inputs, network.get_input), (network.num_outputs, network.get_output))
    ]
    channel.send("network", inputs=ends[0], outputs=ends[1], layers=network.num_layers)
    network_options.set_precisions(trt, network, options)
    network_options.mark_tensors(network, options)
    network_options.add_profiles(builder, network, config, options, logger)
    stop.check()

    plan = builder.build_serialized_network(network, config)
    stop.check()
    if plan is None:
        raise JobError("build", logger.cause("TensorRT returned no engine and no reason"))
    built = time.monotonic()
    del parser
    if cache is not None:
        write_whole(options.timing_cache, config.get_timing_cache().serialize(), stop)
    if gpu:
        logger.built = True
        inspect_engine(trt, logger, plan, channel)
    if options.engine:
        write_whole(options.engine, plan, stop)
    channel.send(
        "done",
        engineBytes=plan.nbytes,
        seconds=round(time.monotonic() - started, 3),
        parseSeconds=round(parsed - started, 3),
        buildSeconds=round(built - parsed, 3),
        peakMemoryBytes=peak_memory(),
    )


def add_recorder(trt, config, options, channel):
    import record_choices  # few builds need it, and copies of the driver may lack it

    def warn(message):
        channel.send("log", severity="W", message=message)

    # TensorRT advises against reusing times of other layers with a selector, and Polygraphy does not, either.
    if record_choices.record(trt, config, options.choices, warn) and not options.timing_cache:
        config.set_flag(trt.BuilderFlag.DISABLE_TIMING_CACHE)


def peak_memory():
    try:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    except ImportError:
        return None


def arguments(argv):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add = parser.add_argument
    add("--module", default="tensorrt_rtx", choices=["tensorrt_rtx", "tensorrt"])
    add("--onnx", required=True, metavar="FILE")
    add("--engine", metavar="FILE", help="where to write the engine (if omitted, the engine is discarded)")
    add(
        "--profile",
        action="append",
        default=[],
        metavar="JSON",
        help='one optimization profile: {"input": {"min": [1], "opt": [4], "max": [8]}}',
    )
    for name in ("fp16", "bf16", "int8", "fp8", "strongly-typed"):
        add("--" + name, action="store_true")
    add("--calibration-cache", metavar="FILE", help="scales for --int8")
    add(
        "--precisions",
        metavar="FILE",
        help='JSON: {"precisions": {"layer": "fp32"}, "outputTypes": {"layer": ["fp32"]}}',
    )
    add("--precision-constraints", choices=["obey", "prefer"])
    add("--flag", action="append", default=[], metavar="NAME", help="a BuilderFlag by name, such as tf32")
    add("--pool", action="append", default=[], metavar="NAME=MIB", help="a memory pool's limit, such as workspace=1024")
    add("--no-tf32", action="store_true")
    add("--tactic-sources", metavar="+NAME,-NAME")
    add("--hardware-compatibility", metavar="LEVEL")
    add("--optimization-level", type=int, metavar="N")
    add("--profiling-verbosity", default="detailed", choices=["default", "none", "layer_names_only", "detailed"])
    add("--timing-cache", metavar="FILE", help="read if it exists, written after the build")
    add("--choices", metavar="FILE", help="record what TensorRT offers for each layer, one JSON line per layer")
    add("--compute-capability", metavar="8.9[,12.0]", help="TensorRT-RTX: the GPUs to build for, or `current`")
    add("--output", action="append", default=[], metavar="TENSOR", help="make this tensor an output")
    add("--debug", action="append", default=[], metavar="TENSOR", help="mark this tensor for debugging")
    add("--plugin", action="append", default=[], metavar="LIB", help="a library with plugins, loaded before the model")
    add("--all-outputs", action="store_true", help="make every tensor an output")
    add(
        "--grace",
        type=float,
        default=0.7,
        metavar="SECONDS",
        help="how long a cancelled build may take to stop by itself",
    )
    add("--until-stdin-closes", action="store_true", help="cancel when stdin ends, because the caller has exited")
    return parser.parse_args(argv)


def main(argv=None):
    options = arguments(argv)
    channel, stop = Channel(), Stop(options.grace)
    stop.ask_on_signals()
    if options.until_stdin_closes:
        stop.ask_when_stdin_closes()
    run(lambda: build(options, channel, stop), channel, stop)


if __name__ == "__main__":
    main()
