"""Random networks for `trtlens bisect`: chains of blocks, each with the structure that one of the planted faults needs.

Usage: bisect_models.py FOLDER COUNT SEED; writes FOLDER/N.onnx, and FOLDER/dynamic.onnx, which is the first with any batch. Needs onnx and NumPy. Where a block stands, whether it
is there twice, and what is around it, is drawn.
"""

import os
import sys

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

BATCH, TOKENS, WIDTH = 2, 6, 8


class Builder:
    def __init__(self, random):
        self.random, self.nodes, self.constants, self.count = random, [], [], 0

    def name(self, kind):
        self.count += 1
        return "t%d_%s" % (self.count, kind.lower())

    def node(self, op, *inputs, **attributes):
        out = self.name(op)
        self.nodes.append(helper.make_node(op, list(inputs), [out], name="n%d" % self.count, **attributes))
        return out

    def constant(self, array):
        name = self.name("c")
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape):
        return self.constant((self.random.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32))

    def number(self, value):
        return self.constant(np.array(value, np.float32))

    def linear(self, x):
        return self.node("Add", self.node("MatMul", x, self.weight(WIDTH, WIDTH)), self.weight(WIDTH))

    # Blocks: (BATCH, TOKENS, WIDTH) in and out.
    def mlp(self, x):
        return self.node("Add", x, self.linear(self.node("Relu", self.linear(x))))

    def norm(self, x):
        mean = self.node("ReduceMean", x, axes=[-1])
        centered = self.node("Sub", x, mean)
        variance = self.node("ReduceMean", self.node("Mul", centered, centered), axes=[-1])
        return self.node("Div", centered, self.node("Sqrt", self.node("Add", variance, self.number(1e-2))))

    def attention(self, x):
        q, k, v = self.linear(x), self.node("MatMul", x, self.weight(WIDTH, WIDTH)), self.linear(x)
        q = self.node("Mul", self.node("MatMul", q, self.weight(WIDTH, WIDTH)), self.number(0.6))
        k = self.node("Mul", self.node("Transpose", k, perm=[0, 2, 1]), self.number(0.6))
        return self.node("Add", x, self.node("MatMul", self.node("Softmax", self.node("MatMul", q, k), axis=-1), v))

    def view(self, x):
        both = self.node("Concat", x, self.linear(x), axis=1)
        start, end, axis = (self.constant(np.array([one], np.int64)) for one in (TOKENS, 2 * TOKENS, 1))
        return self.node("Tanh", self.node("Slice", both, start, end, axis))

    def turned(self, x):
        return self.node("Transpose", self.node("Relu", self.node("Transpose", x, perm=[0, 2, 1])), perm=[0, 2, 1])

    def sums(self, x):
        axis = self.constant(np.array(1, np.int64))
        return self.node("Sub", self.node("CumSum", x, axis), self.node("CumSum", self.linear(x), axis))

    def softmax(self, x):
        exponents = self.node("Exp", self.node("Mul", x, self.number(3.0)))
        return self.node("Div", exponents, self.node("ReduceSum", exponents, self.constant(np.array([-1], np.int64))))

    def gate(self, x):
        inner = self.node("Tanh", self.node("MatMul", x, self.weight(WIDTH, WIDTH)))
        return self.node("Add", x, self.node("MatMul", inner, self.weight(WIDTH, WIDTH)))

    def pair(self, x):
        return self.node("Mul", self.node("Sigmoid", x), self.node("Softplus", self.linear(x)))


BLOCKS = ("attention", "view", "turned", "sums", "softmax", "gate", "pair")


def network(seed, batch=BATCH):
    random = np.random.default_rng(seed)
    build = Builder(random)
    x = "x"
    kinds = [*random.permutation(BLOCKS), *random.choice(("mlp", "norm"), random.integers(1, 5))]
    for kind in random.permutation(kinds):
        x = getattr(build, kind)(x)
        if random.random() < 0.4:
            x = build.norm(x)
    outputs = [x]
    # A second output in the middle of the network.
    if random.random() < 0.3:
        outputs.append(build.node("Abs", build.nodes[len(build.nodes) // 2].output[0]))
    shape = [batch, TOKENS, WIDTH]
    graph = helper.make_graph(
        build.nodes,
        "random",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "rows", "columns"]) for name in outputs],
        build.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    return model


if __name__ == "__main__":
    folder, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with open(os.path.join(folder, "dynamic.onnx"), "wb") as file:
        file.write(network(seed * 1000, "batch").SerializeToString())
    for number in range(count):
        with open(os.path.join(folder, "%d.onnx" % number), "wb") as file:
            file.write(network(seed * 1000 + number).SerializeToString())
