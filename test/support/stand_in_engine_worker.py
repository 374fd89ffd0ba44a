"""`engine_worker.py` without TensorRT: ONNX Runtime builds and runs, with a fault of `planted_faults.py`.

FAULT names it; empty: none. Needs onnx, ONNX Runtime and NumPy, and the driver's folder in
DRIVER.
"""

import argparse
import os
import sys
import time

sys.path.insert(0, os.environ["DRIVER"])
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime as ort  # noqa: E402

import conversation  # noqa: E402
import job  # noqa: E402
import tensor_files  # noqa: E402
import planted_faults  # noqa: E402


class Worker:
    def __init__(self, fault, stop):
        self.fault, self.stop, self.engines, self.state, self.rounds = fault, stop, {}, {}, {}

    def build(self, engine, args, log, layers):
        started = time.monotonic()
        parser = argparse.ArgumentParser()
        parser.add_argument("--onnx")
        parser.add_argument("--output", action="append", default=[])
        parser.add_argument("--no-tf32", action="store_true")
        options, _ = parser.parse_known_args(args)
        model = onnx.load(options.onnx)
        for name in options.output:
            model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
        try:
            planted_faults.plant(self.fault, model)
            settings = ort.SessionOptions()
            settings.log_severity_level = 4
            # Rounded otherwise than the reference, as an engine is.
            self.rounds[engine] = not options.no_tf32
            self.engines[engine] = ort.InferenceSession(model.SerializeToString(), settings, providers=["CPUExecutionProvider"])
        except Exception as error:
            raise conversation.Refused("build", str(error)) from None
        with open(log, "w", encoding="utf-8") as file:
            file.write("stand-in\n")
        return {"seconds": time.monotonic() - started, "engineBytes": 1}

    def load(self, engine, path):
        return self.build(engine, ["--onnx", path], os.devnull, None)

    def run(self, engine, inputs, outputs, time=False):
        session = self.engines[engine]
        given = tensor_files.read_samples(inputs[0])[0]
        names = [output.name for output in session.get_outputs()]
        feeds = {one.name: given[one.name] for one in session.get_inputs()}
        values = dict(zip(names, session.run(names, feeds)))
        if self.rounds[engine]:
            # TF32 keeps ten bits of the mantissa.
            values = {name: (value.view(np.uint32) & 0xFFFFE000).view(np.float32) if value.dtype == np.float32 else value for name, value in values.items()}
        if self.fault == "nondeterministic":
            noise = np.random.default_rng()
            values = {name: value * (1 + noise.random()) if value.dtype.kind == "f" else value for name, value in values.items()}
        if self.fault == "remembers":
            kept = self.state.setdefault(engine, {"first": None})
            changed = kept["first"] is not None and any(not np.array_equal(kept["first"][key], feeds[key]) for key in feeds)
            if kept.get("spoiled"):
                values = {name: value + 1 for name, value in values.items()}
            kept["spoiled"] = kept.get("spoiled") or changed
            kept["first"] = kept["first"] or feeds
        tensor_files.write_npz(outputs, values, self.stop.leftovers)
        described = [{"name": name, "shape": list(value.shape), "type": str(value.dtype)} for name, value in values.items()]
        return {"outputs": described, "milliseconds": 1.0 if time else None, "samples": 1}

    def free(self, engine):
        self.engines.pop(engine, None)
        return {"freeBytes": 1, "totalBytes": 1}


def handle(request, channel, stop):
    worker = Worker(os.environ.get("FAULT") or None, stop)
    channel.send("start", module="tensorrt", version="10.6.0", gpu="stand-in", computeCapability="9.0")
    conversation.converse({name: getattr(worker, name) for name in ("build", "load", "run", "free")}, channel, stop)
    return None


if __name__ == "__main__":
    job.serve(handle)
