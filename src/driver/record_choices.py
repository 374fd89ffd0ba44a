"""Records what TensorRT offers for each layer and what it chooses, without influencing it: one JSON line per layer.

  {"layer", "inputs", "outputs", "dims", "choices": [CHOICE]}      while TensorRT decides; dims: those of the optimum
  {"layer", "inputs", "outputs", "dims", "chosen": CHOICE}         after its decision
  CHOICE: {"implementation", "tactic", "timingMs", "workspace",
           "io": [{"datatype", "strides", "vectorizedDim", "componentsPerElement"}]}

Ids are strings, because JSON numbers would round them. `io` has the inputs first; its last two are null before TensorRT 8.6.

TensorRT 8 to 10 report this through an IAlgorithmSelector. build_engine.py asks for it with --choices, Polygraphy with
--trt-config-postprocess-script; the environment's TRTLENS_CHOICES then names the file.
"""

import atexit
import json
import math
import os
import sys


def record(trt, config, path, warn):
    """Makes the builder write the file. If that is impossible, calls `warn` with one sentence. Returns whether it will."""
    if not hasattr(trt, "IAlgorithmSelector"):
        warn(
            "%s %s has no algorithm selector (TensorRT 8 to 10 have one), so it cannot report what it offers for a layer. "
            "The choices are not recorded." % (trt.__name__, trt.__version__)
        )
        return False
    try:
        recorder = make_recorder(trt, path, warn, config.algorithm_selector)
        config.algorithm_selector = recorder
    except Exception as error:
        warn("The choices are not recorded: %s" % error)
        return False
    atexit.register(recorder.close)  # also keeps a reference, which older bindings do not
    return True


def make_recorder(trt, path, warn, other=None):
    """A selector that writes to a file, and leaves the selection to TensorRT or to the `other` selector."""

    class Recorder(trt.IAlgorithmSelector):
        def __init__(self):
            trt.IAlgorithmSelector.__init__(self)  # required by the binding
            self._file, self._warned, self._ended = None, False, False

        def select_algorithms(self, context, choices):
            self._note(context, choices, lambda listed: {"choices": listed})
            # All of them, so TensorRT makes the choice that it would have made.
            return other.select_algorithms(context, choices) if other is not None else list(range(len(choices)))

        def report_algorithms(self, contexts, choices):
            for context, choice in zip(contexts, choices):
                self._note(context, [choice], lambda listed: {"chosen": listed[0]})
            if other is not None:
                other.report_algorithms(contexts, choices)

        def close(self):
            self._ended = True
            if self._file:
                self._file.close()

        def _note(self, context, choices, named):
            if self._ended:
                return
            try:
                count = context.num_inputs + context.num_outputs
                line = {
                    "layer": context.name,
                    "inputs": context.num_inputs,
                    "outputs": context.num_outputs,
                    "dims": [optimum(context.get_shape(index)) for index in range(count)],
                }
                line.update(named([describe(choice, count) for choice in choices]))
                text = json.dumps(line, separators=(",", ":")) + "\n"
                if self._file is None:
                    self._file = open(path, "w", encoding="ascii", newline="\n")
                self._file.write(text)
                self._file.flush()  # a build may be interrupted at any time
            except Exception as error:  # an exception here would end the build
                self._ended = isinstance(error, OSError)
                if not self._warned:
                    warn("Not all choices are recorded: %s" % error)
                self._warned = True

    return Recorder()


def optimum(shapes):
    return list(shapes[1]) if len(shapes) > 1 else None  # not known yet


def describe(choice, count):
    variant, time = choice.algorithm_variant, choice.timing_msec
    return {
        "implementation": str(variant.implementation),
        "tactic": str(variant.tactic),
        "timingMs": float("%.9g" % time) if math.isfinite(time) else None,  # it is a 32-bit float
        "workspace": choice.workspace_size,
        "io": [describe_io(choice.get_algorithm_io_info(index)) for index in range(count)],
    }


def describe_io(info):
    return {
        "datatype": info.dtype.name,
        "strides": list(info.strides),
        "vectorizedDim": getattr(info, "vectorized_dim", None),
        "componentsPerElement": getattr(info, "components_per_element", None),
    }


def postprocess_config(builder, network, config):
    """Called by Polygraphy when its configuration is complete, with its own selector for --save-tactics in it."""

    def warn(message):
        print("[W] " + message, file=sys.stderr, flush=True)

    path = os.environ.get("TRTLENS_CHOICES")
    if not path:
        return warn("The choices are not recorded: TRTLENS_CHOICES is not set to a file.")
    import tensorrt

    record(tensorrt, config, path, warn)
