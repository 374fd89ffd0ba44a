"""Unit tests of the driver: arguments, profiles, flags and files, with a stand-in for the binding.

The stand-in has the names that TensorRT 10 and TensorRT-RTX give and remembers what it was told; what TensorRT itself
makes of it is tested with the real TensorRT-RTX in driver.test.ts.
"""

import contextlib
import enum
import io
import json
import os
import sys
import tempfile
import types
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "driver"))
import build_engine  # noqa: E402
import network_options  # noqa: E402
from job import JobError  # noqa: E402


class Binding(types.SimpleNamespace):
    """TensorRT 10.6 as far as the driver uses it."""

    __version__ = "10.6.0"
    __name__ = "tensorrt"
    BuilderFlag = enum.IntEnum(
        "BuilderFlag",
        "FP16 BF16 INT8 FP8 TF32 VERSION_COMPATIBLE OBEY_PRECISION_CONSTRAINTS PREFER_PRECISION_CONSTRAINTS",
        start=0,
    )
    DataType = enum.IntEnum("DataType", "FLOAT HALF INT8 INT32 BOOL INT64 BF16", start=0)
    MemoryPoolType = enum.IntEnum("MemoryPoolType", "WORKSPACE TACTIC_DRAM", start=0)
    ProfilingVerbosity = enum.IntEnum("ProfilingVerbosity", "LAYER_NAMES_ONLY DETAILED NONE", start=0)
    TacticSource = enum.IntEnum("TacticSource", "CUBLAS CUDNN JIT_CONVOLUTIONS", start=0)
    NetworkDefinitionCreationFlag = enum.IntEnum(
        "NetworkDefinitionCreationFlag", "EXPLICIT_BATCH STRONGLY_TYPED", start=0
    )
    HardwareCompatibilityLevel = enum.IntEnum("HardwareCompatibilityLevel", "NONE AMPERE_PLUS", start=0)


class Config:
    def __init__(self):
        self.flags, self.pools, self.profiles, self.sources = {Binding.BuilderFlag.TF32}, {}, [], 0b011
        self.timing_cache = None

    def set_flag(self, flag):
        self.flags.add(flag)

    def clear_flag(self, flag):
        self.flags.discard(flag)

    def set_memory_pool_limit(self, pool, size):
        self.pools[pool] = size

    def get_tactic_sources(self):
        return self.sources

    def set_tactic_sources(self, sources):
        self.sources = sources

    def add_optimization_profile(self, profile):
        self.profiles.append(profile.shapes)
        return len(self.profiles) - 1

    def create_timing_cache(self, content):
        return None if content == b"of another version" else content

    def set_timing_cache(self, cache, _ignore):
        self.timing_cache = cache
        return True

    def get_timing_cache(self):
        return types.SimpleNamespace(serialize=lambda: self.timing_cache + b" measured")


class Profile:
    def __init__(self):
        self.shapes = {}

    def set_shape(self, name, low, best, high):
        if not all(a <= b <= c for a, b, c in zip(low, best, high)):
            raise ValueError("inconsistent")
        self.shapes[name] = (low, best, high)


class Tensor(types.SimpleNamespace):
    is_shape_tensor = is_network_input = is_network_output = False


class Layer:
    def __init__(self, name, outputs):
        self.name, self.outputs, self.types = name, outputs, {}
        self.num_outputs = len(outputs)
        self.precision = None

    def get_output(self, index):
        return self.outputs[index]

    def set_output_type(self, index, kind):
        self.types[index] = kind


class Network:
    def __init__(self, inputs=(), layers=()):
        self.inputs, self.layers = inputs, layers
        self.num_inputs, self.num_layers = len(inputs), len(layers)
        self.marked, self.debug = [], []

    def get_input(self, index):
        return self.inputs[index]

    def get_layer(self, index):
        return self.layers[index]

    def mark_output(self, tensor):
        self.marked.append(tensor.name)

    def mark_debug(self, tensor):
        self.debug.append(tensor.name)


class Builder:
    def create_optimization_profile(self):
        return Profile()

    def create_network(self, bits):
        return bits


class Logger:
    errors = []

    def cause(self, otherwise):
        return otherwise


def parse(*args):
    return build_engine.arguments(["--onnx", "model.onnx", *args])


class Arguments(unittest.TestCase):
    def test_refuses_what_it_does_not_know(self):
        for args in (["--fp17"], ["--module", "torch"], ["--optimization-level", "high"]):
            with self.subTest(args), contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit) as caught:
                parse(*args)
            self.assertEqual(caught.exception.code, 2)

    def test_takes_no_abbreviations(self):
        with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
            parse("--strongly")

    def test_values_may_begin_with_a_dash(self):
        self.assertEqual(parse("--output=-1", "--output=--all-outputs").output, ["-1", "--all-outputs"])


class Profiles(unittest.TestCase):
    inputs = [Tensor(name="a:b,c", shape=(-1, 3)), Tensor(name="fixed", shape=(2, 2))]

    def add(self, *texts):
        config = Config()
        options = parse(*["--profile=" + text for text in texts])
        network_options.add_profiles(Builder(), Network(self.inputs), config, options, Logger())
        return config.profiles

    def test_one_for_each_option(self):
        texts = [json.dumps({"a:b,c": {"min": [1, 3], "opt": [top, 3], "max": [top, 3]}}) for top in (4, 8)]
        self.assertEqual(
            [shapes["a:b,c"] for shapes in self.add(*texts)], [((1, 3), (4, 3), (4, 3)), ((1, 3), (8, 3), (8, 3))]
        )

    def test_the_optimum_stands_in_for_what_is_left_out(self):
        self.assertEqual(self.add('{"a:b,c": {"opt": [4, 3]}}'), [{"a:b,c": ((4, 3),) * 3}])

    def test_without_any_unknown_dimensions_are_1(self):
        self.assertEqual(self.add(), [{"a:b,c": ((1, 3),) * 3}])

    def test_none_where_nothing_is_dynamic(self):
        config = Config()
        network_options.add_profiles(Builder(), Network(self.inputs[1:]), config, parse(), Logger())
        self.assertEqual(config.profiles, [])

    def test_names_the_inputs_where_a_name_is_wrong(self):
        with self.assertRaises(JobError) as caught:
            self.add('{"image": {"opt": [1, 3]}}')
        self.assertEqual(caught.exception.stage, "profile")
        self.assertIn("'image'", str(caught.exception))
        self.assertIn("a:b,c, fixed", str(caught.exception))

    def test_says_the_shapes_that_do_not_fit_together(self):
        with self.assertRaises(JobError) as caught:
            self.add('{"a:b,c": {"min": [8, 3], "opt": [4, 3], "max": [2, 3]}}')
        self.assertIn("min (8, 3), opt (4, 3), max (2, 3)", str(caught.exception))

    def test_refuses_other_text(self):
        for text in ("", "[]", '{"a:b,c": 3}', '{"a:b,c": {}}', '{"a:b,c": {"opt": ["x"]}}'):
            with self.subTest(text), self.assertRaises(JobError) as caught:
                self.add(text)
            self.assertEqual(caught.exception.stage, "arguments")


class Flags(unittest.TestCase):
    def set(self, *args, trt=Binding, typed=False):
        config = Config()
        network_options.set_flags(trt, config, parse(*args), typed)
        return config

    def test_precision(self):
        flags = Binding.BuilderFlag
        self.assertEqual(
            self.set("--fp16", "--precision-constraints=obey").flags,
            {flags.TF32, flags.FP16, flags.OBEY_PRECISION_CONSTRAINTS},
        )
        self.assertEqual(self.set("--no-tf32").flags, set())

    def test_says_what_a_version_lacks_and_why(self):
        class Newer(Binding):
            BuilderFlag = enum.IntEnum("BuilderFlag", "TF32", start=0)
            __version__ = "11.2.1"

        with self.assertRaises(JobError) as caught:
            self.set("--fp16", trt=Newer, typed=True)
        self.assertIn("strongly typed", str(caught.exception))
        self.assertIn("11.2.1", str(caught.exception))

    def test_pools_are_in_mib(self):
        self.assertEqual(self.set("--pool=workspace=64").pools, {Binding.MemoryPoolType.WORKSPACE: 64 << 20})
        for text in ("workspace", "workspace=1G", "lake=3"):
            with self.subTest(text), self.assertRaises(JobError):
                self.set("--pool=" + text)

    def test_tactic_sources_are_added_and_taken_away(self):
        self.assertEqual(self.set("--tactic-sources=+JIT_CONVOLUTIONS,-CUBLAS").sources, 0b110)

    def test_strong_typing_is_asked_for_or_the_only_way(self):
        self.assertEqual(network_options.make_network(Binding, Builder(), parse())[0], 0)
        self.assertEqual(network_options.make_network(Binding, Builder(), parse("--strongly-typed"))[0], 0b10)

        class Old(Binding):
            NetworkDefinitionCreationFlag = enum.IntEnum("NetworkDefinitionCreationFlag", "EXPLICIT_BATCH", start=0)
            __version__ = "8.6.1"

        self.assertEqual(network_options.make_network(Old, Builder(), parse())[0], 0b1)
        with self.assertRaises(JobError):
            network_options.make_network(Old, Builder(), parse("--strongly-typed"))

    def test_only_tensorrt_rtx_builds_for_other_gpus(self):
        with self.assertRaises(JobError) as caught:
            network_options.set_targets(Binding, Config(), "8.9", None)
        self.assertIn("TensorRT-RTX", str(caught.exception))


class Layers(unittest.TestCase):
    def setUp(self):
        self.layers = [Layer("/a/Conv", [Tensor(name="x")]), Layer("/b/Softmax", [Tensor(name="y"), None])]
        self.network = Network(layers=self.layers)

    def precisions(self, content):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(content)
            file.flush()
            network_options.set_precisions(Binding, self.network, parse("--precisions=" + file.name))

    def test_precision_and_output_types_by_name(self):
        self.precisions(
            '{"precisions": {"/b/Softmax": "fp32"}, "outputTypes": {"/b/Softmax": ["fp32", "int32", "int8"]}}'
        )
        self.assertIsNone(self.layers[0].precision)
        self.assertEqual(self.layers[1].precision, Binding.DataType.FLOAT)
        self.assertEqual(self.layers[1].types, {0: Binding.DataType.FLOAT, 1: Binding.DataType.INT32})

    def test_one_output_type_is_for_all_outputs(self):
        self.precisions('{"precisions": {}, "outputTypes": {"/b/Softmax": ["fp32"]}}')
        self.assertEqual(self.layers[1].types, {0: Binding.DataType.FLOAT, 1: Binding.DataType.FLOAT})

    def test_a_name_that_matches_nothing_is_an_error(self):
        with self.assertRaises(JobError) as caught:
            self.precisions('{"precisions": {"/b/softmax": "fp32"}}')
        self.assertIn("'/b/softmax'", str(caught.exception))

    def test_other_content_is_an_error(self):
        for content in ("", "[]", '{"precisions": {"/a/Conv": "half"}}', '{"precisions": 3}'):
            with self.subTest(content), self.assertRaises(JobError) as caught:
                self.precisions(content)
            self.assertEqual(caught.exception.stage, "arguments")

    def test_outputs(self):
        network_options.mark_tensors(self.network, parse("--output=y", "--debug=x"))
        self.assertEqual((self.network.marked, self.network.debug), (["y"], ["x"]))
        with self.assertRaises(JobError) as caught:
            network_options.mark_tensors(self.network, parse("--output=z"))
        self.assertIn("'z'", str(caught.exception))

    def test_every_output_but_shapes(self):
        self.layers[0].outputs[0].is_shape_tensor = True
        network_options.mark_tensors(self.network, parse("--all-outputs"))
        self.assertEqual(self.network.marked, ["y"])


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_written_whole(self):
        build_engine.write_whole(self.path("engine"), b"new", build_engine.Stop(1))
        self.assertEqual(os.listdir(self.folder.name), ["engine"])

    def test_cancelled_while_writing_leaves_nothing(self):
        stop = build_engine.Stop(1)
        stop.ask()
        with self.assertRaises(JobError) as caught:
            build_engine.write_whole(self.path("engine"), b"new", stop)
        self.assertEqual(caught.exception.stage, "cancelled")
        self.assertEqual(os.listdir(self.folder.name), [])

    def test_no_such_folder(self):
        with self.assertRaises(JobError) as caught:
            build_engine.write_whole(self.path("no/engine"), b"new", build_engine.Stop(1))
        self.assertIn(self.path("no/engine"), str(caught.exception))

    def test_a_timing_cache_of_another_version_is_replaced(self):
        with open(self.path("cache"), "wb") as file:
            file.write(b"of another version")
        config = Config()
        network_options.open_timing_cache(config, self.path("cache"))
        self.assertEqual(config.timing_cache, b"")

    def test_builds_of_one_process_share_what_tactics_took_where_the_same_ones_are_allowed(self):
        timings = network_options.Timings()
        for args, before in ([], b""), (["--output", "x"], b" measured"), (["--optimization-level", "1"], b""):
            config, built = Config(), build_engine.arguments(["--onnx", "model", *args])
            self.assertEqual(timings.open(config, built), before)
            timings.keep(config, built)

    def test_text(self):
        cut = "ä".encode("utf-8") * 300
        for content, text in (
            (b"hello\n", True),
            (cut, True),
            (b"\x08\x07\x12", False),
            (b"\xff\xfe\xfd\xfc\xfb", False),
        ):
            with open(self.path("file"), "wb") as file:
                file.write(content)
            self.assertEqual(network_options.looks_like_text(self.path("file")), text)


class Weights(unittest.TestCase):
    def test_says_which_file_and_what_is_wrong_with_it(self):
        for text, expected in (
            ("WeightsContext.cpp:203: Failed to open file: a b/w.bin", "the weights file a b/w.bin cannot be opened"),
            ("WeightsContextMemoryMap.cpp:140: Failed to map file to memory: w.bin", "w.bin cannot be opened"),
            (
                "offset/length out of range for file: w.bin (offset=0, length=8, file size=1)",
                "w.bin is truncated, or belongs to another model (offset=0",
            ),
        ):
            self.assertIn(expected, network_options.weights_trouble(["first", text]))
        self.assertIsNone(network_options.weights_trouble(["Plugin not found"]))


class Plan(bytes):
    nbytes = 6


class Tensorrt(Binding):
    """The same, as far as a whole build needs it: what native code would do is written down in `calls`."""

    def __init__(self):
        outer = self
        super().__init__(calls=[], plan=Plan(b"engine"), errors=[], outputs=1, unloadable=None)

        class ILogger:
            pass

        class IProgressMonitor:
            pass

        class Whole(Builder):
            def __init__(self, logger):
                outer.logger = logger

            def create_network(self, bits):
                network = Network([Tensor(name="x", shape=(1, 3), dtype=Binding.DataType.FLOAT)])
                network.num_outputs = outer.outputs
                network.get_output = lambda index: Tensor(name="y", shape=(1,), dtype=Binding.DataType.HALF)
                return network

            def create_builder_config(self):
                outer.config = Config()
                return outer.config

            def build_serialized_network(self, network, config):
                outer.logger.log(types.SimpleNamespace(name="VERBOSE"), "Original: 3 layers")
                monitor = config.progress_monitor
                monitor.phase_start("Building engine", None, 2)
                outer.calls.append(("goes on", monitor.step_complete("Building engine", 1)))
                monitor.phase_finish("Building engine")
                for text in outer.errors:
                    outer.logger.log(types.SimpleNamespace(name="ERROR"), text)
                return outer.plan

        class OnnxParser:
            def __init__(self, network, logger):
                pass

            def parse_from_file(self, path):
                return True

        class Runtime:
            def __init__(self, logger):
                self.logger = logger

            def deserialize_cuda_engine(self, plan):
                if outer.unloadable:
                    self.logger.log(types.SimpleNamespace(name="ERROR"), outer.unloadable)
                    return None
                inspector = types.SimpleNamespace(get_engine_information=lambda form: '{"Layers": []}')
                return types.SimpleNamespace(create_engine_inspector=lambda: inspector)

        self.ILogger, self.IProgressMonitor, self.Builder = ILogger, IProgressMonitor, Whole
        self.OnnxParser, self.Runtime = OnnxParser, Runtime
        self.LayerInformationFormat = types.SimpleNamespace(JSON=1)

    def init_libnvinfer_plugins(self, logger, namespace):
        self.calls.append(("plugins", namespace))


class Sent(list):
    closed = False

    def send(self, event, **fields):
        self.append(dict(event=event, **fields))


class WholeBuilds(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trt, self.sent, self.stop = Tensorrt(), Sent(), build_engine.Stop(60)
        self.model = os.path.join(self.folder.name, "model.onnx")
        self.engine = os.path.join(self.folder.name, "engine")
        with open(self.model, "wb") as file:
            file.write(b"\x08\x08")

    def build(self, *args, gpu="NVIDIA H200"):
        options = build_engine.arguments(["--module=tensorrt", "--onnx", self.model, "--engine", self.engine, *args])
        replaced = (build_engine.load, build_engine.find_gpu)
        build_engine.load, build_engine.find_gpu = lambda name: self.trt, lambda: (gpu, gpu and "12.8", gpu and "9.0")
        try:
            build_engine.build(options, self.sent, self.stop)
        finally:
            build_engine.load, build_engine.find_gpu = replaced

    def test_tensorrt_beside_a_gpu(self):
        self.build("--fp16")
        events = [each["event"] for each in self.sent]
        self.assertEqual(events, ["start", "network", "log", "progress", "progress", "progress", "layers", "done"])
        self.assertEqual(self.sent[0]["gpu"], "NVIDIA H200")
        self.assertEqual(self.sent[1]["outputs"], [{"name": "y", "type": "half", "shape": [1]}])
        self.assertEqual(self.sent[2], {"event": "log", "severity": "V", "message": "Original: 3 layers"})
        self.assertEqual(self.sent[6]["text"], '{"Layers": []}')
        self.assertEqual(self.trt.calls, [("plugins", ""), ("goes on", True)])
        self.assertIn(Binding.BuilderFlag.FP16, self.trt.config.flags)
        with open(self.engine, "rb") as file:
            self.assertEqual(file.read(), b"engine")

    def test_plugins_are_loaded_before_the_model(self):
        libraries = []

        def load_library(path):
            libraries.append((path, len(self.sent)))
            return object() if path == "a.so" else None

        self.trt.get_plugin_registry = lambda: types.SimpleNamespace(load_library=load_library)
        self.build("--plugin=a.so")
        self.assertEqual(libraries, [("a.so", 0)])
        # What the registry does not take, the system loads, or says why not.
        with self.assertRaisesRegex(JobError, "none.so: .*none.so"):
            self.build("--plugin=a.so", "--plugin=" + os.path.join(self.folder.name, "none.so"))

    def test_an_engine_that_this_gpu_cannot_load_is_a_warning(self):
        # What TensorRT-RTX 1.7.1 said on an H200 after a build that succeeded.
        self.trt.unloadable = "The engine cannot run on this GPU, which has compute capability 9.0."
        self.build()
        told = [each for each in self.sent if each["event"] == "log"][-1]
        self.assertEqual((told["severity"], told["message"]), ("W", self.trt.unloadable))
        self.assertEqual(self.sent[-1]["event"], "done")
        self.assertNotIn("layers", [each["event"] for each in self.sent])

    def failure(self, **more):
        with self.assertRaises(JobError) as caught:
            self.build(**more)
        self.assertFalse(os.path.exists(self.engine))
        return caught.exception

    def test_tensorrt_without_a_gpu(self):
        error = self.failure(gpu=None)
        self.assertIn("needs an NVIDIA GPU", str(error))
        self.assertEqual(self.sent[0]["event"], "start")

    def test_no_engine_gives_the_first_error_that_is_a_cause(self):
        self.trt.plan = None
        self.trt.errors = ["[checkMacros.cpp::catchCudaError::250] noise", "Could not find any implementation"]
        error = self.failure()
        self.assertEqual((error.stage, str(error)), ("build", "Could not find any implementation"))

    def test_no_outputs(self):
        self.trt.outputs = 0
        self.assertIn("no outputs", str(self.failure()))

    def test_cancelled_during_the_build(self):
        self.trt.plan = None
        self.stop.ask()
        self.assertEqual(self.failure().stage, "cancelled")

    def test_a_reader_that_is_gone_ends_the_build(self):
        self.sent.closed = True
        self.build()
        self.assertIn(("goes on", False), self.trt.calls)

    def test_an_engine_that_cannot_be_loaded_here_is_no_failure(self):
        def refuse(logger):
            raise TypeError("pybind11::init(): factory function returned nullptr")

        self.trt.Runtime = refuse
        self.build()
        self.assertEqual(self.sent[-1]["event"], "done")
        self.assertNotIn("layers", [each["event"] for each in self.sent])


class Stopping(unittest.TestCase):
    def test_overdue_after_the_grace_period_only(self):
        stop = build_engine.Stop(60)
        self.assertFalse(stop.asked() or stop.overdue())
        stop.ask()
        self.assertTrue(stop.asked())
        self.assertFalse(stop.overdue())
        late = build_engine.Stop(-1)
        late.ask()
        self.assertTrue(late.overdue())

    def test_asking_twice_does_not_prolong(self):
        stop = build_engine.Stop(0)
        stop.ask()
        first = stop._deadline
        stop.ask()
        self.assertEqual(stop._deadline, first)


if __name__ == "__main__":
    unittest.main()
