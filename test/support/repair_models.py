"""Writes models that TensorRT-RTX rejects, one or more for each repair, into a folder: `repair_models.py FOLDER`. Prints one
JSON object a model: {"name", "status", "repairs", "allow", "shown", "tensorrt"}, what is expected of it."""

import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper as nh

N = h.make_node
rng = np.random.default_rng(7)
models = []


def value(name, shape, kind=T.FLOAT):
    return h.make_tensor_value_info(name, kind, shape)


def constant(name, array, kind=None):
    return nh.from_array(np.array(array, dtype=kind) if kind else np.asarray(array), name)


def weight(name, *shape):
    return nh.from_array((rng.standard_normal(shape) * 0.1).astype(np.float32), name)


def integers(name, low, high, kind, *shape):
    return nh.from_array(rng.integers(low, high, shape).astype(kind), name)


def add(name, repairs, nodes, inputs, outputs, initializers=(), opset=17, shown="exact", allow=(), domains=(),
        functions=(), values=(), sparse=(), ir=8, status="repaired", tensorrt=None):
    graph = h.make_graph(nodes, "g", inputs, outputs, list(initializers), value_info=list(values), sparse_initializer=list(sparse))
    opsets = [h.make_opsetid("", opset), *(h.make_opsetid(domain, version) for domain, version in domains)]
    model = h.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions))
    model.metadata_props.add(key="author", value="someone")
    models.append((name, model, {"repairs": repairs, "allow": list(allow), "shown": shown, "status": status,
                                "tensorrt": tensorrt}))


MS = [("com.microsoft", 1)]
ML = [("ai.onnx.ml", 3)]
ms = {"domain": "com.microsoft"}
ml = {"domain": "ai.onnx.ml"}
X, Y = value("x", [4, 16]), value("y", [4, 16])
X3, Y3 = value("x", [2, 8, 16]), value("y", [2, 8, 16])
head = [N("Relu", ["x"], ["h"], name="relu")]


def after(op, *, inputs=("h",), outputs=("t",), name="node", **attributes):
    return [*head, N(op, list(inputs), list(outputs), name=name, **attributes)]


relu = N("Relu", ["t"], ["y"], name="last")

# Quantization
scale, w8 = constant("s", 0.05, np.float32), integers("w8", -100, 100, np.int8, 16, 16)
pair = [N("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"), N("DequantizeLinear", ["q", "s", "z"], ["d"], name="d"),
        N("MatMul", ["d", "w"], ["y"], name="mm")]
add("pair_128", ["shift-uint8"], pair, [X], [Y], [scale, constant("z", 128, np.uint8), weight("w", 16, 16)])
add("pair_100", ["quantize-in-float"], pair, [X], [Y], [scale, constant("z", 100, np.uint8), weight("w", 16, 16)])
add("pair_int8", ["quantize-in-float"], pair, [X], [Y], [scale, constant("z", 5, np.int8), weight("w", 16, 16)])
dequantized = [N("DequantizeLinear", ["wq", "s", "z"], ["w"], name="d"), N("MatMul", ["x", "w"], ["y"], name="mm")]
add("weight_100", ["dequantize-constants"], dequantized, [X], [Y],
    [scale, constant("z", 100, np.uint8), integers("wq", 0, 255, np.uint8, 16, 16)])
add("weight_per_channel", ["dequantize-constants"],
    [N("DequantizeLinear", ["wq", "s", "z"], ["w"], name="d", axis=1), dequantized[1]], [X], [Y],
    [constant("s", np.linspace(0.01, 0.2, 16), np.float32), integers("z", 0, 200, np.uint8, 16), integers("wq", 0, 255, np.uint8, 16, 16)])
add("weight_cast", ["dequantize-constants"],
    [N("Cast", ["w8"], ["f"], name="cast", to=1), N("Mul", ["f", "s"], ["w"], name="scale"), N("MatMul", ["x", "w"], ["y"], name="mm")],
    [X], [Y], [w8, scale])
add("sums_of_channels", ["dequantize-in-float"],
    [N("Cast", ["x"], ["i"], name="cast", to=6), N("DequantizeLinear", ["i", "ss", "z"], ["y"], name="d", axis=1)], [X], [Y],
    [constant("ss", np.linspace(0.01, 0.2, 16), np.float32), constant("z", np.zeros(16), np.int32)])
add("weight_behind_gather", ["dequantize-constants"],
    [N("Gather", ["wq", "i"], ["g"], name="gather"), N("DequantizeLinear", ["g", "s", "z"], ["e"], name="d"),
     N("Add", ["e", "x"], ["y"], name="add")],
    [value("i", [4], T.INT64), X], [Y], [scale, constant("z", 120, np.uint8), integers("wq", 0, 255, np.uint8, 50, 16)])
quantize = N("DynamicQuantizeLinear", ["x"], ["q", "sx", "z"], name="dq")
scaling = [N("Cast", ["i"], ["f"], name="cast", to=1), N("Mul", ["sx", "ws"], ["ss"], name="scales"),
           N("Mul", ["f", "ss"], ["y"], name="scaled")]
ws = constant("ws", 0.02, np.float32)
add("dynamic_matmul", ["dynamic-quantization-exact"], [quantize, N("MatMulInteger", ["q", "w8", "z"], ["i"], name="mm"), *scaling],
    [X], [Y], [w8, ws])
add("dynamic_matmul_float", ["dynamic-quantization-float"],
    [quantize, N("MatMulInteger", ["q", "w8", "z"], ["i"], name="mm"), *scaling], [X], [Y], [w8, ws], shown="other", allow=["float"])
add("dynamic_long", ["dynamic-quantization-exact"],
    [quantize, N("MatMulInteger", ["q", "wl", "z", "wz"], ["i"], name="mm"), *scaling],
    [value("x", [4, 2048])], [value("y", [4, 8])], [integers("wl", 0, 255, np.uint8, 2048, 8), constant("wz", 3, np.uint8), ws])
add("dynamic_conv", ["dynamic-quantization-exact"],
    [quantize, N("ConvInteger", ["q", "w8c", "z"], ["i"], name="conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]), *scaling],
    [value("x", [1, 4, 8, 8])], [value("y", [1, 4, 8, 8])], [integers("w8c", -100, 100, np.int8, 4, 4, 3, 3), ws])
add("qlinear_matmul", ["qlinear-products", "quantize-in-float"],
    [N("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
     N("QLinearMatMul", ["q", "s", "z", "w8", "ws", "wz", "ys", "yz"], ["o"], name="mm"),
     N("DequantizeLinear", ["o", "ys", "yz"], ["y"], name="d")], [X], [Y],
    [scale, constant("z", 120, np.uint8), w8, ws, constant("wz", 0, np.int8), constant("ys", 0.1, np.float32),
     constant("yz", 100, np.uint8)])
lstm = dict(hidden_size=8, **ms)
add("dynamic_lstm", ["dynamic-quantize-lstm"],
    [N("DynamicQuantizeLSTM", ["x", "W", "R", "", "", "", "", "", "ws1", "wz1", "rs1", "rz1"], ["", "y"], name="lstm", **lstm)],
    [value("x", [5, 2, 16])], [value("y", [1, 2, 8])],
    [integers("W", -100, 100, np.int8, 1, 16, 32), integers("R", -100, 100, np.int8, 1, 8, 32), constant("ws1", [0.01], np.float32),
     constant("wz1", [0], np.int8), constant("rs1", [0.01], np.float32), constant("rz1", [0], np.int8)],
    domains=MS, shown="other", allow=["float"])

add("moved_quantized", ["quantize-in-float", "dequantize-constants", "dynamic-quantization-exact"],
    [N("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"), N("Pad", ["q", "pads", "z"], ["p"], name="pad"),
     N("DequantizeLinear", ["p", "s", "z"], ["d"], name="d"), N("DynamicQuantizeLinear", ["d"], ["dq", "ds", "dz"], name="dynamic"),
     N("DequantizeLinear", ["dq", "ds", "dz"], ["e"], name="e"), N("QuantizeLinear", ["e", "s", "zw"], ["qe"], name="wide", **ms),
     N("DequantizeLinear", ["qe", "s", "zw"], ["f"], name="narrow", **ms),
     N("DequantizeLinear", ["wq", "ws4", "wz"], ["w"], name="dw", axis=0, block_size=8), N("MatMul", ["f", "w"], ["y"], name="mm")],
    [value("x", [4, 14])], [value("y", [4, 6])],
    [scale, constant("z", 130, np.uint8), constant("pads", [0, 1, 0, 1], np.int64), constant("zw", 500, np.uint16),
     h.make_tensor("wq", T.UINT4, [16, 6], rng.integers(0, 256, 48).astype(np.uint8).tobytes(), raw=True),
     constant("ws4", rng.random((2, 6)), np.float32), h.make_tensor("wz", T.UINT4, [2, 6], [7] * 12)], opset=21, ir=10, domains=MS)
add("packed", ["packed-weights"],
    [N("MatMulNBits", ["x", "w", "s", "z"], ["y"], name="product", K=80, N=3, bits=4, block_size=32, **ms)],
    [value("x", [4, 80])], [value("y", [4, 3])],
    [integers("w", 0, 256, np.uint8, 3, 3, 16), constant("s", rng.random(9), np.float32), integers("z", 0, 256, np.uint8, 6)],
    domains=MS, shown=None, allow=["rounding"])

# com.microsoft
add("fused_matmul", ["fused-matmul"], after("FusedMatMul", inputs=["h", "w"], outputs=["y"], transB=1, alpha=0.125, **ms),
    [X3], [value("y", [2, 8, 32])], [weight("w", 32, 16)], domains=MS, shown=None, allow=["rounding"])
add("fused_batches", ["fused-matmul"], [N("FusedMatMul", ["x", "v"], ["y"], name="mm", transBatchA=1, transA=1, alpha=0.5, **ms)],
    [value("x", [2, 4, 3, 5])], [value("y", [4, 3, 5, 6])], [weight("v", 4, 3, 2, 6)], shown=None, allow=["rounding"], domains=MS)
add("fused_conv", ["fused-conv"], after("FusedConv", inputs=["h", "w", "b"], outputs=["y"], activation="LeakyRelu",
    activation_params=[0.1], kernel_shape=[3, 3], **ms), [value("x", [1, 4, 8, 8])], [value("y", [1, 4, 6, 6])],
    [weight("w", 4, 4, 3, 3), weight("b", 4)], domains=MS, shown=None, allow=["rounding"])
add("embed", ["embed-layer-normalization"],
    [N("EmbedLayerNormalization", ["ids", "seg", "we", "pe", "se", "g", "b"], ["y", ""], name="embed", epsilon=1e-5, **ms)],
    [value("ids", [2, 8], T.INT32), value("seg", [2, 8], T.INT32)], [Y3],
    [weight("we", 50, 16), weight("pe", 32, 16), weight("se", 2, 16), weight("g", 16), weight("b", 16)],
    domains=MS, shown=None, allow=["rounding"])
add("attention_mask", ["contrib-attention"],
    [N("Attention", ["x", "w", "b", "mask"], ["y"], name="attention", num_heads=4, **ms)],
    [X3, value("mask", [2, 8], T.INT32)], [Y3], [weight("w", 16, 48), weight("b", 48)], domains=MS, shown=None, allow=["rounding"])
QKV = [value(name, [2, 3, 8, 16]) for name in "qkv"]
add("attention_heads", ["expand-attention"], [N("Attention", ["q", "k", "v"], ["y"], name="attention", is_causal=1)], QKV,
    [value("y", [2, 3, 8, 16])], opset=23, ir=10, shown=None, allow=["rounding"])
add("attention_itself", ["expand-attention"],
    [N("Mul", ["x", "two"], ["k"], name="k"), N("Mul", ["x", "two"], ["q"], name="q"),
     N("Attention", ["q", "k", "x", "m"], ["y"], name="attention", q_num_heads=2, kv_num_heads=2, scale=0.5)],
    [X3, value("m", [8, 8])], [Y3], [constant("two", 2, np.float32)], opset=23, ir=10, shown=None, allow=["rounding"])
add("attention_lengths", ["contrib-attention"],
    [N("Attention", ["x", "w", "b", "mask"], ["y"], name="attention", num_heads=4, **ms)],
    [X3], [Y3], [weight("w", 16, 48), weight("b", 48), constant("mask", [5, 8], np.int32)], domains=MS, shown=None, allow=["rounding"])
add("attention_causal", ["fused-conv", "contrib-attention"],
    [N("FusedGemm", ["a", "wa", "ba"], ["g"], name="gemm", activation="LeakyRelu", activation_alpha=0.3, alpha=2.0, **ms),
     N("Reshape", ["g", "sh"], ["r"], name="reshape"),
     N("Attention", ["r", "w", "b"], ["y"], name="attention", num_heads=4, unidirectional=1, **ms)],
    [value("a", [16, 8])], [Y3], [weight("wa", 8, 16), weight("ba", 16), constant("sh", [2, 8, 16], np.int64), weight("w", 16, 48),
                                  weight("b", 48)], domains=MS, shown=None, allow=["rounding"])
add("skip_norm", ["skip-layer-normalization"],
    [N("SkipLayerNormalization", ["x", "s", "g", "b", "bi"], ["y", "", "", "z"], name="norm", epsilon=1e-5, **ms)],
    [X3, value("s", [2, 8, 16])], [Y3, value("z", [2, 8, 16])], [weight("g", 16), weight("b", 16), weight("bi", 16)],
    domains=MS, shown=None, allow=["rounding"])
for op in ("BiasGelu", "FastGelu", "QuickGelu"):
    inputs = ["h", "b"] if op == "BiasGelu" else ["h"]
    add(op.lower(), ["gelu-operators"], after(op, inputs=inputs, outputs=["y"], **ms), [X3], [Y3],
        [weight("b", 16)] if op == "BiasGelu" else [], domains=MS, shown=None, allow=["rounding"])

# Structure
add("squeeze", [],
    [N("Reshape", ["x", "shape"], ["r"], name="reshape"), N("Squeeze", ["r"], ["s"], name="sq"), N("Relu", ["s"], ["y"], name="relu")],
    [X], [value("y", None)], [constant("shape", [0, 1, -1], np.int64)], status="builds", shown=None)
add("slice_axes", ["slice-axes"], after("Slice", inputs=["h", "a", "b"], outputs=["y"]), [X], [value("y", [3, 16])],
    [constant("a", [1], np.int64), constant("b", [2**63 - 1], np.int64)])
body = h.make_graph([N("Identity", ["c"], ["co"]), N("Add", ["v", "one"], ["vo"], name="inner")], "body",
                    [value("i", [], T.INT64), value("c", [], T.BOOL), value("v", [4, 16])],
                    [value("co", [], T.BOOL), value("vo", [4, 16])])
add("loop", ["loop-condition"], after("Loop", inputs=["three", "", "h"], outputs=["y"], body=body), [X], [Y],
    [constant("three", 3, np.int64), constant("one", 1, np.float32)])
add("split_names", ["name-outputs"], after("Split", outputs=["", "y"], axis=0), [X], [value("y", [2, 16])],
    shown=None, allow=["unproved"])
add("sparse", ["dense-initializers"], after("Add", inputs=["h", "w"], outputs=["y"]), [X], [Y], sparse=[
    h.make_sparse_tensor(nh.from_array(np.array([1.0, 2.0], np.float32), "w"), nh.from_array(np.array([3, 20], np.int64)), [4, 16])])
add("optional", ["unwrap-optionals"], [*after("Optional", outputs=["o"]), N("OptionalGetElement", ["o"], ["y"], name="get")], [X], [Y])
add("sequence", ["unroll-sequences"],
    [*after("SequenceConstruct", inputs=["h", "x"], outputs=["seq"]), N("ConcatFromSequence", ["seq"], ["y"], name="join", axis=0)],
    [X], [value("y", [8, 16])])
add("split_sequence", ["split-sequences"],
    [*after("SplitToSequence", inputs=["h", "n"], outputs=["seq"], axis=1), N("SequenceAt", ["seq", "one"], ["y"], name="at")],
    [X], [value("y", [4, 8])], [constant("n", 8, np.int64), constant("one", 1, np.int64)])
add("nonzero_count", ["count-nonzero"],
    [*after("NonZero", outputs=["nz"]), N("Shape", ["nz"], ["sh"], name="sh"), N("Cast", ["sh"], ["y"], name="c", to=1)],
    [X], [value("y", [2])])
add("mask_where", ["mask-where"],
    [N("Greater", ["x", "k"], ["m"], name="m"), N("NonZero", ["m"], ["nz"], name="nz"), N("Transpose", ["nz"], ["idx"], name="tr"),
     N("Shape", ["idx"], ["sh"], name="sh"), N("Gather", ["sh", "zero"], ["n"], name="g"), N("Expand", ["v", "n"], ["u"], name="ex"),
     N("ScatterND", ["x", "idx", "u"], ["y"], name="scatter")],
    [X], [Y], [constant("k", 0, np.float32), constant("zero", [0], np.int64), constant("v", [-1], np.float32)])
add("scatter_none", [],
    [N("ScatterElements", ["x", "i", "u"], ["y"], name="scatter", axis=0, reduction="none")], [X, value("u", [2, 16])], [Y],
    [constant("i", np.array([[0] * 16, [2] * 16]))], opset=18, status="builds", shown=None)
for reduction in ("add", "mul", "max"):
    add("scatter_" + reduction, ["scatter-reduction"],
        [N("ScatterElements", ["x", "i", "u"], ["y"], name="scatter", axis=0, reduction=reduction)],
        [X, value("u", [3, 16])], [Y], [integers("i", -4, 4, np.int64, 3, 16)], opset=18, shown=None, allow=["rounding"])
add("scatter_nd_add", ["scatter-reduction"], [N("ScatterND", ["x", "i", "u"], ["y"], name="scatter", reduction="add")],
    [X, value("u", [3, 16])], [Y], [constant("i", [[0], [2], [0]], np.int64)], opset=18, shown=None, allow=["rounding"])
places = [constant(f"size_{i}", [2, i + 1], np.int64) for i in range(5)]
add("folded_places", ["fold-constants"],
    [node for i in range(5) for node in (
        N("ConstantOfShape", [f"size_{i}"], [f"ones_{i}"], value=h.make_tensor("one", T.FLOAT, [1], [1])),
        N("NonZero", [f"ones_{i}"], [f"list_{i}"], name=f"nonzero_{i}"),
        N("ReduceMax", [f"list_{i}"], [f"max_{i}"], name=f"max_{i}", keepdims=0),
        N("Gather", [f"x{i}", f"max_{i}"], [f"x{i + 1}"], name=f"gather_{i}", axis=-1) if i == 4 else N("Add", [f"x{i}", f"max_{i}"], [f"x{i + 1}"], name=f"add_{i}"),
    )], [value("x0", [4, 16], T.INT64)], [value("x5", [4], T.INT64)], places)
add("folded_window", ["fold-constants"],
    [N("MelWeightMatrix", ["nb", "dl", "sr", "lo", "hi"], ["mw"], name="mel"), N("MatMul", ["x", "mw"], ["y"], name="mm")],
    [value("x", [2, 9])], [value("y", [2, 8])],
    [constant("nb", 8, np.int64), constant("dl", 16, np.int64), constant("sr", 8000, np.int64), constant("lo", 0, np.float32),
     constant("hi", 4000, np.float32)])
add("max_pool", ["remove-unused-outputs"], after("MaxPool", outputs=["y", "unused"], kernel_shape=[2, 2]),
    [value("x", [1, 2, 4, 4])], [value("y", [1, 2, 3, 3])])
add("dead", ["remove-dead-nodes"], [*after("Unique", outputs=["u"]), N("Neg", ["h"], ["y"], name="neg")], [X], [Y])

# Types
for kind, number in (("int16", T.INT16), ("uint16", T.UINT16), ("uint32", T.UINT32)):
    add("input_" + kind, ["widen-inputs"], [N("Cast", ["x"], ["a"], name="c", to=1), N("Mul", ["a", "k"], ["y"], name="m")],
        [value("x", [4, 16], number)], [Y], [constant("k", 0.5, np.float32)], allow=["signature"])
add("inner_uint8", ["inner-uint8"], [N("Cast", ["x"], ["a"], name="c", to=2), N("Cast", ["a"], ["y"], name="c2", to=1)],
    [value("x", [4, 16], T.INT32)], [Y])
add("byte_argmax", ["narrow-integers", "inner-uint8"],
    [N("Greater", ["x", "half"], ["g"], name="g"), N("Cast", ["g"], ["b"], name="c", to=2), N("ArgMax", ["b"], ["y"], name="a", axis=1, keepdims=0)],
    [X], [value("y", [4], T.INT64)], [constant("half", 0.5, np.float32)])
add("unused_text", ["remove-unused-inputs"], head + [N("Neg", ["h"], ["y"], name="neg")], [X, value("text", [1], T.STRING)], [Y],
    allow=["signature"])

add("multi_head", ["contrib-attention"],
    [N("MultiHeadAttention", ["x", "k", "v", "b", "mask"], ["y"], name="attention", num_heads=4, **ms)],
    [X3, value("k", [2, 8, 16]), value("v", [2, 8, 16]), value("mask", [2, 8], T.INT32)], [Y3], [weight("b", 48)], domains=MS,
    shown=None, allow=["rounding"])
body = h.make_function("my", "Pass", ["a"], ["b"],
                       [N("Optional", ["a"], ["o"], name="some"), N("OptionalGetElement", ["o"], ["b"], name="get")],
                       [h.make_opsetid("", 17)])
add("function", ["inline-functions", "unwrap-optionals"], [N("Pass", ["x"], ["y"], name="call", domain="my")], [X], [Y],
    domains=[("my", 1)], functions=[body])
then = h.make_graph([N("Mul", ["x", "k"], ["a"], name="scale"), N("Optional", ["a"], ["o"], name="some"),
                     N("OptionalGetElement", ["o"], ["t"], name="get")], "then", [], [value("t", None)],
                    [constant("k", 2, np.float32)])
other = h.make_graph([N("Neg", ["x"], ["e"], name="negate")], "other", [], [value("e", None)])
add("inside_branch", ["unwrap-optionals"],
    [N("Equal", ["rate", "wanted"], ["c"], name="equal"), N("If", ["c"], ["y"], name="if", then_branch=then, else_branch=other)],
    [X, value("rate", [], T.INT64)], [Y], [constant("wanted", 16000, np.int64)])
add("mixed", ["cast-mixed-types"],
    [N("Cast", ["x"], ["c"], name="cast", to=10), N("MatMul", ["c", "w"], ["y"], name="product")], [X], [value("y", [4, 8])],
    [weight("w", 16, 8)], shown="other", allow=["cast-mixed-types", "unproved"])

# Mathematics
add("det", ["expand-determinant"], [N("Det", ["x"], ["y"], name="det")], [value("x", [5, 3, 3])], [value("y", [5])],
    shown="rounding", allow=["rounding"])
add("det_large", ["expand-determinant"], [N("Det", ["x"], ["y"], name="det")], [value("x", [2, 7, 7])], [value("y", [2])],
    shown="rounding", allow=["rounding"])
for rounded in ["floor", "round_prefer_floor"]:
    add("half_pixel_" + rounded, ["half-pixel-nearest"], [N("Resize", ["x", "", "", "to"], ["y"], name="resize", mode="nearest",
        nearest_mode=rounded, coordinate_transformation_mode="tf_half_pixel_for_nn")], [value("x", [1, 2, 9, 8])],
        [value("y", [1, 2, 14, 5])], [constant("to", [1, 2, 14, 5], np.int64)])
add("bit_shift", ["shift-bits", "inner-uint8"],
    [N("Cast", ["x"], ["a"], name="c", to=2), N("BitShift", ["a", "k"], ["b"], name="shift", direction="LEFT"),
     N("Cast", ["b"], ["y"], name="c2", to=1)], [value("x", [4], T.INT32)], [value("y", [4])], [constant("k", [0, 1, 3, 7], np.uint8)])

# ai.onnx.ml
add("scaler", ["ml-lookup"], [N("Scaler", ["x"], ["t"], name="scaler", offset=[0.5] * 16, scale=[2.0] * 16, **ml), relu], [X], [Y],
    domains=ML)
add("linear", ["ml-linear"],
    [N("LinearClassifier", ["x"], ["label", "y"], name="svc", coefficients=rng.standard_normal(48).tolist(), intercepts=[0.1, 0.2, 0.3],
       classlabels_ints=[3, 5, 9], post_transform="SOFTMAX", **ml)], [X], [value("label", [4], T.INT64), value("y", [4, 3])],
    domains=ML, shown=None, allow=["rounding"])
add("trees", ["ml-trees"],
    [N("TreeEnsembleRegressor", ["x"], ["y"], name="forest", n_targets=1, nodes_treeids=[0, 0, 0, 0, 0, 1, 1, 1],
       nodes_nodeids=[0, 1, 2, 3, 4, 0, 1, 2], nodes_featureids=[1, 3, 0, 0, 0, 2, 0, 0],
       nodes_modes=["BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
       nodes_values=[0.1, -0.2, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0], nodes_truenodeids=[1, 3, 0, 0, 0, 1, 0, 0],
       nodes_falsenodeids=[2, 4, 0, 0, 0, 2, 0, 0], nodes_missing_value_tracks_true=[0] * 8,
       target_treeids=[0, 0, 0, 1, 1], target_nodeids=[2, 3, 4, 1, 2], target_ids=[0] * 5,
       target_weights=[1.5, -0.25, 0.7, 0.1, -0.9], **ml)], [X], [value("y", [4, 1])], domains=ML, shown=None, allow=["rounding"])

add("names_as_labels", ["ml-lookup", "ml-zipmap", "index-labels", "ml-linear"],
    [N("Scaler", ["x"], ["s"], name="scaler", offset=[0.1] * 16, scale=[2.0] * 16, **ml),
     N("LinearClassifier", ["s"], ["label", "p"], name="classifier", coefficients=rng.standard_normal(48).tolist(),
       intercepts=[0.1, 0.2, 0.3], classlabels_strings=["a", "b", "c"], post_transform="SOFTMAX", **ml),
     N("Normalizer", ["p"], ["n"], name="norm", norm="L1", **ml),
     N("ZipMap", ["n"], ["probabilities"], name="zip", classlabels_strings=["a", "b", "c"], **ml)], [X],
    [value("label", [4], T.STRING),
     h.make_value_info("probabilities", h.make_sequence_type_proto(
         h.make_map_type_proto(T.STRING, h.make_tensor_type_proto(T.FLOAT, None))))],
    domains=ML, shown=None, allow=["signature", "rounding"])
add("binarizer", ["ml-lookup"], [N("Binarizer", ["x"], ["y"], name="binarizer", threshold=0.5, **ml)], [X], [Y], domains=ML)
add("svm", ["ml-linear"],
    [N("SVMRegressor", ["x"], ["y"], name="svm", kernel_type="RBF", coefficients=[0.5, -1.0, 0.25], rho=[0.1], n_supports=3,
       kernel_params=[0.05, 0.0, 3.0], support_vectors=np.linspace(-2, 2, 48).tolist(), **ml)], [X], [value("y", [4, 1])],
    domains=ML, shown=None, allow=["rounding"])
add("passed_text", ["drop-string-outputs", "remove-unused-inputs"],
    [N("Identity", ["text"], ["same"], name="pass"), N("Relu", ["x"], ["y"], name="relu")],
    [X, value("text", [1], T.STRING)], [Y, value("same", [1], T.STRING)], allow=["signature"])

# Old opsets, as converters of scikit-learn write them, FP64, and the ensembles of ai.onnx.ml 5
forest = dict(nodes_treeids=[0, 0, 0, 1, 1, 1], nodes_nodeids=[0, 1, 2, 0, 1, 2], nodes_featureids=[1, 0, 0, 2, 0, 0],
              nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"] * 2, nodes_values=[0.1, 0, 0, -0.2, 0, 0],
              nodes_truenodeids=[1, 0, 0, 1, 0, 0], nodes_falsenodeids=[2, 0, 0, 2, 0, 0],
              nodes_missing_value_tracks_true=[0, 0, 0, 1, 0, 0], **ml)
add("forest_opset_9", ["ml-linear", "ml-zipmap", "index-labels", "ml-trees"],
    [N("TreeEnsembleClassifier", ["x"], ["l", "p"], name="forest", class_treeids=[0, 0, 1, 1], class_nodeids=[1, 2, 1, 2],
       class_ids=[0, 1, 2, 1], class_weights=[0.5, 1.0, 0.25, 0.75], classlabels_strings=["a", "b", "c"], **forest),
     N("Identity", ["l"], ["label"], name="same"), N("Normalizer", ["p"], ["n"], name="norm", norm="MAX", **ml),
     N("ZipMap", ["n"], ["probabilities"], name="zip", classlabels_strings=["a", "b", "c"], **ml)], [X],
    [value("label", [4], T.STRING),
     h.make_value_info("probabilities", h.make_sequence_type_proto(
         h.make_map_type_proto(T.STRING, h.make_tensor_type_proto(T.FLOAT, None))))],
    opset=9, domains=[("ai.onnx.ml", 1)], shown=None, allow=["signature", "rounding"])
add("forest_less", ["ml-trees"],
    [N("TreeEnsembleRegressor", ["x"], ["y"], name="forest", aggregate_function="AVERAGE", n_targets=2, target_treeids=[0, 0, 1, 1],
       target_nodeids=[1, 2, 1, 2], target_ids=[0, 1, 0, 1], target_weights=[1.5, -0.25, 0.7, 0.1],
       **{**forest, "nodes_modes": ["BRANCH_LT", "LEAF", "LEAF", "BRANCH_GTE", "LEAF", "LEAF"]})],
    [X], [value("y", [4, 2])], opset=9, domains=[("ai.onnx.ml", 1)], shown=None, allow=["rounding"])
add("forest_fp64", ["ml-trees"],
    [N("TreeEnsemble", ["x"], ["y"], name="forest", n_targets=1, aggregate_function=1, tree_roots=[0, 2], nodes_featureids=[1, 3, 2],
       nodes_modes=constant("modes", [0, 0, 0], np.uint8), nodes_splits=constant("splits", [0.1, -0.2, 1 / 3], np.float64),
       nodes_truenodeids=[1, 0, 3], nodes_trueleafs=[0, 1, 1], nodes_falsenodeids=[2, 1, 4], nodes_falseleafs=[1, 1, 1],
       nodes_missing_value_tracks_true=[1, 0, 0], leaf_targetids=[0] * 5,
       leaf_weights=constant("weights", [0.5, -1, 0.25, 1 / 7, 2], np.float64), **ml)],
    [value("x", [4, 16], T.DOUBLE)], [value("y", [4, 1], T.DOUBLE)], opset=21, ir=10, domains=[("ai.onnx.ml", 5)], shown=None,
    allow=["rounding"])

# All of a network's operators quantized, with a pool and a Flatten between them
add("qoperators", ["qlinear-products", "qlinear-pairs", "quantize-in-float"],
    [N("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"),
     N("QLinearConv", ["q", "s", "z", "wc", "ws", "wz", "s", "z", "bc"], ["c"], name="conv", pads=[1, 1, 1, 1]),
     N("MaxPool", ["c"], ["p"], name="pool", kernel_shape=[2, 2], strides=[2, 2]),
     N("QLinearGlobalAveragePool", ["p", "s", "z", "ps", "z"], ["g"], name="mean", **ms),
     N("Flatten", ["g"], ["f"], name="flat"),
     N("QGemm", ["f", "ps", "z", "wg", "ws", "wz", "bg", "ys", "z"], ["o"], name="gemm", transB=1, **ms),
     N("DequantizeLinear", ["o", "ys", "z"], ["y"], name="d")], [value("x", [2, 3, 8, 8])], [value("y", [2, 5])],
    [scale, constant("z", 120, np.uint8), integers("wc", -127, 127, np.int8, 8, 3, 3, 3), ws, constant("wz", 0, np.int8),
     integers("bc", -500, 500, np.int32, 8), constant("ps", 0.04, np.float32), integers("wg", -127, 127, np.int8, 5, 8),
     integers("bg", -500, 500, np.int32, 5), constant("ys", 0.03, np.float32)], domains=MS, allow=["rounding"])
add("qlinear_activations", ["qlinear-pairs", "quantize-in-float"],
    [N("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"), N("Transpose", ["q"], ["t"], name="t", perm=[1, 0]),
     N("QLinearMatMul", ["q", "s", "z", "t", "s", "z", "ys", "z"], ["m"], name="product"),
     N("QLinearSoftmax", ["m", "ys", "z", "ps", "zero"], ["p"], name="softmax", axis=-1, opset=13, **ms),
     N("DequantizeLinear", ["p", "ps", "zero"], ["y"], name="d")], [X], [value("y", [4, 4])],
    [scale, constant("z", 120, np.uint8), constant("ys", 0.1, np.float32), constant("ps", 1 / 256, np.float32),
     constant("zero", 0, np.uint8)], domains=MS, shown=None, allow=["rounding"])

# Training, losses and statistics
pooled = [value("x", [1, 2, 9, 9])], [value("y", None)]

# Integers
i4 = value("x", [4, 16], T.INT32), value("k", [16], T.INT32), value("y", [4, 16], T.INT32)
u4, v4 = value("x", [4, 16], T.UINT8), value("y", [4, 16], T.UINT8)
add("uint8_sum", ["narrow-integers"], [N("Sub", ["x", "k"], ["y"], name="sub")], [u4], [v4], [integers("k", 0, 255, np.uint8, 16)])
add("uint8_image", ["dequantize-in-float"], [N("DequantizeLinear", ["x", "s", "z"], ["y"], name="d")], [u4], [Y],
    [scale, constant("z", 114, np.uint8)])
add("uint8_result", ["quantize-in-float"],
    [N("QuantizeLinear", ["x", "s", "z"], ["y"], name="q"), N("DequantizeLinear", ["y", "s", "z"], ["d"], name="d")], [X],
    [v4, value("d", [4, 16])], [scale, constant("z", 114, np.uint8)])
add("integer_product", ["integer-products"], [N("MatMulInteger", ["x", "k", "z", "t"], ["y"], name="mm")],
    [u4, value("k", [16, 3], T.UINT8)], [value("y", [4, 3], T.INT32)], [constant("z", 100, np.uint8), constant("t", [3], np.uint8)])
add("integer_conv", ["integer-products"], [N("ConvInteger", ["x", "k", "z"], ["y"], name="conv", pads=[1, 1, 1, 1])],
    [value("x", [1, 2, 5, 5], T.UINT8)], [value("y", None, T.INT32)], [integers("k", 0, 255, np.uint8, 3, 2, 3, 3), constant("z", 9, np.uint8)])

add("reduced_bool", ["narrow-integers"], [N("Greater", ["x", "k"], ["b"], name="gt"), N("ReduceMax", ["b"], ["y"], name="any", keepdims=0)],
    [X], [value("y", [], T.BOOL)], [scale, constant("k", 0.3, np.float32)], opset=20)
add("split_quantized", ["quantize-in-float"],
    [N("QuantizeLinear", ["x", "s", "z"], ["q"], name="q"), N("Split", ["q"], ["l", "r"], name="split", axis=1),
     N("DequantizeLinear", ["l", "s", "z"], ["a"], name="a"), N("DequantizeLinear", ["r", "s", "z"], ["b"], name="b"),
     N("Mul", ["a", "b"], ["y"], name="mul")], [X], [value("y", [4, 8])], [scale, constant("z", 77, np.uint8)])

# Old converters
add("table_of_names", ["ml-lookup", "index-labels"],
    [N("ArgMax", ["x"], ["i"], name="best", axis=1, keepdims=0), N("ArrayFeatureExtractor", ["names", "i"], ["n"], name="pick", **ml),
     N("Reshape", ["n", "flat"], ["label"], name="flat"), N("Relu", ["x"], ["y"], name="relu")], [X], [Y, value("label", [4], T.STRING)],
    [h.make_tensor("names", T.STRING, [16], [b"n%d" % i for i in range(16)]), constant("flat", [-1], np.int64)],
    domains=ML, allow=["signature"])

add("texts", ["index-texts", "ml-lookup"],
    [N("Gather", ["text", "zero"], ["t"], name="column", axis=1), N("LabelEncoder", ["t"], ["n"], name="code",
       keys_strings=["red", "green", "blue"], values_floats=[0.5, 1.5, 2.5], default_float=-3.0, **ml),
     N("OneHotEncoder", ["t"], ["h"], name="hot", cats_strings=["blue", "gray"], zeros=1, **ml),
     N("Reshape", ["n", "one"], ["n1"], name="column1"), N("Concat", ["n1", "h"], ["y"], name="all", axis=1)], [value("text", [4, 2], T.STRING)], [value("y", [4, 3])],
    [constant("zero", 0, np.int64), constant("one", [-1, 1], np.int64)], domains=ML, allow=["signature"])

long = "scope/" * 800
add("long_tensor", ["shorten-names"], [N("Relu", ["x"], [long], name="relu"), N("Add", [long, long], ["y"], name="add")], [X], [Y])
add("bytes_chain", ["narrow-integers", "inner-uint8"],
    [N("ReduceMax", ["b"], ["m"], name="max", axes=[1], keepdims=1), N("Mul", ["m", "two"], ["d"], name="twice"), N("Cast", ["d"], ["f"], name="float", to=1),
     N("Add", ["x", "f"], ["y"], name="add")], [value("b", [4, 16], T.UINT8), X], [Y], [constant("two", 2, np.uint8)])

add("counted_transposed", ["count-nonzero"], [N("NonZero", ["x"], ["i"], name="nonzero"), N("Transpose", ["i"], ["t"], name="turn"),
    N("Shape", ["t"], ["s"], name="shape"), N("Cast", ["s"], ["c"], name="float", to=1), N("Concat", ["c", "r"], ["y"], name="all", axis=0)],
    [X], [value("y", [3])], [constant("r", [0.5], np.float32)])

# Meaning
add("dropout", ["dropout-inference"], after("Dropout", inputs=["h", "r", "t"], outputs=["y"]), [X], [Y],
    [constant("r", 0.5, np.float32), constant("t", True)], shown=None, allow=["dropout-inference"])
add("random_fold", [], [N("RandomUniform", [], ["u"], name="random", shape=[16, 16]), N("Unique", ["u"], ["v"], name="unique"),
    N("Shape", ["v"], ["s"], name="s"), N("Cast", ["s"], ["f"], name="c", to=1), N("Add", ["x", "f"], ["y"], name="add")], [X], [Y],
    status="failed", shown=None)
add("two_repairs", ["dequantize-constants", "unwrap-optionals"],
    [*dequantized[:1], N("Optional", ["x"], ["o"], name="some"), N("OptionalGetElement", ["o"], ["t"], name="get"),
     N("MatMul", ["t", "w"], ["y"], name="mm")], [X], [Y],
    [scale, constant("z", 100, np.uint8), integers("wq", 0, 255, np.uint8, 16, 16)])
add("not_repairable", [], after("Unique", outputs=["y"], axis=0), [X], [value("y", None)], status="failed", shown=None)

# What TensorRT 10.6 builds and computes wrong; it is not here, so that tables decide.
at106 = {"tensorrt": "10.6"}
parts = [
    N("MatMul", ["x", "w"], ["qkv"], name="qkv"),
    N("Reshape", ["qkv", "five"], ["r"], name="reshape"),
    N("Transpose", ["r"], ["p"], name="parts", perm=[2, 0, 3, 1, 4]),
]
attention = [
    N("Transpose", ["k"], ["kt"], name="turn", perm=[0, 1, 3, 2]),
    N("Mul", ["q", "s"], ["qs"], name="scale_q"), N("Mul", ["kt", "s"], ["ks"], name="scale_k"),
    N("MatMul", ["qs", "ks"], ["qk"], name="qk"), N("Softmax", ["qk"], ["a"], name="softmax"),
    N("MatMul", ["a", "v"], ["y"], name="av"),
]
A = [weight("w", 16, 48), constant("five", [1, 8, 3, 2, 8], np.int64), constant("s", 0.59460356, np.float32)]
add("lost_scale_gather", ["merge-scales"],
    [*parts, *(N("Gather", ["p", f"i{i}"], [name], name=f"part_{name}", axis=0) for i, name in enumerate("qkv")), *attention],
    [value("x", [1, 8, 16])], [value("y", [1, 2, 8, 8])], [*A, *(constant(f"i{i}", i, np.int64) for i in range(3))],
    shown="rounding", allow=["rounding"], **at106)
add("lost_scale_split", ["merge-scales"],
    [*parts, N("Split", ["p", "ones"], ["q5", "k5", "v5"], name="split", axis=0),
     *(N("Squeeze", [f"{name}5", "zero"], [name], name=f"part_{name}") for name in "qkv"), *attention],
    [value("x", [1, 8, 16])], [value("y", [1, 2, 8, 8])],
    [*A, constant("ones", [1, 1, 1], np.int64), constant("zero", [0], np.int64)],
    shown="rounding", allow=["rounding"], **at106)
G = [value("x", [1, 2, 6, 5]), value("grid", [1, 3, 4, 2])]
samples = [N("GridSample", ["x", "grid"], ["a"], name="linear", mode="linear", padding_mode="border"),
           N("GridSample", ["x", "grid"], ["b"], name="cubic", mode="cubic", align_corners=1),
           N("GridSample", ["x", "grid"], ["c"], name="default"),
           N("Sum", ["a", "b", "c"], ["y"], name="sum")]
add("grid_sample_names", ["grid-sample-names"], samples, G, [value("y", [1, 2, 3, 4])], opset=20, ir=9, **at106)
add("grid_sample_names_21", ["grid-sample-names"], samples, G, [value("y", [1, 2, 3, 4])], opset=21, ir=10, **at106)
add("grid_sample_beside_gelu", [], [*samples, N("Gelu", ["y"], ["z"], name="gelu")], G, [value("z", [1, 2, 3, 4])],
    opset=20, ir=9, status="failed", shown=None, **at106)
for name, keep in (("log_sum_exp", 1), ("log_sum_exp_flat", 0)):
    add(name, ["log-sum-exp"], [N("ReduceLogSumExp", ["x", "axes"], ["y"], name="lse", keepdims=keep)], [X3],
        [value("y", [2, 8, 1] if keep else [2, 8])], [constant("axes", [-1], np.int64)], opset=18,
        shown="rounding", allow=["rounding"], **at106)
add("group_norm_18", ["group-norm-means"],
    [N("GroupNormalization", ["x", "s", "b"], ["y"], name="norm", num_groups=1, epsilon=1e-3)], [value("x", [2, 4, 3, 3])],
    [value("y", [2, 4, 3, 3])], [constant("s", [1.5], np.float32), constant("b", [0.25], np.float32)], opset=18,
    shown="rounding", allow=["rounding"], **at106)
add("group_norm_21", ["group-norm-means"],
    [N("GroupNormalization", ["x", "s", "b"], ["y"], name="norm", num_groups=1)], [value("x", [2, 4, 5])],
    [value("y", [2, 4, 5])], [weight("s", 4), weight("b", 4)], opset=21, ir=10, shown="rounding", allow=["rounding"], **at106)
add("conv_transpose_odd", ["transposed-pads"],
    [N("ConvTranspose", ["x", "w"], ["y"], name="up", strides=[2, 3], dilations=[1, 2], output_shape=[10, 17])],
    [value("x", [1, 2, 5, 5])], [value("y", [1, 3, 10, 17])], [weight("w", 2, 3, 3, 3)], **at106)

if __name__ == "__main__":
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for name, model, expected in models:
        onnx.save(model, os.path.join(folder, name + ".onnx"))
        print(json.dumps({"name": name, **expected}))
