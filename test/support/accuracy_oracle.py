"""Small random models with faults that FP16 brings, and by brute force what each set of nodes in FP32 gives.

Reads one line {"folder", "seed"} a model, writes MODEL.onnx and inputs.npz into the folder, and one JSON line:
{"names": [node, ...], "errors": [for each set of exact nodes, as a bit mask, the worst error of the outputs; null: not
finite]}. Everything is computed here, with NumPy alone.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from brute_force import answer_all

np.seterr(all="ignore")
F = np.float32


def low(x):
    return x.astype(np.float16).astype(F)


def softmax(x, _):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


UNARY = {
    "Exp": lambda x, _: np.exp(x),
    "Tanh": lambda x, _: np.tanh(x),
    "Abs": lambda x, _: np.abs(x),
    "Neg": lambda x, _: -x,
    "Sqrt": lambda x, _: np.sqrt(x),
    "Log": lambda x, _: np.log(x),
    "Relu": lambda x, _: np.maximum(x, 0),
    "Softmax": softmax,
    "Sin": lambda x, _: np.sin(x),
}
BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}


class Model:
    """A chain with side branches: each node reads one or two of the last tensors and perhaps a constant."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.tensors = [], {}, ["x"]
        self.narrow = set()  # tensors of one column
        self.x = self.random.standard_normal((2, 6)).astype(F) * F(self.random.choice([1, 3, 30]))
        for _ in range(self.random.integers(4, 9)):
            self.add()

    @property
    def names(self):
        return [node[0] for node in self.nodes]

    def add(self):
        name = f"/n.{len(self.nodes)}/op"
        kind = self.random.choice(["unary", "binary", "constant", "matmul", "reduce", "power", "cumsum", "clip"])
        a = self.tensors[-1] if self.random.random() < 0.8 else str(self.random.choice(self.tensors))
        out = f"t{len(self.nodes)}"
        if kind == "matmul" and a in self.narrow:
            kind = "power"
        if kind == "unary":
            node = (str(self.random.choice(list(UNARY))), [a], {})
        elif kind == "binary":
            node = (str(self.random.choice(list(BINARY))), [a, str(self.random.choice(self.tensors))], {})
        elif kind == "constant":
            # Some overflow, some vanish, some are coarse.
            value = float(self.random.choice([0.1, 3, 1e-4, 700, 1e5, 4000, 1e-8]))
            node = (str(self.random.choice(list(BINARY))), [a, self.constant(F(value))], {})
        elif kind == "matmul":
            node = ("MatMul", [a, self.constant(self.random.standard_normal((6, 6)).astype(F))], {})
        elif kind == "power":
            node = ("Pow", [a, self.constant(F(2))], {})
        elif kind == "cumsum":
            node = ("CumSum", [a, self.constant(np.int64(1))], {"reverse": int(self.random.integers(2)), "exclusive": int(self.random.integers(2))})
        elif kind == "clip":
            node = ("Clip", [a, self.constant(F(1e-6)), self.constant(F(1e4))], {})
        else:
            node = (str(self.random.choice(["ReduceMean", "ReduceMax"])), [a], {"axes": [-1], "keepdims": 1})
        if node[0].startswith("Reduce") or (node[0] != "MatMul" and all(one in self.narrow or one in self.constants for one in node[1])):
            self.narrow.add(out)
        self.nodes.append((name, *node, out))
        self.tensors.append(out)

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def run(self, exact):
        """The last tensor, with the nodes of this mask in FP32 and all others in FP16."""
        values = {"x": self.x}
        for i, (_, op, inputs, attributes, out) in enumerate(self.nodes):
            keep = exact >> i & 1
            read = [values.get(one, self.constants.get(one)) for one in inputs]
            read = [one if keep or one.dtype != F else low(one) for one in read]
            result = self.compute(op, read, attributes, keep, inputs)
            values[out] = (result if keep else low(result)).astype(F)
        return values[self.nodes[-1][-1]]

    def compute(self, op, read, attributes, keep, inputs):
        a = read[0]
        b = read[1] if len(read) > 1 else None
        if op == "Div" and inputs[1] in self.constants and not keep:
            return a * low(F(1) / b)
        if op in UNARY:
            return UNARY[op](a, b)
        if op in BINARY:
            return BINARY[op](a, b)
        if op == "MatMul":
            return a @ b
        if op == "Pow":
            return a * a
        if op == "Clip":
            return np.minimum(np.maximum(a, b), read[2])
        if op == "CumSum":
            return self.running(a, attributes, keep)
        return getattr(a, "mean" if op == "ReduceMean" else "max")(-1, keepdims=True)

    def running(self, a, attributes, keep):
        columns = range(a.shape[1])[:: -1 if attributes["reverse"] else 1]
        total, out = np.zeros(a.shape[0], F), np.zeros(a.shape, F)
        if a.shape[1] == 1 and attributes["exclusive"]:
            return out
        for i in columns:
            before = total
            total = (total + a[:, i]).astype(F)
            total = total if keep else low(total)
            out[:, i] = before if attributes["exclusive"] else total
        return out

    def save(self, folder):
        graph = helper.make_graph(
            [helper.make_node(op, inputs, [out], name, **attributes) for name, op, inputs, attributes, out in self.nodes],
            "random",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(self.x.shape))],
            [helper.make_tensor_value_info(self.nodes[-1][-1], TensorProto.FLOAT, None)],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model), f"{folder}/model.onnx")
        np.savez(f"{folder}/inputs.npz", x=self.x)


answer_all(Model, lambda model, errors: {"names": model.names, "errors": errors})
