"""Writes small networks for five tasks into a folder, with inputs, each with a fault in FP16 that is planted at one place; prints a line of JSON each: its name."""

import json
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F = np.float32
folder = sys.argv[1]
node = helper.make_node
random = np.random.default_rng(7)
weights = {}


def weight(name, *shape, scale=None):
    size = scale if scale is not None else 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 1 else shape[0])
    weights[name] = (random.standard_normal(shape) * size).astype(F)
    return name


def constant(name, value):
    weights[name] = np.asarray(value)
    return name


def conv(x, y, out, channels, size=3, stride=1, name=None):
    nodes = [node("Conv", [x, weight(f"{y}.w", out, channels, size, size), weight(f"{y}.b", out, scale=0.1)], [f"{y}.c"], f"{name or '/' + y}/Conv", kernel_shape=[size, size], strides=[stride, stride], pads=[size // 2] * 4)]
    return [*nodes, node("Relu", [f"{y}.c"], [y], f"{name or '/' + y}/Relu")]


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs, **feeds):
    tensors = [numpy_helper.from_array(one, key) for key, one in weights.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, f"{folder}/{name}.onnx")
    np.savez(f"{folder}/{name}.npz", **feeds)
    weights.clear()
    print(json.dumps(name))


def image(size):
    """Shapes on a gradient, as a picture has areas and edges."""
    y, x = np.mgrid[0:size, 0:size] / size
    picture = np.stack([x, y, (x + y) / 2])
    for _ in range(5):
        cx, cy, r = random.random(3) * [1, 1, 0.3]
        picture[:, (x - cx) ** 2 + (y - cy) ** 2 < r**2] = random.random((3, 1))
    return (picture[None] + random.random((1, 3, size, size)) * 0.05).astype(F)


# A detector as YOLOv8 is exported: boxes of 0 to 640 and scores of 0 to 1 in one tensor. Planted: scores are scaled down
# by 1e-8 and up again, so in FP16 they vanish, while the largest value of the tensor is right.
for planted in (True, False):
    random = np.random.default_rng(7)
    places = 40 * 40
    y, x = np.mgrid[0:40, 0:40].astype(F) * 16 + 8
    scale = [
        node("Mul", ["s", constant("down", F(1e-4))], ["s1"], "/head/cls/scale/Mul"),
        node("Mul", ["s1", "down"], ["s2"], "/head/cls/scale/Mul_1"),
        node("Mul", ["s2", constant("up", F(1e4))], ["s3"], "/head/cls/unscale/Mul"),
        node("Mul", ["s3", "up"], ["scores"], "/head/cls/unscale/Mul_1"),
    ] if planted else [node("Identity", ["s"], ["scores"], "/head/cls/Identity")]  # fmt: skip
    constant("anchors", np.stack([x.ravel(), y.ravel()])[None])
    # Few places have a high score.
    nodes = [
        *conv("image", "c1", 16, 3, stride=4), *conv("c1", "c2", 24, 16, stride=4),
        node("Conv", ["c2", weight("box.w", 4, 24, 1, 1), constant("box.b", np.full(4, 1.2, F))], ["b"], "/head/box/Conv"),
        node("Reshape", ["b", constant("to4", np.array([1, 4, places]))], ["b4"], "/head/box/Reshape"),
        node("Exp", ["b4"], ["be"], "/head/box/Exp"),
        node("Mul", ["be", constant("stride", F(12))], ["bs"], "/head/box/Mul"),
        node("Split", ["bs", constant("halves", np.array([2, 2]))], ["lt", "rb"], "/head/Split", axis=1),
        node("Sub", ["anchors", "lt"], ["p1"], "/head/Sub"), node("Add", ["anchors", "rb"], ["p2"], "/head/Add"),
        node("Add", ["p1", "p2"], ["sum"], "/head/Add_1"), node("Div", ["sum", constant("two", F(2))], ["centre"], "/head/Div"),
        node("Sub", ["p2", "p1"], ["size"], "/head/Sub_1"),
        node("Conv", ["c2", weight("cls.w", 8, 24, 1, 1, scale=1.2), constant("cls.b", np.full(8, -3.0, F))], ["l"], "/head/cls/Conv"),
        node("Reshape", ["l", constant("to8", np.array([1, 8, places]))], ["l8"], "/head/cls/Reshape"),
        node("Sigmoid", ["l8"], ["s"], "/head/cls/Sigmoid"), *scale,
        node("Concat", ["centre", "size", "scores"], ["output0"], "/head/Concat", axis=1),
    ]  # fmt: skip
    save("detector" if planted else "detector_sound", nodes, [value("image", [1, 3, 640, 640])], [value("output0", [1, 12, places])], image=image(640))

# A classifier. Planted: global pooling as a sum over all positions and a division: the sum overflows.
nodes = [
    *conv("image", "c1", 16, 3, stride=2), *conv("c1", "c2", 32, 16, stride=2),
    node("Mul", ["c2", constant("gain", F(90))], ["g"], "/pool/Mul"),
    node("ReduceSum", ["g", constant("hw", np.array([2, 3]))], ["sum"], "/pool/ReduceSum", keepdims=0),
    node("Div", ["sum", constant("count", F(32 * 32 * 90))], ["mean"], "/pool/Div"),
    node("Gemm", ["mean", weight("fc.w", 32, 100, scale=1), weight("fc.b", 100, scale=0.1)], ["logits"], "/head/fc/Gemm"),
]  # fmt: skip
save("classifier", nodes, [value("image", [1, 3, 128, 128])], [value("logits", [1, 100])], image=image(128))

# A segmenter that gives classes. Planted: a channel norm by the square of large values.
nodes = [
    *conv("image", "c1", 16, 3, stride=2),
    node("Mul", ["c1", constant("gain", F(300))], ["g"], "/neck/Mul"),
    node("Mul", ["g", "g"], ["sq"], "/neck/norm/Mul"), node("ReduceMean", ["sq"], ["ms"], "/neck/norm/ReduceMean", axes=[1]),
    node("Sqrt", ["ms"], ["rms"], "/neck/norm/Sqrt"), node("Add", ["rms", constant("eps", F(1))], ["rms1"], "/neck/norm/Add"),
    node("Div", ["g", "rms1"], ["n"], "/neck/norm/Div"),
    node("Conv", ["n", weight("cls.w", 5, 16, 1, 1), weight("cls.b", 5)], ["scores"], "/head/Conv"),
    node("Resize", ["scores", "", constant("scales", np.array([1, 1, 2, 2], F))], ["large"], "/head/Resize", mode="linear"),
    node("ArgMax", ["large"], ["labels"], "/head/ArgMax", axis=1, keepdims=0),
]  # fmt: skip
save("segmenter", nodes, [value("image", [1, 3, 96, 96])], [value("labels", [1, 96, 96], TensorProto.INT64)], image=image(96))

# A text recognizer: probabilities of characters for each column. Planted: a softmax without the maximum.
nodes = [
    *conv("image", "c1", 24, 1, stride=2), *conv("c1", "c2", 32, 24, stride=2),
    node("ReduceMean", ["c2"], ["rows"], "/neck/ReduceMean", axes=[2], keepdims=0),
    node("Transpose", ["rows"], ["columns"], "/neck/Transpose", perm=[0, 2, 1]),
    node("MatMul", ["columns", weight("fc.w", 32, 97, scale=8)], ["logits"], "/head/MatMul"),
    node("Exp", ["logits"], ["e"], "/head/softmax/Exp"),
    node("ReduceSum", ["e", constant("last", np.array([-1]))], ["es"], "/head/softmax/ReduceSum"),
    node("Div", ["e", "es"], ["probs"], "/head/softmax/Div"),
]  # fmt: skip
text = np.zeros((1, 1, 32, 320), F)
for at in range(4, 310, 12):
    text[0, 0, random.integers(2, 14) : random.integers(16, 30), at : at + int(random.integers(2, 8))] = 1
save("recognizer", nodes, [value("image", [1, 1, 32, 320])], [value("probs", [1, 80, 97])], image=text)

# A speech encoder with its tokens. Planted: the floor of the log-mel power, 1e-10, is 0 in FP16, and silence becomes -inf.
bins, frames = 24, 60
time = np.arange(frames * 160) / 16000
wave = np.sin(2 * np.pi * 220 * time) * (np.sin(2 * np.pi * 3 * time) > 0)
spectrum = np.stack([np.abs(np.fft.rfft(wave[at * 160 : at * 160 + 160])[:bins]) ** 2 / 6400 for at in range(frames)])[None].astype(F)
nodes = [
    node("MatMul", ["power", constant("mel.w", (np.abs(random.standard_normal((bins, 20))) / bins).astype(F))], ["mel"], "/frontend/MatMul"),
    node("Add", ["mel", constant("floor", F(1e-10))], ["floored"], "/frontend/Add"),
    node("Log", ["floored"], ["log"], "/frontend/Log"),
    node("Mul", ["log", constant("tenth", F(0.1))], ["scaled"], "/frontend/Mul"),
    node("MatMul", ["scaled", weight("enc.w", 20, 32)], ["h"], "/encoder/MatMul"), node("Tanh", ["h"], ["hidden_states"], "/encoder/Tanh"),
    node("MatMul", ["hidden_states", weight("out.w", 32, 200, scale=1)], ["token_logits"], "/decoder/MatMul"),
    node("ArgMax", ["token_logits"], ["tokens"], "/decoder/ArgMax", axis=-1, keepdims=0),
]  # fmt: skip
save("speech", nodes, [value("power", [1, frames, bins])], [value("hidden_states", [1, frames, 32]), value("tokens", [1, frames], TensorProto.INT64)], power=spectrum)

# A detector with non-maximum suppression at its end. Planted: box sizes by a square that overflows.
places = 300
nodes = [
    node("Mul", ["raw", "raw"], ["sq"], "/decode/Mul"), node("Sqrt", ["sq"], ["boxes4"], "/decode/Sqrt"),
    node("Sigmoid", ["cls"], ["s"], "/scores/Sigmoid"),
    node("NonMaxSuppression", ["boxes4", "s", constant("most", np.array([20])), constant("iou", np.array([0.5], F)), constant("score", np.array([0.5], F))], ["picked"], "/nms/NonMaxSuppression"),
    node("Gather", ["picked", constant("second", np.array([2]))], ["at"], "/nms/Gather", axis=1), node("Squeeze", ["at", constant("one", np.array([1]))], ["at1"], "/nms/Squeeze"),
    node("Squeeze", ["boxes4", constant("zero", np.array([0]))], ["flat"], "/nms/Squeeze_1"), node("Gather", ["flat", "at1"], ["boxes"], "/nms/Gather_1", axis=0),
    node("Squeeze", ["s", constant("both", np.array([0, 1]))], ["sflat"], "/nms/Squeeze_2"), node("Gather", ["sflat", "at1"], ["scores"], "/nms/Gather_2", axis=0),
]  # fmt: skip
corner = random.random((1, places, 2)) * 500
raw = np.concatenate([corner, corner + 20 + random.random((1, places, 2)) * 100], 2).astype(F)
save("suppressed", nodes, [value("raw", [1, places, 4]), value("cls", [1, 1, places])], [value("boxes", ["n", 4]), value("scores", ["n"]), value("picked", ["n", 3], TensorProto.INT64)], raw=raw, cls=random.standard_normal((1, 1, places)).astype(F))

# Sinusoidal features of an image in opset 17, where ONNX has no BF16 for Conv, Sin and Cos. TensorRT computes all of them
# in it: phases of dozens of radians keep three digits.
random = np.random.default_rng(7)
nodes = [
    node("Conv", ["image", weight("phase.w", 16, 3, 1, 1, scale=30), weight("phase.b", 16)], ["phase"], "/embed/Conv"),
    node("Sin", ["phase"], ["sin"], "/embed/Sin"), node("Cos", ["phase"], ["cos"], "/embed/Cos"),
    node("Concat", ["sin", "cos"], ["waves"], "/embed/Concat", axis=1),
    node("Conv", ["waves", weight("out.w", 4, 32, 1, 1), weight("out.b", 4, scale=0.1)], ["features"], "/head/Conv"),
]  # fmt: skip
save("waves", nodes, [value("image", [1, 3, 32, 32])], [value("features", [1, 4, 32, 32])], image=image(32))

# A classifier with Q/DQ pairs. Planted: the scale of one tensor is a tenth of what its values need, and one product has a
# single scale for channels that are hundreds of times apart.
random = np.random.default_rng(7)
zero = constant("zero", np.int8(0))


def quantized(x, y, scale):
    return [node("QuantizeLinear", [x, constant(f"{x}.scale", F(scale)), "zero"], [f"{x}.q"], f"/{x}/QuantizeLinear"), node("DequantizeLinear", [f"{x}.q", f"{x}.scale", "zero"], [y], f"/{x}/DequantizeLinear")]


def largest(name):
    return np.abs(weights[name]).max()


weight("w1", 16, 32), weight("w2", 32, 24), weight("w3", 24, 10)
weights["w2"] *= np.geomspace(1, 300, 24).astype(F)
weights["w3"] /= np.geomspace(1, 300, 24).astype(F)[:, None]
nodes = [
    *quantized("x", "xd", 4 / 127), *quantized("w1", "w1d", largest("w1") / 127), node("MatMul", ["xd", "w1d"], ["a"], "/fc1/MatMul"), node("Relu", ["a"], ["ar"], "/fc1/Relu"),
    *quantized("ar", "ad", 0.3 / 127), *quantized("w2", "w2d", largest("w2") / 127), node("MatMul", ["ad", "w2d"], ["b"], "/fc2/MatMul"), node("Relu", ["b"], ["br"], "/fc2/Relu"),
    node("MatMul", ["br", "w3"], ["scores"], "/fc3/MatMul"),
]  # fmt: skip
save("quantized", nodes, [value("x", [8, 16])], [value("scores", [8, 10])], x=random.standard_normal((8, 16)).astype(F).clip(-3.9, 3.9))
