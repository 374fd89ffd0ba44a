"""Writes the reference of a migrated calibration cache: the original model with the arithmetic of quantization written out.

Reads one JSON job, {"model", "quantized", "cache", "out"}. Which inputs of which nodes are quantized is taken from the
Q/DQ model; their scales are read from the cache and from the original weights, and every value goes through Div, Round,
Clip and Mul in place of Q/DQ nodes. Writes the number of activations and of weights as JSON.
"""

import json
import struct
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

job = json.loads(sys.stdin.readline())
model, quantized = onnx.load(job["model"]), onnx.load(job["quantized"])
scales = {}
for line in open(job["cache"], encoding="utf-8").read().splitlines()[1:]:
    name, _, digits = line.rpartition(": ")
    scales[name] = struct.unpack(">f", bytes.fromhex(digits))[0]
weights = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
dequantized = {node.output[0] for node in quantized.graph.node if node.op_type == "DequantizeLinear"}
changed = {node.output[0]: node for node in quantized.graph.node}


def axis_of(node, rank):
    """Of the output channels; None: one scale for all."""
    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    return {"Conv": 0, "ConvTranspose": None, "MatMul": rank - 1, "Gemm": 0 if attributes.get("transB") else 1}[node.op_type]


nodes, made, counts = [], {}, {"activations": 0, "weights": 0}
for node in model.graph.node:
    for index, name in enumerate(node.input):
        if changed[node.output[0]].input[index] not in dequantized:
            continue
        is_weight = name in weights
        key = (name, axis_of(node, weights[name].ndim) if is_weight else None)
        if key not in made:
            if is_weight:
                values = weights[name]
                others = tuple(axis for axis in range(values.ndim) if axis != key[1])
                scale = np.abs(values).max(axis=others, keepdims=True).astype(np.float64) / 127
                scale = np.where(scale == 0, 1, scale).astype(np.float32)
            else:
                scale = np.float32(scales[name])
            counts["weights" if is_weight else "activations"] += 1
            stem = f"fake{len(made)}"
            constants = {"scale": scale, "low": np.float32(-128), "high": np.float32(127)}
            for word, value in constants.items():
                model.graph.initializer.append(numpy_helper.from_array(np.asarray(value, np.float32), f"{stem}_{word}"))
            nodes += [
                helper.make_node("Div", [name, f"{stem}_scale"], [f"{stem}_div"]),
                helper.make_node("Round", [f"{stem}_div"], [f"{stem}_round"]),
                helper.make_node("Clip", [f"{stem}_round", f"{stem}_low", f"{stem}_high"], [f"{stem}_clip"]),
                helper.make_node("Mul", [f"{stem}_clip", f"{stem}_scale"], [f"{stem}_out"]),
            ]
            made[key] = f"{stem}_out"
        node.input[index] = made[key]
    nodes.append(node)
del model.graph.node[:]
model.graph.node.extend(nodes)
onnx.save(model, job["out"])
print(json.dumps(counts))
