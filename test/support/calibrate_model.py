"""Reads one JSON job, {"model": path}, and writes the largest magnitude of every float tensor as JSON, by name; inputs as
check_models.py makes them."""

import json
import sys

import numpy as np
import onnx
import onnxruntime as ort

from check_models import feeds_for

job = json.loads(sys.stdin.readline())
model = onnx.shape_inference.infer_shapes(onnx.load(job["model"]))
known = {value.name for value in model.graph.output}
floats = [value for value in model.graph.value_info if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT]
model.graph.output.extend(value for value in floats if value.name not in known)
options = ort.SessionOptions()
options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
feeds = feeds_for(session, job)
names = [value.name for value in session.get_outputs()]
found = {**feeds, **dict(zip(names, session.run(names, feeds)))}
print(json.dumps({n: float(np.max(np.abs(v), initial=0)) for n, v in found.items() if v.dtype == np.float32}))
