"""Compares extracted models with the models that they came from, under ONNX Runtime as they are written, on one thread.

Reads one JSON job a line: {"whole": path, "pieces": [path, …]}; writes one answer a line:
  [{"checked": true | "why not", "ran": true | "why not", "same": {output: largest difference, 0 for byte for byte}}, …]
The pieces get the values that the whole model computes for their inputs.
"""
import os

import numpy as np
import onnx
import onnxruntime as ort
from line_server import serve

DEFAULT_AXIS = 2


def session_of(model):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def feeds_for(session):
    feeds = {}
    for item in session.get_inputs():
        shape = [axis if isinstance(axis, int) and axis > 0 else DEFAULT_AXIS for axis in item.shape]
        numbers = np.random.default_rng(sum(item.name.encode()))
        kind = item.type[len("tensor("):-1]
        dtype = {"float": np.float32, "float16": np.float16, "double": np.float64, "bool": bool}.get(kind, kind)
        values = numbers.standard_normal(shape) if kind in ("float", "float16", "double") else numbers.integers(0, 2, size=shape)
        feeds[item.name] = values.astype(dtype)
    return feeds


def values_of(path, wanted):
    """The values of tensors inside a model: they become outputs of a copy beside it."""
    model = onnx.load(path, load_external_data=False)
    outputs = {value.name for value in model.graph.output}
    inputs = {value.name for value in model.graph.input}
    for name in sorted(wanted - outputs - inputs):
        model.graph.output.append(onnx.ValueInfoProto(name=name))
    copy = path + ".all.onnx"
    onnx.save(model, copy)
    try:
        session = session_of(copy)
        feeds = feeds_for(session)
        names = [item.name for item in session.get_outputs()]
        return {**feeds, **dict(zip(names, session.run(None, feeds)))}
    finally:
        os.remove(copy)


def difference(mine, other):
    mine, other = np.asarray(mine), np.asarray(other)
    if mine.dtype != other.dtype or mine.shape != other.shape:
        return 1e300
    if mine.tobytes() == other.tobytes():
        return 0.0
    if mine.dtype.kind not in "fc":
        return float((mine != other).sum())
    return float(np.nan_to_num(np.abs(mine.astype(np.float64) - other.astype(np.float64)), nan=1e300, posinf=1e300).max())


def answer(job):
    pieces = []
    for path in job["pieces"]:
        try:
            onnx.checker.check_model(path, full_check=True)
            checked = True
        except Exception as error:
            checked = str(error)[-600:]
        pieces.append((path, onnx.load(path, load_external_data=False), checked))
    wanted = {value.name for _, model, _ in pieces for value in [*model.graph.input, *model.graph.output]}
    values = values_of(job["whole"], wanted)
    answers = []
    for path, model, checked in pieces:
        result = {"checked": checked, "ran": True, "same": {}}
        try:
            session = session_of(path)
            names = [item.name for item in session.get_outputs()]
            outputs = session.run(None, {item.name: values[item.name] for item in session.get_inputs()})
            result["same"] = {name: difference(mine, values[name]) for name, mine in zip(names, outputs)}
        except Exception as error:
            result["ran"] = str(error)[-600:]
        answers.append(result)
    return answers


serve(answer)
