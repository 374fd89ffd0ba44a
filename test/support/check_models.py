"""Checks models with ONNX itself: its checker with full shape inference, and ONNX Runtime on the CPU.

Reads one JSON job a line, writes one JSON answer a line:
  {"model": path, "run": bool, "shapes": {input: [1, 8]}, "largest": 1.0, "against": path of a model with the same inputs,
   "optimized": bool, "reference": bool}
  {"checked": true | "why not", "inputs": {name: type}, "declared": {output: type}, "outputs": {name: {...}},
   "ran": true | "why not"}
"""

import json

import numpy as np
import onnx
import onnxruntime as ort
from line_server import serve

DEFAULT_AXIS = 2


def check(path):
    """The checker reads the file itself: external data and models of more than 2 GB are part of the question."""
    try:
        onnx.checker.check_model(path, full_check=True)
        return True
    except Exception as error:
        return str(error)[-600:]


def type_name(value):
    kind = value.type.WhichOneof("value")
    if kind != "tensor_type":
        return kind
    return onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type).lower()


def feeds_for(session, job):
    """Inputs that depend on nothing but their names, so that two models get the same."""
    feeds = {}
    for item in session.get_inputs():
        shape = job.get("shapes", {}).get(item.name)
        if shape is None:
            shape = [axis if isinstance(axis, int) and axis > 0 else DEFAULT_AXIS for axis in item.shape]
        numbers = np.random.default_rng(sum(item.name.encode()))
        kind = item.type[len("tensor("):-1]
        if kind == "bool":
            feeds[item.name] = np.ones(shape, dtype=bool)
        elif kind.startswith("float") or kind == "double":
            dtype = {"float": np.float32, "float16": np.float16, "double": np.float64}[kind]
            feeds[item.name] = (numbers.standard_normal(shape) * job.get("largest", 1.0)).astype(dtype)
        else:
            feeds[item.name] = numbers.integers(1, 3, size=shape).astype(kind)
    return feeds


def session_of(path, optimized=False):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    # The models are small: threads would only wait for each other.
    options.intra_op_num_threads = 1
    # As the model is written, where not asked otherwise: fusions take norms of mixed types for norms of one, and fail.
    if not optimized:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run(path, job):
    session = session_of(path, job.get("optimized", False))
    return session.run(None, feeds_for(session, job))


last = {"key": None}


def run_reference_model(job):
    """What a model gives that others are compared with, and its feeds: jobs about the same one follow each other."""
    key = json.dumps([job[name] if name in job else None for name in ("against", "optimized", "shapes", "largest")])
    if last["key"] != key:
        session = session_of(job["against"], job.get("optimized", False))
        feeds = feeds_for(session, job)
        last.update(key=key, feeds=feeds, outputs=session.run(None, feeds))
    return last["feeds"], last["outputs"]


def run_evaluator(path, feeds):
    """ONNX's own evaluator in Python, which knows BF16; ONNX Runtime's CPU kernels mostly don't."""
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(path)
    return evaluator.run(None, feeds)


def describe(array, other):
    answer = {"type": str(array.dtype), "shape": list(array.shape)}
    if array.dtype.kind not in "iubOSU":
        wide = array.astype(np.float64)
        answer["finite"] = bool(np.isfinite(wide).all())
        if other is not None:
            reference = other.astype(np.float64)
            # Where the reference itself is not finite there is nothing to compare.
            usual = np.isfinite(reference) if reference.shape == wide.shape else np.array(False)
            difference = np.abs(wide - reference, where=usual, out=np.zeros(usual.shape)) if usual.any() else np.zeros(1)
            answer["error"] = float(np.nan_to_num(difference, nan=1e300, posinf=1e300).max(initial=0.0))
            answer["largest"] = float(np.abs(reference, where=usual, out=np.zeros(usual.shape)).max(initial=0.0))
    return answer


def answer(job):
    path = job["model"]
    result = {"checked": check(path)}
    model = onnx.load(path, load_external_data=False)
    result["inputs"] = {value.name: type_name(value) for value in model.graph.input}
    result["declared"] = {value.name: type_name(value) for value in model.graph.output}
    if job.get("run"):
        try:
            names = [value.name for value in model.graph.output]
            feeds, others = run_reference_model(job) if job.get("against") else (None, None)
            outputs = run_evaluator(path, feeds) if job.get("reference") else run(path, job)
            others = others or [None] * len(outputs)
            result["outputs"] = {
                name: describe(np.asarray(mine), other) for name, mine, other in zip(names, outputs, others)
            }
            result["ran"] = True
        except Exception as error:
            result["ran"] = str(error)[-600:]
    return result


if __name__ == "__main__":
    serve(answer)
