"""Unit tests of the recorder of choices, against a stand-in of the binding that plays what TensorRT 10.6 offered."""

import contextlib
import importlib
import io
import json
import os
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "src", "driver"))
import build_engine  # noqa: E402
import record_choices  # noqa: E402

CAPTURES = os.path.join(HERE, "..", "fixtures", "captures")
CONV = "/patch_embed/proj/Conv"


def standin(version="10.6.0"):
    os.environ["STANDIN_VERSION"] = version
    sys.path.insert(0, os.path.join(HERE, "binding"))
    try:
        sys.modules.pop("tensorrt", None)
        return importlib.import_module("tensorrt")
    finally:
        del sys.path[0]


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


class Sent(list):
    closed = False

    def send(self, event, **fields):
        self.append(dict(event=event, **fields))

    def warnings(self):
        return [each["message"] for each in self if each["event"] == "log" and each["severity"] == "W"]


class Recording(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(sys.modules.pop, "tensorrt", None)
        self.choices = os.path.join(self.folder.name, "choices.jsonl")
        self.offer("tensorrt-10.6.0/vit_tiny.algolog")
        self.trt = standin()

    def offer(self, capture):
        os.environ["STANDIN_CHOICES"] = os.path.join(CAPTURES, capture, "choices.jsonl")

    def build(self, *args):
        model = os.path.join(self.folder.name, "model.onnx")
        with open(model, "wb") as file:
            file.write(b"\x08\x08")
        sent, built = Sent(), []
        trt = self.trt

        class Builder(trt.Builder):
            def create_builder_config(self):
                built.append(super().create_builder_config())
                return built[0]

        replaced = (build_engine.load, build_engine.find_gpu, trt.Builder)
        build_engine.load, build_engine.find_gpu = lambda name: trt, lambda: ("Stand-in", "12.8", "9.0")
        trt.Builder = Builder
        try:
            options = build_engine.arguments(["--module=tensorrt", "--onnx", model, *args])
            build_engine.build(options, sent, build_engine.Stop(60))
        finally:
            build_engine.load, build_engine.find_gpu, trt.Builder = replaced
        self.assertEqual(sent[-1]["event"], "done")
        return built[0], sent

    def test_every_choice_as_tensorrt_offered_it(self):
        for capture in ("8.6.1/vit_tiny", "8.6.1/fp16_overflow", "10.6.0/vit_tiny", "10.6.0/fp16_overflow"):
            with self.subTest(capture):
                self.offer("tensorrt-%s.algolog" % capture)
                config, sent = self.build("--choices", self.choices)
                self.assertEqual(sent.warnings(), [])
                wanted, found = read(os.environ["STANDIN_CHOICES"]), read(self.choices)
                offered = [line for line in wanted if "choices" in line]
                self.assertEqual([line for line in found if "choices" in line], offered)
                chosen = [line for line in found if "chosen" in line]
                self.assertEqual([line["chosen"] for line in chosen], config.chosen)
                self.assertEqual([line["layer"] for line in chosen], [line["layer"] for line in offered])
                self.assertEqual(
                    [list(line) for line in found], [list(line) for line in offered] + [list(line) for line in chosen]
                )

    def test_tensorrt_chooses_as_it_would_without(self):
        with_selector, _ = self.build("--choices", self.choices)
        without, _ = self.build()
        self.assertEqual(with_selector.chosen, without.chosen)
        self.assertIsNone(without.algorithm_selector)

    def test_times_are_of_this_build_unless_a_cache_is_asked_for(self):
        flag = self.trt.BuilderFlag.DISABLE_TIMING_CACHE
        self.assertIn(flag, self.build("--choices", self.choices)[0].flags)
        self.assertNotIn(flag, self.build()[0].flags)

    def test_a_version_without_selector_says_so_once_and_builds(self):
        self.trt = standin("11.2.1")
        _, sent = self.build("--choices", self.choices)
        self.assertEqual(len(sent.warnings()), 1)
        self.assertIn("tensorrt 11.2.1 has no algorithm selector", sent.warnings()[0])
        self.assertFalse(os.path.exists(self.choices))

    def test_a_file_that_cannot_be_written_is_a_warning(self):
        path = os.path.join(self.folder.name, "no", "such", "choices.jsonl")
        config, sent = self.build("--choices", path)
        self.assertEqual(len(sent.warnings()), 1)
        self.assertIn(path, sent.warnings()[0])
        self.assertEqual(len(config.chosen), 2)

    def test_a_builder_that_takes_no_selector_is_a_warning(self):
        def refuse(config, selector):
            raise AttributeError("can't set attribute")

        self.trt.Config.algorithm_selector = property(lambda config: None, refuse)
        _, sent = self.build("--choices", self.choices)
        self.assertEqual(sent.warnings(), ["The choices are not recorded: can't set attribute"])

    def test_what_cannot_be_read_is_left_out_and_told_once(self):
        lend, myelin = self.trt.lend_algorithm, "2147483683"

        def broken(call, choice):
            real = lend(call, choice)
            if choice["implementation"] == myelin:
                return real
            return self.trt.Lent(call, **dict(real._values, workspace_size={1}))

        self.trt.lend_algorithm = broken
        config, sent = self.build("--choices", self.choices)
        self.assertEqual(len(config.chosen), 2)
        self.assertEqual(len(sent.warnings()), 1)
        self.assertIn("Not all choices are recorded", sent.warnings()[0])
        names = [line["layer"][:13] for line in read(self.choices)]
        self.assertEqual(names, ["{ForeignNode[", "{ForeignNode["])

    def test_times_that_are_no_numbers_and_fields_of_later_versions_are_null(self):
        call = {"open": True}
        record = read(os.environ["STANDIN_CHOICES"])[0]
        offered = self.trt.lend_algorithm(call, dict(record["choices"][0], timingMs=float("inf")))
        # TensorRT 8.5 has neither.
        for index in range(2):
            info = offered.get_algorithm_io_info(index)
            del info._values["vectorized_dim"], info._values["components_per_element"]
        made = record_choices.describe(offered, 2)
        self.assertIsNone(made["timingMs"])
        self.assertEqual({each["vectorizedDim"] for each in made["io"]}, {None})
        self.assertEqual({each["componentsPerElement"] for each in made["io"]}, {None})


class Polygraphy(unittest.TestCase):
    """What Polygraphy does with the file: a configuration with its own selector, then postprocess_config."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(sys.modules.pop, "tensorrt", None)
        self.addCleanup(os.environ.pop, "TRTLENS_CHOICES", None)
        self.choices = os.path.join(self.folder.name, "choices.jsonl")
        os.environ["TRTLENS_CHOICES"] = self.choices
        os.environ["STANDIN_CHOICES"] = os.path.join(CAPTURES, "tensorrt-10.6.0", "vit_tiny.algolog", "choices.jsonl")
        self.trt = standin()
        outer = self

        class Other(self.trt.IAlgorithmSelector):
            def __init__(self):
                outer.trt.IAlgorithmSelector.__init__(self)
                self.reported, self.wanted = [], None

            def select_algorithms(self, context, choices):
                if self.wanted is None:
                    return list(range(len(choices)))
                ids = [choice.algorithm_variant.tactic for choice in choices]
                if context.name == CONV and self.wanted not in ids:
                    raise RuntimeError("Tactic in replay was not provided")
                return [ids.index(self.wanted)] if context.name == CONV else list(range(len(choices)))

            def report_algorithms(self, contexts, choices):
                self.reported = [choice.algorithm_variant.tactic for choice in choices]

        self.other = Other()
        self.config = self.trt.Config()
        self.config.algorithm_selector = self.other
        self.records = [line for line in read(os.environ["STANDIN_CHOICES"]) if "choices" in line]

    def run_hook(self):
        text = io.StringIO()
        with contextlib.redirect_stderr(text):
            record_choices.postprocess_config(None, None, self.config)
            chosen = self.trt.choose(self.config, self.records)
        return chosen, text.getvalue()

    def test_its_own_selector_records_as_before(self):
        chosen, said = self.run_hook()
        self.assertEqual(said, "")
        self.assertEqual([str(tactic) for tactic in self.other.reported], [choice["tactic"] for choice in chosen])
        self.assertEqual([line for line in read(self.choices) if "choices" in line], self.records)

    def test_its_own_selector_has_the_last_word(self):
        self.other.wanted = int(self.records[0]["choices"][100]["tactic"])
        chosen, _ = self.run_hook()
        self.assertEqual(chosen[0]["tactic"], str(self.other.wanted))
        self.assertEqual(len(read(self.choices)), 4)

    def test_a_replay_that_fails_still_fails_and_the_choices_are_there(self):
        self.other.wanted = 1
        chosen, said = self.run_hook()
        self.assertIsNone(chosen)
        self.assertIn("Tactic in replay was not provided", said)
        self.assertEqual(read(self.choices), self.records[:1])

    def test_without_the_name_of_a_file_it_says_so(self):
        del os.environ["TRTLENS_CHOICES"]
        chosen, said = self.run_hook()
        self.assertIn("[W] The choices are not recorded", said)
        self.assertEqual(len(chosen), 2)


if __name__ == "__main__":
    unittest.main()
