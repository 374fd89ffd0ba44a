"""Writes models into a folder, with inputs, that a judgment of accuracy could get wrong; prints a line of JSON each: its name."""

import json
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

F = np.float32
folder = sys.argv[1]
node = helper.make_node
x = np.random.default_rng(0).standard_normal((1, 1000)).astype(F)


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs, constants, opset=17, **feeds):
    tensors = [numpy_helper.from_array(np.asarray(one), key) for key, one in constants.items()]
    graph = helper.make_graph(nodes, name, inputs, outputs, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), f"{folder}/{name}.onnx")
    np.savez(f"{folder}/{name}.npz", **feeds)
    print(json.dumps(name))


wide = value("x", [1, 1000])
scale = node("Mul", ["x", "k"], ["a"], "/scale")

# How many values are above the limit is another number in FP16.
many = [
    scale, node("Greater", ["a", "limit"], ["m"], "/greater"), node("NonZero", ["m"], ["i"], "/nonzero"),
    node("Transpose", ["i"], ["it"], "/transpose"), node("GatherND", ["a", "it"], ["g"], "/gather"),
    node("Exp", ["g"], ["y"], "/exp"),
]  # fmt: skip
k = F(3.3)
a = np.sort((x * k).ravel())
for limit in (a[:-1] + a[1:]) / 2:
    exact, low = a > limit, (x.astype(np.float16).astype(F) * F(np.float16(k))).astype(np.float16).astype(F) > F(np.float16(limit))
    if exact.sum() != low.sum():
        break
save("count", many, [wide], [value("y", ["n"])], {"k": k, "limit": F(limit)}, x=x)

difference = [scale, node("Exp", ["a"], ["e"], "/exp"), node("Sub", ["e", "e"], ["y"], "/sub")]
save("zeros", difference, [wide], [value("y", [1, 1000])], {"k": F(5)}, x=x)

largest = [scale, node("ArgMax", ["a"], ["y"], "/argmax", axis=1)]
save("integers", largest, [wide], [value("y", [1, 1], TensorProto.INT64)], {"k": F(5e6)}, x=x)

logarithm = [node("Log", ["x"], ["a"], "/log"), node("Mul", ["a", "k"], ["y"], "/mul")]
save("some_nan", logarithm, [wide], [value("y", [1, 1000])], {"k": F(1e5)}, x=x)
save("all_nan", logarithm, [wide], [value("y", [1, 1000])], {"k": F(1)}, x=-np.abs(x) - 1)

# One output overflows in FP16, the other one fits; the third counts what the first one has.
both = [
    node("Mul", ["x", "k"], ["a"], "/scale"),
    node("Mul", ["a", "a"], ["large"], "/square"),
    node("Tanh", ["x"], ["small"], "/tanh"),
    node("Greater", ["large", "x"], ["more"], "/greater"),
]
more = helper.make_tensor_value_info("more", TensorProto.BOOL, [1, 1000])
save("two_outputs", both, [wide], [value("large", [1, 1000]), value("small", [1, 1000]), more], {"k": F(1e3)}, x=x)

save("no_output", [scale], [wide], [value("x", [1, 1000])], {"k": F(5)}, x=x)

dead = [scale, node("Exp", ["a"], ["e"], "/dead"), node("Tanh", ["a"], ["y"], "/tanh")]
save("unused", dead, [wide, value("unread", [3])], [value("y", [1, 1000])], {"k": F(5)}, x=x, unread=np.zeros(3, F))

open_shape = [scale, node("Exp", ["a"], ["y"], "/exp")]
save("opset_9", [scale, node("Exp", ["a"], ["y"], "/exp")], [wide], [value("y", [1, 1000])], {"k": F(5)}, opset=9, x=x)
no_shape = helper.make_tensor_value_info("x", TensorProto.FLOAT, None)
save("no_shape", [scale], [no_shape], [value("a", None)], {"k": F(5)}, x=x)
save("unfit", [node("MatMul", ["x", "k"], ["y"], "/mul")], [value("x", ["n", "m"])], [value("y", None)], {"k": np.ones((7, 2), F)}, x=x)
save("empty", open_shape, [value("x", ["n", 4])], [value("y", ["n", 4])], {"k": F(5)}, x=np.zeros((0, 4), F))
save("dynamic", open_shape, [value("x", ["n", 4])], [value("y", ["n", 4])], {"k": F(20)}, x=np.ones((7, 4), F))

# Half a step above the largest number of FP16 is infinity; below it, results are rounded to that number.
end = [node("Add", ["x", "k"], ["a"]), node("Sub", ["a", "k"], ["y"])]
save("rounded", end, [wide], [value("y", [1, 1000])], {"k": F(65504)}, x=x)
save("ended", end, [wide], [value("y", [1, 1000])], {"k": F(65520)}, x=np.abs(x))
save("custom", [node("Fake", ["a"], ["y"], "/fake", domain="acme"), scale][::-1], [wide], [value("y", None)], {"k": F(5)}, x=x)

np.savez(f"{folder}/nothing.npz")

fan = [scale, *(node("Exp", ["a"], [f"e{i}"], f"/exp.{i}") for i in range(500)), node("Sum", [f"e{i}" for i in range(500)], ["y"], "/sum")]
save("fan_out", fan, [wide], [value("y", [1, 1000])], {"k": F(2)}, x=x)

# A loop that ends when a sum is reached: in FP16 later, because the steps are rounded.
step = helper.make_graph(
    [node("Add", ["s", "d"], ["s2"], "/add"), node("Less", ["s2", "limit"], ["go"], "/less"), node("Identity", ["s2"], ["trace"], "/trace")],
    "body",
    [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("s", [])],
    [value("go", [], TensorProto.BOOL), value("s2", []), value("trace", [])],
)
until = [node("ReduceMean", ["x"], ["s0"], "/mean", keepdims=0), node("Loop", ["n", "yes", "s0"], ["end", "y"], "/loop", body=step)]
constants = {"n": np.int64(10000), "yes": np.bool_(True), "d": F(0.6), "limit": F(1000)}
save("trips", until, [value("x", [1, 4])], [value("end", []), value("y", ["t"])], constants, x=np.ones((1, 4), F))

# Its state is a sequence, which a copy of the loop cannot have.
add = helper.make_graph(
    [node("Mul", ["x", "k"], ["p"], "/mul"), node("SequenceInsert", ["before", "p"], ["after"], "/insert"), node("Identity", ["c"], ["go"], "/go")],
    "body",
    [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), helper.make_tensor_sequence_value_info("before", TensorProto.FLOAT, None)],
    [value("go", [], TensorProto.BOOL), helper.make_tensor_sequence_value_info("after", TensorProto.FLOAT, None)],
)
collect = [
    node("SequenceEmpty", [], ["s0"], "/empty", dtype=TensorProto.FLOAT), node("Loop", ["n", "", "s0"], ["s"], "/loop", body=add),
    node("ConcatFromSequence", ["s"], ["y"], "/concat", axis=0),
]  # fmt: skip
save("sequences", collect, [wide], [value("y", None)], {"n": np.int64(3), "k": F(1e5)}, x=x)
