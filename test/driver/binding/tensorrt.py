"""A stand-in for TensorRT's Python module up to 10.x, as far as a build that records choices needs it.

It plays recorded choices (the environment's STANDIN_CHOICES, one JSON line a layer) to the algorithm selector, as the
API reference and the binding's sources have it: the base class must be initialized, objects live as long as the call
that brings them, the builder keeps no Python object alive, and an exception or another answer than a list of indices
ends the build. STANDIN_VERSION is the version; from 11 on there is no selector.
"""

import enum
import gc
import json
import os
import sys
import types
import weakref

__version__ = os.environ.get("STANDIN_VERSION", "10.6.0")

# The driver looks for a GPU by itself; here there is none, and none is needed.
_main = sys.modules["__main__"]
if hasattr(_main, "find_gpu"):
    _main.find_gpu = lambda: ("Stand-in", "12.8", "9.0")

DataType = enum.IntEnum("DataType", "FLOAT HALF INT8 INT32 BOOL UINT8 FP8 BF16 INT64 INT4", start=0)
DataType.__str__ = lambda kind: "DataType." + kind.name
ProfilingVerbosity = enum.IntEnum("ProfilingVerbosity", "LAYER_NAMES_ONLY DETAILED NONE", start=0)
BuilderFlag = enum.IntEnum("BuilderFlag", "FP16 INT8 TF32 DISABLE_TIMING_CACHE", start=0)
NetworkDefinitionCreationFlag = enum.IntEnum("NetworkDefinitionCreationFlag", "EXPLICIT_BATCH STRONGLY_TYPED", start=0)
LayerInformationFormat = enum.IntEnum("LayerInformationFormat", "ONELINE JSON", start=0)


class ILogger:
    pass


class IAlgorithmSelector:
    def __init__(self):
        self.initialized = True


class Lent:
    """What native code owns: read-only, and gone when the call is over."""

    def __init__(self, call, **values):
        object.__setattr__(self, "_call", call)
        object.__setattr__(self, "_values", values)

    def __getattr__(self, name):
        if not self._call["open"]:
            raise RuntimeError("%s was read after the call that it was valid for" % name)
        try:
            return self._values[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, name, value):
        raise AttributeError("can't set attribute")


class Dims:
    """A sequence, but no list."""

    def __init__(self, sizes):
        self._sizes = tuple(sizes)

    def __len__(self):
        return len(self._sizes)

    def __getitem__(self, index):
        return self._sizes[index]


def lend_context(call, record):
    shapes = [[Dims(sizes)] * 3 for sizes in record["dims"]]
    return Lent(
        call,
        name=record["layer"],
        num_inputs=record["inputs"],
        num_outputs=record["outputs"],
        get_shape=lambda index: shapes[index],
    )


def lend_algorithm(call, choice):
    infos = [
        Lent(
            call,
            dtype=DataType[io["datatype"]],
            strides=Dims(io["strides"]),
            vectorized_dim=io["vectorizedDim"],
            components_per_element=io["componentsPerElement"],
        )
        for io in choice["io"]
    ]
    variant = Lent(call, implementation=int(choice["implementation"]), tactic=int(choice["tactic"]))
    return Lent(
        call,
        algorithm_variant=variant,
        timing_msec=choice["timingMs"],
        workspace_size=choice["workspace"],
        get_algorithm_io_info=lambda index: infos[index],
    )


class Config:
    def __init__(self):
        self.flags = set()
        self._selector = None

    @property
    def algorithm_selector(self):
        return self._selector and self._selector()

    @algorithm_selector.setter
    def algorithm_selector(self, selector):
        if not isinstance(selector, IAlgorithmSelector) or not getattr(selector, "initialized", False):
            raise TypeError("incompatible function arguments")
        self._selector = weakref.ref(selector)

    def set_flag(self, flag):
        self.flags.add(BuilderFlag(flag))

    def get_timing_cache(self):
        return None


class Network:
    num_inputs = num_outputs = 1
    num_layers = 2

    def get_input(self, index):
        return types.SimpleNamespace(name="input", shape=(1, 3, 224, 224), dtype=DataType.FLOAT)

    def get_output(self, index):
        return types.SimpleNamespace(name="output", shape=(1, 1000), dtype=DataType.FLOAT)


class Plan(bytes):
    nbytes = 6


class Builder:
    def __init__(self, logger):
        self.logger = logger

    def create_network(self, bits):
        return Network()

    def create_builder_config(self):
        return Config()

    def build_serialized_network(self, network, config):
        with open(os.environ["STANDIN_CHOICES"], encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        gc.collect()
        chosen = choose(config, [record for record in records if "choices" in record])
        if chosen is None:
            # TensorRT 10.6's own words.
            text = "Algorithm selection failed with `selectAlgorithms` returning a negative value -1."
            self.logger.log(types.SimpleNamespace(name="ERROR"), text)
            return None
        config.chosen = chosen
        return Plan(b"engine")


def choose(config, records):
    """What the builder takes for each layer; None where the selector fails. Without one: the fastest of all."""
    selector = config.algorithm_selector if config._selector else None
    if config._selector and selector is None:
        raise SystemError("the selector is gone: a crash in native code")
    chosen = []
    for record in records:
        allowed = list(range(len(record["choices"])))
        if selector is not None:
            call = {"open": True}
            lent = [lend_algorithm(call, choice) for choice in record["choices"]]
            try:
                answer = selector.select_algorithms(lend_context(call, record), lent)
            except Exception as error:
                print("[ERROR] Exception caught in select_algorithms(): %s" % error, file=sys.stderr)
                return None
            call["open"] = False
            if not isinstance(answer, list) or not all(isinstance(index, int) for index in answer):
                return None
            allowed = answer or allowed
        best = min(allowed, key=lambda index: record["choices"][index]["timingMs"])
        # What was chosen comes without its time, as it does from TensorRT 8.6 and 10.6.
        chosen.append((record, dict(record["choices"][best], timingMs=0, workspace=0)))
    if selector is not None:
        call = {"open": True}
        try:
            selector.report_algorithms(
                [lend_context(call, record) for record, _ in chosen], [lend_algorithm(call, one) for _, one in chosen]
            )
        except Exception as error:
            print("[ERROR] Exception caught in report_algorithms(): %s" % error, file=sys.stderr)
        call["open"] = False
    return [choice for _, choice in chosen]


class OnnxParser:
    num_errors = 0

    def __init__(self, network, logger):
        pass

    def parse_from_file(self, path):
        return True


class Runtime:
    def __init__(self, logger):
        pass

    def deserialize_cuda_engine(self, plan):
        return None


def init_libnvinfer_plugins(logger, namespace):
    return True


if int(__version__.split(".")[0]) >= 11:
    del IAlgorithmSelector, Config.algorithm_selector
