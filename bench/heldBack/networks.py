"""Small networks with a known attention, normalization, activation or convolution, each described by its factors.

`CASES` lists them: a case is a dict of factors, and `build(case)` makes its model. A case changes one factor of a base, or
two. The same list runs on TensorRT and TensorRT-RTX (`experiment.py`), so results can be joined by `id`.
"""

import math

import numpy as np

from tiny_onnx import BFLOAT16, BOOL, FLOAT, FLOAT8, FLOAT16, INT8, INT64, Model

KINDS = {"fp32": FLOAT, "tf32": FLOAT, "fp16": FLOAT16, "bf16": BFLOAT16, "fp16-flag": FLOAT, "bf16-flag": FLOAT}
#: What the builder gets besides the model. Others are strongly typed: the model says the types.
WEAK = {"fp32": ["--no-tf32"], "tf32": [], "fp16-flag": ["--fp16"], "bf16-flag": ["--bf16"]}

ATTENTION = {
    "family": "attention", "type": "fp16", "head": 64, "length": 128, "keys": 0, "heads": 4, "batch": 2, "mask": "none",
    "scale": "mul", "layout": "projected", "softmax": "plain", "quantize": "none", "dynamic": "none", "extra": "none",
    "prologue": "none", "opset": 17,
}  # fmt: skip


class Builder:
    #: Models without their weights, for those who only read the graph.
    outside = False

    def __init__(self, case):
        self.case, self.kind = case, KINDS[case["type"]]
        #: 19 brings Q/DQ with FP16 scales, and FP8.
        self.m = Model(case["opset"] if case["quantize"] == "none" else 19, seed=len(str(case)), outside=self.outside)

    def reduce(self, op, x, axis, **more):
        if self.m.opset < 18:
            return self.m.node(op, [x], axes=[axis], **more)
        return self.m.node(op, [x, self.ints(axis)], **more)

    def scalar(self, value):
        return self.m.constant(np.array(value, np.float32), self.kind)

    def weight(self, *shape):
        return self.m.weight(*shape, kind=self.kind)

    def ints(self, *values):
        return self.m.constant(np.array(values, np.int64))

    def qdq(self, x, fp8=False, scale=0.05):
        zero = self.m.constant(np.zeros((), np.float32), FLOAT8) if fp8 else self.m.constant(np.zeros((), np.int8))
        factor = self.scalar(scale)
        q = self.m.node("QuantizeLinear", [x, factor, zero])
        return self.m.node("DequantizeLinear", [q, factor, zero])

    def fp32(self, x):
        return self.m.node("Cast", [x], to=FLOAT) if self.kind != FLOAT else x

    def typed(self, x):
        return self.m.node("Cast", [x], to=self.kind) if self.kind != FLOAT else x

    def dense(self, x, rows, columns, name, bias=True, quantize=False, fp8=False):
        w = self.weight(rows, columns)
        if quantize:
            x, w = self.qdq(x, fp8), self.qdq(w, fp8, 0.002)
        y = self.m.node("MatMul", [x, w], name=name)
        return self.m.node("Add", [y, self.weight(columns)], name=name + "/bias") if bias else y


def attention(case):
    b = Builder(case)
    m, h, d, n = b.m, case["heads"], case["head"], case["batch"]
    s = case["length"]
    t = case["keys"] or s
    width = h * d
    batch = "N" if case["dynamic"] in ("batch", "both") else n
    queries = "S" if case["dynamic"] in ("length", "both") else s
    keys = queries if t == s else t
    fp8 = case["quantize"].endswith("-fp8")
    where = case["quantize"].removesuffix("-fp8")
    projections = where in ("projections", "all")
    products = where in ("products", "all", "products-no-softmax")
    layout = case["layout"]
    kv_heads = {"grouped": h // 2, "multi-query": 1}.get(layout, h)

    def split_heads(x, length, count, name):
        shaped = m.node("Reshape", [x, b.ints(0, 0 if case["dynamic"] != "none" else length, count, d)], name=name + "/reshape")
        return m.node("Transpose", [shaped], perm=[0, 2, 1, 3], name=name + "/heads")

    transposed = False
    if layout == "bare":
        q = m.input("q", b.kind, [batch, h, queries, d])
        k = m.input("k", b.kind, [batch, h, keys, d])
        v = m.input("v", b.kind, [batch, h, keys, d])
    elif layout == "bare-3d":
        q = m.input("q", b.kind, [n * h, queries, d])
        k = m.input("k", b.kind, [n * h, keys, d])
        v = m.input("v", b.kind, [n * h, keys, d])
    elif layout == "bare-transposed-key":
        q = m.input("q", b.kind, [batch, h, queries, d])
        k = m.input("k", b.kind, [batch, h, d, keys])
        v = m.input("v", b.kind, [batch, h, keys, d])
        transposed = True
    elif layout == "channels-first":
        x = m.input("x", b.kind, [n, width, s])
        w = [b.weight(width, width, 1) for _ in range(3)]
        made = [m.node("Conv", [x, item], name="/conv_%s" % part) for part, item in zip("qkv", w, strict=True)]
        q, k, v = (m.node("Reshape", [item, b.ints(n, h, d, s)]) for item in made)
        q = m.node("Transpose", [q], perm=[0, 1, 3, 2])
        transposed = True
    elif layout == "packed":
        x = m.input("x", b.kind, [batch, queries, width])
        packed = b.dense(x, width, 3 * width, "/qkv", quantize=projections, fp8=fp8)
        shaped = m.node("Reshape", [packed, b.ints(0, 0 if case["dynamic"] != "none" else s, 3, h, d)])
        moved = m.node("Transpose", [shaped], perm=[2, 0, 3, 1, 4])
        q, k, v = (m.node("Gather", [moved, m.constant(np.array(i, np.int64))], axis=0) for i in range(3))
    elif layout == "packed-split":
        x = m.input("x", b.kind, [batch, queries, width])
        packed = b.dense(x, width, 3 * width, "/qkv", quantize=projections, fp8=fp8)
        parts = m.node("Split", [packed, b.ints(width, width, width)], 3, axis=2)
        q, k, v = (split_heads(part, s, h, "/" + name) for part, name in zip(parts, "qkv", strict=True))
    else:
        x = m.input("x", b.kind, [batch, queries, width])
        y = x if t == s else m.input("y", b.kind, [n, t, width])
        q = split_heads(b.dense(x, width, width, "/q", quantize=projections, fp8=fp8), s, h, "/q")
        k = split_heads(b.dense(y, width, kv_heads * d, "/k", quantize=projections, fp8=fp8), t, kv_heads, "/k")
        v = split_heads(b.dense(y, width, kv_heads * d, "/v", quantize=projections, fp8=fp8), t, kv_heads, "/v")
        if layout in ("grouped", "multi-query"):
            def repeated(x):
                lifted = m.node("Unsqueeze", [x, b.ints(2)])
                wide = m.node("Expand", [lifted, b.ints(n, kv_heads, h // kv_heads, s, d)])
                return m.node("Reshape", [wide, b.ints(n, h, s, d)])
            k, v = repeated(k), repeated(v)
        if layout == "merged-heads":
            q, k, v = (m.node("Reshape", [item, b.ints(-1, size, d)]) for item, size in ((q, s), (k, t), (v, t)))

    def normalized(x):
        square = m.node("Mul", [x, x])
        total = m.node("ReduceSum", [square, b.ints(-1)], keepdims=1) 
        return m.node("Div", [x, m.node("Sqrt", [m.node("Add", [total, b.scalar(1e-6)])])])

    def rotary(x):
        shape = (1, 1, s, d)
        cos, sin = b.m.constant(np.cos(np.arange(s * d).reshape(shape) / 100).astype(np.float32), b.kind), b.m.constant(
            np.sin(np.arange(s * d).reshape(shape) / 100).astype(np.float32), b.kind
        )
        low = m.node("Slice", [x, b.ints(0), b.ints(d // 2), b.ints(3)])
        high = m.node("Slice", [x, b.ints(d // 2), b.ints(d), b.ints(3)])
        turned = m.node("Concat", [m.node("Neg", [high]), low], axis=3)
        return m.node("Add", [m.node("Mul", [x, cos]), m.node("Mul", [turned, sin])])

    if case["prologue"] == "rotary":
        q, k = rotary(q), rotary(k)
    elif case["prologue"] == "normalized":
        q, k = normalized(q), normalized(k)
    elif case["prologue"] == "layernorm":
        q, k = (m.node("LayerNormalization", [item, b.weight(d), b.weight(d)], axis=-1) for item in (q, k))
    elif case["prologue"] == "identity":
        q, k, v = (m.node("Identity", [item]) for item in (q, k, v))

    root = 1 / math.sqrt(d)
    scale = case["scale"]
    if scale == "query":
        q = m.node("Mul", [q, b.scalar(root)], name="/scale")
    elif scale == "query-div":
        q = m.node("Div", [q, b.scalar(1 / root)], name="/scale")
    elif scale == "both":
        q, k = m.node("Mul", [q, b.scalar(root**0.5)], name="/scale"), m.node("Mul", [k, b.scalar(root**0.5)], name="/scale_k")
    elif scale == "key":
        k = m.node("Mul", [k, b.scalar(root)], name="/scale")
    if products:
        q, k, v = b.qdq(q, fp8), b.qdq(k, fp8), b.qdq(v, fp8)
    last = [0, 2, 1] if layout in ("bare-3d", "merged-heads") else [0, 1, 3, 2]
    if layout == "einsum":
        scores = m.node("Einsum", [q, k], name="/qk", equation="bhqd,bhkd->bhqk")
    else:
        if not transposed:
            k = m.node("Transpose", [k], perm=last, name="/k/transpose")
        if scale == "both-transposed":
            q, k = m.node("Mul", [q, b.scalar(root**0.5)], name="/scale"), m.node("Mul", [k, b.scalar(root**0.5)], name="/scale_k")
        scores = m.node("MatMul", [q, k], name="/qk")
    if case["extra"] == "scores":
        m.output(scores, b.kind, 3 if last == [0, 2, 1] else 4)

    def scaled(x):
        if scale == "mul":
            return m.node("Mul", [x, b.scalar(root)], name="/scale")
        if scale == "div":
            return m.node("Div", [x, b.scalar(1 / root)], name="/scale")
        if scale == "mul-fp32":
            return b.typed(m.node("Mul", [b.fp32(x), m.constant(np.array(root, np.float32))], name="/scale"))
        if scale == "per-head":
            return m.node("Mul", [x, b.weight(h, 1, 1)], name="/scale")
        if scale == "input":
            return m.node("Mul", [x, m.input("temperature", b.kind, [1])], name="/scale")
        if scale == "shape":
            size = m.node("Cast", [m.node("Gather", [m.node("Shape", [q]), m.constant(np.array(-1, np.int64))])], to=b.kind)
            return m.node("Div", [x, m.node("Sqrt", [size])], name="/scale")
        if scale == "twice":
            return m.node("Mul", [m.node("Mul", [x, b.scalar(root)], name="/scale"), b.scalar(1.5)], name="/scale_2")
        return x

    def masked(x):
        mask = case["mask"]
        big = -65504.0 if b.kind == FLOAT16 else -1e9
        rank = 3 if last == [0, 2, 1] else 4
        causal = np.triu(np.ones((s, t), np.bool_), 1)
        if mask == "add-constant":
            return m.node("Add", [x, m.constant(np.where(causal, big, 0).astype(np.float32).reshape((1,) * (rank - 2) + (s, t)), b.kind)], name="/mask")
        if mask == "bias-heads":
            return m.node("Add", [x, b.weight(1, h, s, t)], name="/mask")
        if mask == "bias-batch-heads":
            return m.node("Add", [x, b.weight(n, h, s, t)], name="/mask")
        if mask == "bias-two":
            return m.node("Add", [m.node("Add", [x, b.weight(1, h, s, t)], name="/mask"), b.weight(n, 1, s, t)], name="/mask_2")
        if mask in ("add-keys", "add-square", "add-heads", "add-queries"):
            shape = {"add-keys": [batch, 1, 1, keys], "add-square": [batch, 1, queries, keys], "add-heads": [batch, h, queries, keys], "add-queries": [batch, 1, queries, 1]}[mask]
            return m.node("Add", [x, m.input("mask", b.kind, shape)], name="/mask")
        if mask == "add-keys-3d":
            return m.node("Add", [x, m.input("mask", b.kind, [1, 1, keys])], name="/mask")
        if mask in ("where", "where-square", "where-swapped"):
            condition = m.input("mask", BOOL, [batch, 1, 1 if mask == "where" else queries, keys])
            parts = [condition, b.scalar(big), x] if mask == "where-swapped" else [condition, x, b.scalar(big)]
            return m.node("Where", parts, name="/mask")
        if mask == "where-infinite":
            condition = m.input("mask", BOOL, [batch, 1, 1, keys])
            return m.node("Where", [condition, x, b.scalar(float("-inf"))], name="/mask")
        if mask == "where-causal":
            return m.node("Where", [m.constant(causal.reshape((1,) * (rank - 2) + (s, t))), b.scalar(big), x], name="/mask")
        if mask in ("ids", "ids-mul"):
            ids = m.input("mask", INT64, [batch, keys])
            lifted = m.node("Unsqueeze", [ids, b.ints(1, 2)])
            if mask == "ids":
                return m.node("Where", [m.node("Cast", [lifted], to=BOOL), x, b.scalar(big)], name="/mask")
            left = m.node("Sub", [b.scalar(1.0), m.node("Cast", [lifted], to=b.kind)])
            return m.node("Add", [x, m.node("Mul", [left, b.scalar(-10000.0)])], name="/mask")
        if mask == "add-fp32":
            return b.typed(m.node("Add", [b.fp32(x), m.input("mask", FLOAT, [batch, 1, 1, keys])], name="/mask"))
        if mask == "alibi":
            slopes = (2.0 ** -np.arange(1, h + 1)).reshape(1, h, 1, 1) * np.arange(t).reshape(1, 1, 1, t)
            return m.node("Add", [x, m.constant(slopes.astype(np.float32), b.kind)], name="/mask")
        if mask == "multiply":
            return m.node("Mul", [x, m.input("mask", b.kind, [batch, 1, 1, keys])], name="/mask")
        if mask == "clip":
            return m.node("Clip", [x, b.scalar(-50.0), b.scalar(50.0)], name="/mask")
        if mask == "add-then-max":
            added = m.node("Add", [x, m.input("mask", b.kind, [batch, 1, 1, keys])], name="/mask")
            return m.node("Max", [added, b.scalar(big)], name="/mask_2")
        return x

    if scale == "after-mask":
        scores = m.node("Mul", [masked(scores), b.scalar(root)], name="/scale")
    else:
        scores = masked(scaled(scores))

    softmax = case["softmax"]
    if softmax == "plain":
        weights = m.node("Softmax", [scores], axis=-1, name="/softmax")
    elif softmax == "last-positive":
        weights = m.node("Softmax", [scores], axis=2 if last == [0, 2, 1] else 3, name="/softmax")
    elif softmax == "fp32":
        weights = b.typed(m.node("Softmax", [b.fp32(scores)], axis=-1, name="/softmax"))
    elif softmax == "decomposed":
        top = b.reduce("ReduceMax", scores, -1, keepdims=1)
        power = m.node("Exp", [m.node("Sub", [scores, top])])
        weights = m.node("Div", [power, m.node("ReduceSum", [power, b.ints(-1)], keepdims=1)], name="/softmax")
    elif softmax == "plus-one":
        power = m.node("Exp", [m.node("Sub", [scores, b.reduce("ReduceMax", scores, -1, keepdims=1)])])
        total = m.node("Add", [m.node("ReduceSum", [power, b.ints(-1)], keepdims=1), b.scalar(1.0)])
        weights = m.node("Div", [power, total], name="/softmax")
    elif softmax == "capped":
        capped = m.node("Mul", [m.node("Tanh", [m.node("Mul", [scores, b.scalar(0.02)])]), b.scalar(50.0)])
        weights = m.node("Softmax", [capped], axis=-1, name="/softmax")
    elif softmax == "nan-guard":
        made = m.node("Softmax", [scores], axis=-1, name="/softmax")
        weights = m.node("Where", [m.node("IsNaN", [made]), b.scalar(0.0), made])
    elif softmax == "scaled-after":
        weights = m.node("Mul", [m.node("Softmax", [scores], axis=-1, name="/softmax"), b.scalar(1.1)])
    elif softmax == "masked-after":
        weights = m.node("Mul", [m.node("Softmax", [scores], axis=-1, name="/softmax"), m.input("keep", b.kind, [batch, 1, 1, keys])])
    elif softmax == "identity":
        weights = m.node("Identity", [m.node("Softmax", [scores], axis=-1, name="/softmax")])
    elif softmax == "second-last":
        weights = m.node("Softmax", [scores], axis=-2, name="/softmax")
    elif softmax == "log-exp":
        weights = m.node("Exp", [m.node("LogSoftmax", [scores], axis=-1, name="/softmax")])
    elif softmax == "relu":
        weights = m.node("Relu", [scores], name="/softmax")
    elif softmax == "sigmoid":
        weights = m.node("Sigmoid", [scores], name="/softmax")
    elif softmax == "transposed":
        turned = m.node("Transpose", [scores], perm=last)
        weights = m.node("Transpose", [m.node("Softmax", [turned], axis=-2, name="/softmax")], perm=last)
    if case["extra"] == "weights":
        m.output(weights, b.kind, 3 if last == [0, 2, 1] else 4)
    elif case["extra"] == "weights-mean":
        m.output(b.reduce("ReduceMean", weights, 1, keepdims=0), b.kind, 3)
    if products and where != "products-no-softmax":
        weights = b.qdq(weights, fp8, 1 / 127)
    if layout == "einsum":
        out = m.node("Einsum", [weights, v], name="/pv", equation="bhqk,bhkd->bhqd")
    elif layout == "channels-first":
        out = m.node("MatMul", [v, m.node("Transpose", [weights], perm=[0, 1, 3, 2])], name="/pv")
    else:
        out = m.node("MatMul", [weights, v], name="/pv")
    if layout in ("bare", "bare-3d", "bare-transposed-key"):
        m.output(out, b.kind, 3 if layout == "bare-3d" else 4)
        return m
    if layout == "channels-first":
        out = b.m.node("Conv", [m.node("Reshape", [out, b.ints(n, width, s)]), b.weight(width, width, 1)], name="/out")
        m.output(out, b.kind, 3)
        return m
    if layout == "merged-heads":
        out = m.node("Reshape", [out, b.ints(n, h, s, d)])
    moved = m.node("Transpose", [out], perm=[0, 2, 1, 3], name="/merge")
    flat = m.node("Reshape", [moved, b.ints(0, 0 if case["dynamic"] != "none" else s, width)], name="/merge/reshape")
    out = m.node("Add", [b.dense(flat, width, width, "/out", quantize=projections, fp8=fp8), x], name="/residual")
    m.output(out, b.kind, 3)
    return m


NORM = {"family": "normalization", "type": "fp16", "form": "decomposed", "size": 256, "shape": "tokens", "before": "dense",
        "after": "dense", "casts": "none", "quantize": "none", "dynamic": "none", "extra": "none", "opset": 17}  # fmt: skip


def normalization(case):
    b = Builder(case)
    m, size, form = b.m, case["size"], case["form"]
    batch = "N" if case["dynamic"] == "batch" else 2
    images = case["shape"] == "image"
    x = m.input("x", b.kind, [batch, size, 16, 16] if images else [batch, 64, size])
    if case["before"] == "dense" and not images:
        x = m.node("Add", [b.dense(x, size, size, "/before"), x], name="/before/residual")
    elif case["before"] == "conv":
        x = m.node("Conv", [x, b.weight(size, size, 1, 1)], name="/before")
    wide = case["casts"] == "fp32"
    y = b.fp32(x) if wide else x
    constant = (lambda value: m.constant(np.array(value, np.float32))) if wide else b.scalar
    weight = (lambda *shape: m.weight(*shape)) if wide else b.weight
    shaped = (size, 1, 1) if images else (size,)
    axis = 1 if images else -1
    if form == "op":
        y = m.node("LayerNormalization", [y, weight(size), weight(size)], axis=-1, epsilon=1e-5, name="/norm")
    elif form == "instance":
        y = m.node("InstanceNormalization", [y, weight(size), weight(size)], name="/norm")
    elif form in ("group-reshape",):
        folded = m.node("Reshape", [y, b.ints(0, 8, -1)])
        normal = m.node("InstanceNormalization", [folded, constant_vector(m, 8, 1, b, wide), constant_vector(m, 8, 0, b, wide)], name="/norm")
        back = m.node("Reshape", [normal, b.ints(0, size, 16, 16)])
        y = m.node("Add", [m.node("Mul", [back, weight(*shaped)]), weight(*shaped)])
    elif form == "batch":
        variance = m.constant(np.ones(size, np.float32), FLOAT if wide else b.kind)
        y = m.node("BatchNormalization", [y, weight(size), weight(size), weight(size), variance], name="/norm")
    elif form in ("rms", "rms-reciprocal", "rms-div-one"):
        mean = b.reduce("ReduceMean", m.node("Pow", [y, constant(2.0)], name="/norm/pow"), axis, keepdims=1)
        root = m.node("Sqrt", [m.node("Add", [mean, constant(1e-6)])])
        if form == "rms":
            y = m.node("Div", [y, root])
        elif form == "rms-reciprocal":
            y = m.node("Mul", [y, m.node("Reciprocal", [root])])
        else:
            y = m.node("Mul", [y, m.node("Div", [constant(1.0), root])])
        if case["casts"] == "fp32-before-weight":
            y = b.typed(y)
        y = m.node("Mul", [y, weight(*shaped)], name="/norm/scale")
    else:
        mean = b.reduce("ReduceMean", y, axis, keepdims=1, name="/norm/mean")
        centered = m.node("Sub", [y, mean])
        square = m.node("Mul", [centered, centered]) if form == "mul" else m.node("Pow", [centered, constant(2.0)])
        variance = b.reduce("ReduceMean", square, axis, keepdims=1)
        root = m.node("Sqrt", [m.node("Add", [variance, constant(1e-5)])])
        y = m.node("Mul", [centered, m.node("Reciprocal", [root])]) if form == "reciprocal" else m.node("Div", [centered, root])
        if form != "no-affine":
            y = m.node("Add", [m.node("Mul", [y, weight(*shaped)]), weight(*shaped)], name="/norm/shift")
        if case["extra"] == "mean":
            m.output(mean, FLOAT if wide else b.kind, 3)
    if wide:
        y = b.typed(y)
    if case["extra"] == "output":
        m.output(y, b.kind, 4 if images else 3)
    if case["after"] == "dense" and not images:
        y = b.dense(y, size, size, "/after", quantize=case["quantize"] == "after")
    elif case["after"] == "conv":
        y = m.node("Conv", [y, b.weight(size, size, 1, 1)], name="/after")
    m.output(y, b.kind, 4 if images else 3)
    return m


def constant_vector(m, size, value, b, wide):
    return m.constant(np.full(size, value, np.float32), FLOAT if wide else b.kind)


ACTIVATION = {"family": "activation", "type": "fp16", "form": "erf", "size": 256, "before": "dense", "casts": "none",
              "quantize": "none", "dynamic": "none", "extra": "none", "opset": 17}  # fmt: skip


def activation_of(b, x, form):
    m = b.m
    if form == "erf":
        half = m.node("Add", [m.node("Erf", [m.node("Div", [x, b.scalar(math.sqrt(2))])], name="/act/erf"), b.scalar(1.0)])
        return m.node("Mul", [m.node("Mul", [x, half]), b.scalar(0.5)], name="/act")
    if form == "erf-half-first":
        half = m.node("Add", [m.node("Erf", [m.node("Mul", [x, b.scalar(math.sqrt(0.5))])], name="/act/erf"), b.scalar(1.0)])
        return m.node("Mul", [m.node("Mul", [x, b.scalar(0.5)]), half], name="/act")
    if form == "tanh":
        cube = m.node("Mul", [m.node("Pow", [x, b.scalar(3.0)]), b.scalar(0.044715)])
        inner = m.node("Tanh", [m.node("Mul", [m.node("Add", [x, cube]), b.scalar(0.7978845)])], name="/act/tanh")
        return m.node("Mul", [m.node("Mul", [x, b.scalar(0.5)]), m.node("Add", [inner, b.scalar(1.0)])], name="/act")
    if form == "op":
        return m.node("Gelu", [x], name="/act")
    if form == "op-tanh":
        return m.node("Gelu", [x], approximate="tanh", name="/act")
    if form == "quick":
        return m.node("Mul", [x, m.node("Sigmoid", [m.node("Mul", [x, b.scalar(1.702)])])], name="/act")
    if form == "silu":
        return m.node("Mul", [x, m.node("Sigmoid", [x])], name="/act")
    if form == "mish":
        return m.node("Mul", [x, m.node("Tanh", [m.node("Softplus", [x])])], name="/act")
    if form == "hardswish":
        return m.node("Mul", [x, m.node("HardSigmoid", [x], alpha=1 / 6, beta=0.5)], name="/act")
    if form == "hardswish-op":
        return m.node("HardSwish", [x], name="/act")
    if form == "leaky":
        return m.node("LeakyRelu", [x], alpha=0.1, name="/act")
    if form == "relu6":
        return m.node("Clip", [x, b.scalar(0.0), b.scalar(6.0)], name="/act")
    if form == "prelu":
        return m.node("PRelu", [x, b.weight(b.case["channels"], 1, 1)], name="/act")
    if form == "none":
        return x
    return m.node({"relu": "Relu", "sigmoid": "Sigmoid", "tanh-op": "Tanh", "elu": "Elu", "softplus": "Softplus"}[form], [x], name="/act")


def activation(case):
    b = Builder(case)
    m, size = b.m, case["size"]
    batch = "N" if case["dynamic"] == "batch" else 2
    if case["before"] == "conv":
        x = m.input("x", b.kind, [batch, 64, 16, 16])
        x = m.node("Conv", [x, b.weight(size, 64, 1, 1), b.weight(size)], name="/before")
    elif case["before"] == "gemm":
        x = m.node("Gemm", [m.input("x", b.kind, [batch, 256]), b.weight(256, size), b.weight(size)], name="/before")
    elif case["before"] == "none":
        x = m.input("x", b.kind, [batch, 64, size])
    elif case["before"] == "gated":
        x = m.input("x", b.kind, [batch, 64, 256])
        gate, up = b.dense(x, 256, size, "/gate", bias=False), b.dense(x, 256, size, "/up", bias=False)
        y = m.node("Mul", [activation_of(b, gate, case["form"]), up], name="/gated")
        m.output(b.dense(y, size, 256, "/after", bias=False), b.kind, 3)
        return m
    else:
        x = b.dense(m.input("x", b.kind, [batch, 64, 256]), 256, size, "/before", bias=case["before"] != "dense-no-bias",
                    quantize=case["quantize"] != "none")  # fmt: skip
    if case["extra"] == "before":
        m.output(x, b.kind, 3)
    y = activation_of(b, x, case["form"])
    if case["extra"] == "after":
        m.output(y, b.kind, 3)
    if case["before"] == "conv":
        y = m.node("Conv", [y, b.weight(64, size, 1, 1)], name="/after")
        m.output(y, b.kind, 4)
    else:
        y = b.dense(y, size, 256, "/after", quantize=case["quantize"] == "both")
        m.output(y, b.kind, 2 if case["before"] == "gemm" else 3)
    return m


CONVOLUTION = {"family": "convolution", "type": "fp16", "channels": 64, "kernel": 3, "groups": 1, "form": "relu",
               "order": "add-act", "bn": False, "quantize": "none", "dynamic": "none", "extra": "none", "opset": 17}  # fmt: skip


def convolution(case):
    b = Builder(case)
    m, c, k, groups = b.m, case["channels"], case["kernel"], case["groups"] or case["channels"]
    batch = "N" if case["dynamic"] == "batch" else 2
    x = m.input("x", b.kind, [batch, c, 28, 28])
    first = m.node("Relu", [m.node("Conv", [x, b.weight(c, c, 1, 1)], name="/stem")], name="/stem/act")
    quantized = case["quantize"] != "none"
    source, weight = first, b.weight(c, c // groups, k, k)
    if quantized:
        source, weight = b.qdq(source), b.qdq(weight, scale=0.002)
    y = m.node("Conv", [source, weight, b.weight(c)], name="/conv", pads=[k // 2] * 4, group=groups)
    if case["bn"]:
        y = m.node("BatchNormalization", [y, b.weight(c), b.weight(c), b.weight(c), m.constant(np.ones(c, np.float32), b.kind)], name="/bn")
    if case["extra"] == "before":
        m.output(y, b.kind, 4)
    order, residual = case["order"], b.qdq(first) if case["quantize"] == "residual" else first
    if order == "add-act":
        y = activation_of(b, m.node("Add", [y, residual], name="/residual"), case["form"])
    elif order == "act-add":
        y = m.node("Add", [activation_of(b, y, case["form"]), residual], name="/residual")
    elif order == "scale-add":
        y = m.node("Add", [m.node("Mul", [activation_of(b, y, case["form"]), b.weight(c, 1, 1)]), residual], name="/residual")
    elif order == "concat":
        y = m.node("Concat", [activation_of(b, y, case["form"]), residual], axis=1)
    elif order == "squeeze":
        y = activation_of(b, y, case["form"])
        gate = m.node("Sigmoid", [m.node("Conv", [m.node("GlobalAveragePool", [y]), b.weight(c, c, 1, 1)])])
        y = m.node("Mul", [y, gate], name="/gate")
    else:
        y = activation_of(b, y, case["form"])
    m.output(y, b.kind, 4)
    return m


FAMILIES = {"attention": attention, "normalization": normalization, "activation": activation, "convolution": convolution}


def build(case):
    return FAMILIES[case["family"]](case)


def builder_options(case):
    """Arguments of `build_engine.py`, without the model; None: TensorRT-RTX has no such build."""
    options = list(WEAK.get(case["type"], ["--strongly-typed"]))
    if case["type"] in ("fp32", "tf32", "fp16-flag", "bf16-flag") and case["quantize"] != "none":
        options += ["--fp8"] if case["quantize"].endswith("fp8") else ["--int8"]
    if case["dynamic"] != "none":
        profile = {}
        for name, _, shape in build(case).ends:
            low = [1 if size == "N" else 16 if size == "S" else size for size in shape]
            best = [2 if size == "N" else case.get("length", 1) if size == "S" else size for size in shape]
            high = [8 if size == "N" else 2 * case.get("length", 1) if size == "S" else size for size in shape]
            if low != high:
                profile[name] = {"min": low, "opt": best, "max": high}
        import json

        options += ["--profile", json.dumps(profile)]
    return options


def cases():
    found = {}

    def add(base, **factors):
        case = {**base, **factors}
        name = case["family"][:4] + "".join(":%s=%s" % item for item in sorted(factors.items()))
        found.setdefault(name, {"id": name, **case})

    def sweep(base, factor, values, **rest):
        for value in values:
            add(base, **{factor: value}, **rest)

    types = ["fp32", "tf32", "fp16", "bf16", "fp16-flag", "bf16-flag"]
    masks = ["none", "add-constant", "bias-heads", "bias-batch-heads", "bias-two", "add-keys", "add-square", "add-heads", "add-queries",
             "add-keys-3d", "where", "where-square", "where-swapped", "where-infinite", "where-causal", "ids", "ids-mul", "add-fp32",
             "alibi", "multiply", "clip", "add-then-max"]  # fmt: skip
    scales = ["mul", "none", "div", "query", "query-div", "both", "both-transposed", "key", "mul-fp32", "per-head", "input", "shape",
              "twice", "after-mask"]  # fmt: skip
    forms = ["last-positive", "fp32", "decomposed", "plus-one", "capped", "nan-guard", "scaled-after", "masked-after", "identity",
             "second-last", "log-exp", "relu", "sigmoid", "transposed"]  # fmt: skip
    layouts = ["projected", "packed", "packed-split", "bare", "bare-3d", "bare-transposed-key", "channels-first", "einsum", "grouped",
               "multi-query", "merged-heads"]  # fmt: skip
    quantized = ["projections", "products", "products-no-softmax", "all", "projections-fp8", "products-fp8", "products-no-softmax-fp8", "all-fp8"]
    sweep(ATTENTION, "type", types)
    sweep(ATTENTION, "head", [8, 16, 20, 24, 32, 33, 40, 48, 56, 72, 80, 88, 96, 104, 112, 128, 136, 160, 192, 224, 256, 264, 320, 512])
    sweep(ATTENTION, "length", [1, 7, 8, 16, 17, 32, 49, 64, 100, 144, 196, 197, 256, 384, 512, 577, 1024, 1025, 2048, 4096])
    for length, keys in [(1, 128), (16, 128), (128, 77), (128, 16), (100, 850), (1, 1024), (64, 1), (1024, 77)]:
        add(ATTENTION, length=length, keys=keys)
    sweep(ATTENTION, "mask", masks)
    sweep(ATTENTION, "scale", scales)
    add(ATTENTION, scale="after-mask", mask="add-keys")
    sweep(ATTENTION, "softmax", forms)
    sweep(ATTENTION, "layout", layouts)
    sweep(ATTENTION, "quantize", quantized)
    sweep(ATTENTION, "dynamic", ["batch", "length", "both"])
    sweep(ATTENTION, "extra", ["scores", "weights", "weights-mean"])
    sweep(ATTENTION, "prologue", ["rotary", "normalized", "layernorm", "identity"])
    sweep(ATTENTION, "heads", [1, 2, 3, 12, 16])
    sweep(ATTENTION, "batch", [1, 8, 32, 64])
    for kind in ["fp32", "tf32", "bf16", "fp16-flag", "bf16-flag"]:
        sweep(ATTENTION, "head", [16, 32, 48, 80, 96, 128, 256], type=kind)
        sweep(ATTENTION, "mask", ["add-keys", "add-square", "bias-heads", "where", "ids-mul", "add-fp32"], type=kind)
        sweep(ATTENTION, "length", [1, 16, 49, 197, 512, 1024], type=kind)
        sweep(ATTENTION, "softmax", ["fp32", "decomposed"], type=kind)
        sweep(ATTENTION, "layout", ["packed", "bare", "channels-first"], type=kind)
        sweep(ATTENTION, "dynamic", ["length", "both"], type=kind)
    for kind in ["fp32", "fp16-flag"]:
        sweep(ATTENTION, "quantize", ["projections", "products", "all", "all-fp8"], type=kind)
    for mask in ["add-keys", "add-square", "bias-heads", "where", "alibi"]:
        sweep(ATTENTION, "length", [1, 16, 197, 512, 1024], mask=mask)
        sweep(ATTENTION, "head", [32, 40, 80, 128, 256], mask=mask)
        sweep(ATTENTION, "dynamic", ["length", "both"], mask=mask)
    sweep(ATTENTION, "length", [256, 1024, 2048], head=128)
    sweep(ATTENTION, "length", [16, 512, 1024], head=256)
    sweep(ATTENTION, "head", [32, 64, 128], quantize="all")
    sweep(ATTENTION, "head", [32, 64, 128], quantize="all-fp8")
    sweep(ATTENTION, "length", [256, 512, 1024], quantize="all-fp8")
    sweep(ATTENTION, "length", [256, 512, 1024], quantize="all")
    # Not varied together above: kept to test what the others predict.
    for held, more in enumerate(HELD_OUT):
        add(ATTENTION, **more)
        found["held:%d" % held] = {**found.pop("atte" + "".join(":%s=%s" % item for item in sorted(more.items()))), "id": "held:%d" % held}

    sweep(NORM, "form", ["decomposed", "mul", "reciprocal", "no-affine", "op", "rms", "rms-reciprocal", "rms-div-one"])
    sweep(NORM, "size", [63, 64, 100, 768, 1024, 4096])
    sweep(NORM, "type", types)
    for form in ["decomposed", "op", "rms"]:
        sweep(NORM, "casts", ["fp32"], form=form)
        sweep(NORM, "dynamic", ["batch"], form=form)
        sweep(NORM, "type", ["fp32", "bf16"], form=form)
        sweep(NORM, "before", ["none"], form=form)
        sweep(NORM, "extra", ["output"], form=form)
        sweep(NORM, "quantize", ["after"], form=form)
    add(NORM, form="rms", casts="fp32-before-weight")
    add(NORM, extra="mean")
    for form in ["decomposed", "instance", "group-reshape", "batch"]:
        for kind in ["fp16", "fp32"]:
            add(NORM, form=form, shape="image", before="conv", after="conv", size=64, type=kind)

    sweep(ACTIVATION, "form", ["erf", "erf-half-first", "tanh", "quick", "silu", "mish", "relu"])
    sweep(ACTIVATION, "form", ["op", "op-tanh"], opset=20)
    sweep(ACTIVATION, "type", types)
    sweep(ACTIVATION, "size", [63, 100, 1024, 3072])
    for form in ["erf", "tanh", "silu"]:
        sweep(ACTIVATION, "before", ["conv", "gemm", "none", "dense-no-bias", "gated"], form=form)
        sweep(ACTIVATION, "extra", ["before", "after"], form=form)
        sweep(ACTIVATION, "dynamic", ["batch"], form=form)
        sweep(ACTIVATION, "quantize", ["before", "both"], form=form)
        sweep(ACTIVATION, "type", ["fp32", "bf16"], form=form)

    activations = ["none", "relu", "leaky", "silu", "hardswish", "erf", "relu6", "sigmoid", "mish", "prelu", "elu"]
    for order in ["add-act", "act-add", "act"]:
        sweep(CONVOLUTION, "form", activations, order=order)
    sweep(CONVOLUTION, "order", ["scale-add", "concat", "squeeze"])
    sweep(CONVOLUTION, "type", ["fp32", "tf32", "fp16-flag", "bf16"])
    sweep(CONVOLUTION, "channels", [16, 30, 128])
    sweep(CONVOLUTION, "kernel", [1, 5])
    sweep(CONVOLUTION, "groups", [0, 4])
    add(CONVOLUTION, bn=True)
    add(CONVOLUTION, extra="before")
    add(CONVOLUTION, dynamic="batch")
    for name, more in fresh().items():
        found[name] = {**ATTENTION, **more, "id": name}
    return list(found.values())


def fresh(count=40, seed=26):
    """Attentions by chance, made after the table of conditions: what the table says of them is a prediction."""
    random = np.random.default_rng(seed)
    pick = lambda *values: values[int(random.integers(len(values)))]  # noqa: E731
    made = {}
    for number in range(count):
        case = {
            "type": pick("fp16", "fp16", "fp16", "bf16", "fp32"), "head": pick(8, 24, 32, 48, 64, 64, 72, 96, 128, 192, 288, 384),
            "length": pick(9, 50, 81, 160, 225, 333, 640, 900), "heads": pick(1, 2, 5, 8), "batch": pick(1, 3),
            "mask": pick("none", "add-keys", "bias-heads", "where", "ids-mul", "alibi", "add-constant"),
            "scale": pick("mul", "div", "query", "both", "shape"), "layout": pick("projected", "packed", "packed-split", "bare", "channels-first"),
            "softmax": pick("plain", "plain", "plain", "fp32", "nan-guard", "capped", "transposed"),
            "extra": pick("none", "none", "none", "none", "weights", "scores"), "prologue": pick("none", "none", "rotary", "layernorm"),
        }  # fmt: skip
        if case["type"] == "fp16" and case["layout"] in ("projected", "packed"):
            case["quantize"] = pick("none", "none", "products", "all", "all-fp8", "projections")
        if case["layout"] == "channels-first":
            case.update(prologue="none")
        made["new:%d" % number] = case
    return made


#: Combinations that no sweep has.
HELD_OUT = [
    dict(head=32, length=197, heads=6, mask="none", layout="packed", scale="query"),
    dict(head=80, length=577, heads=3, layout="packed-split", scale="div"),
    dict(head=64, length=77, mask="add-constant", scale="query", heads=8, batch=1),
    dict(head=64, length=384, mask="ids-mul", type="fp16-flag", scale="div"),
    dict(head=128, length=320, mask="add-square", prologue="rotary", batch=1),
    dict(head=32, length=49, mask="bias-two", layout="packed", scale="query", batch=16),
    dict(head=32, length=49, mask="bias-heads", prologue="normalized", scale="per-head", batch=16),
    dict(head=40, length=1024, layout="merged-heads", scale="mul", batch=1),
    dict(head=40, length=1024, keys=77, batch=1, heads=8),
    dict(head=32, length=400, layout="channels-first", batch=1),
    dict(head=64, length=256, type="bf16", mask="where-causal", softmax="fp32"),
    dict(head=64, length=256, type="fp32", mask="where-causal"),
    dict(head=96, length=64, type="tf32", mask="add-keys"),
    dict(head=64, length=300, softmax="decomposed", mask="add-keys"),
    dict(head=64, length=300, softmax="nan-guard", mask="where-infinite"),
    dict(head=64, length=200, mask="alibi", dynamic="both"),
    dict(head=128, length=256, dynamic="length", mask="where-square", batch=1),
    dict(head=64, length=256, quantize="projections", mask="add-keys", heads=8),
    dict(head=64, length=256, quantize="all", mask="add-keys", heads=8),
    dict(head=64, length=256, quantize="all-fp8", mask="add-square", heads=8),
    dict(head=64, length=256, extra="weights", mask="add-keys", heads=8),
    dict(head=64, length=128, softmax="capped", mask="add-square", layout="packed"),
    dict(head=128, length=1, keys=512, mask="add-keys", batch=1, heads=8),
    dict(head=72, length=196, scale="both-transposed", mask="none", layout="bare"),
    dict(head=64, length=128, layout="grouped", mask="add-square", prologue="rotary"),
    dict(head=512, length=256, heads=1, layout="channels-first", batch=1),
    dict(head=16, length=2048, heads=2, type="fp16-flag", batch=1),
    dict(head=64, length=196, mask="add-fp32", softmax="fp32", heads=3),
]


if __name__ == "__main__":
    import collections

    made = cases()
    print(len(made), collections.Counter(case["family"] for case in made))
