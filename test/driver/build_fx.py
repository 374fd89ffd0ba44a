"""Builds the network of a recorded FX graph through TensorRT's API as Torch-TensorRT does: node by node, with the hook.

    build_fx.py GRAPH.fx.json OUT.fx.json     the log of the build goes to stdout

Weights are random. Handles what test/fixtures/torch/model.py needs.
"""

import ctypes
import json
import os
import random
import sys
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/driver"))
import tensorrt_rtx as trt
import trtlens_torch


class Logger(trt.ILogger):
    def __init__(self):
        trt.ILogger.__init__(self)

    def log(self, severity, text):
        print("[%s] %s" % (severity.name[0], text), flush=True)


class Node:
    """An FX node as PyTorch has it, of what the file holds."""

    def __init__(self, entry, op):
        self.name, self.op, self.target = entry["name"].rsplit("/", 1)[-1], op, entry["op"]
        self.args, self.kwargs = self._nodes(entry["args"]), self._nodes(entry["kwargs"])
        frame = entry["source"] and 'File "%s", line %s, in forward' % tuple(entry["source"].rsplit(":", 1))
        self.meta = {"nn_module_stack": {"it": (entry["module"], "Module")}, "stack_trace": frame}
        if entry["shape"] is not None:
            self.meta["val"] = SimpleNamespace(shape=entry["shape"], dtype="torch." + entry["type"])

    def _nodes(self, value):
        if isinstance(value, dict) and set(value) == {"node"}:
            return SimpleNamespace(op="", name=value["node"], args=())
        if isinstance(value, list):
            return [self._nodes(part) for part in value]
        return {key: self._nodes(part) for key, part in value.items()} if isinstance(value, dict) else value


class Interpreter:
    """The part of Torch-TensorRT's interpreter that the hook knows."""

    def __init__(self, network):
        self.network = network
        self.values = {}
        self.kept = []

    def run_node(self, node):
        args = [self._value(part) for part in node.args]
        if node.op == "placeholder":
            result = self.network.add_input(node.name, trt.float32, node.meta["val"].shape)
        elif node.op == "get_attr":
            result = node.meta["val"].shape
        elif node.op == "output":
            for output in args[0] if isinstance(args[0], list) else args:
                self.network.mark_output(output)
            return
        else:
            result = getattr(self, node.target.split(".")[1 if node.target.startswith("aten.") else 0])(*args)
        self.values[node.name] = result

    def _value(self, part):
        if hasattr(part, "op"):
            return self.values[part.name]
        return [self._value(one) for one in part] if isinstance(part, list) else part

    def _weights(self, shape, value=None):
        count = 1
        for size in shape:
            count *= size
        data = (ctypes.c_float * count)(*(value if value is not None else random.uniform(-0.1, 0.1) for _ in range(count)))
        self.kept.append(data)
        return trt.Weights(trt.float32, ctypes.addressof(data), count)

    def _constant(self, shape, rank, value=None):
        padded = [1] * (rank - len(shape)) + list(shape)
        return self.network.add_constant(padded, self._weights(shape, value)).get_output(0)

    def _shuffle(self, x, shape=None, order=None):
        layer = self.network.add_shuffle(x)
        if order is not None:
            layer.first_transpose = order
        if shape is not None:
            layer.reshape_dims = shape
        return layer.get_output(0)

    def _elementwise(self, a, b, operation):
        return self.network.add_elementwise(a, b, operation).get_output(0)

    def _guards_fn(self, *_):
        return None

    def linear(self, x, weight, bias):
        matrix, kind = trt.MatrixOperation, len(x.shape)
        product = self.network.add_matrix_multiply(x, matrix.NONE, self._constant(weight, kind), matrix.TRANSPOSE)
        return self._elementwise(product.get_output(0), self._constant(bias, kind), trt.ElementWiseOperation.SUM)

    def layer_norm(self, x, shape, weight, bias, epsilon, _):
        rank = len(x.shape)
        layer = self.network.add_normalization(x, self._constant(weight, rank), self._constant(bias, rank), 1 << (rank - 1))
        layer.epsilon = epsilon
        return layer.get_output(0)

    def view(self, x, shape):
        return self._shuffle(x, shape=shape)

    _unsafe_view = view

    def permute(self, x, order):
        return self._shuffle(x, order=order)

    def transpose(self, x, a, b):
        order = list(range(len(x.shape)))
        order[a], order[b] = order[b], order[a]
        return self._shuffle(x, order=order)

    def unbind(self, x, axis=0):
        shape, parts = list(x.shape), []
        for index in range(shape[axis]):
            start, size = [0] * len(shape), list(shape)
            start[axis], size[axis] = index, 1
            part = self.network.add_slice(x, start, size, [1] * len(shape)).get_output(0)
            parts.append(self._shuffle(part, shape=shape[:axis] + shape[axis + 1 :]))
        return parts

    def getitem(self, parts, index):
        return parts[index]

    def clone(self, x, *_):
        return x

    def matmul(self, a, b):
        return self.network.add_matrix_multiply(a, trt.MatrixOperation.NONE, b, trt.MatrixOperation.NONE).get_output(0)

    def mul(self, x, factor):
        return self._elementwise(x, self._constant([1], len(x.shape), factor), trt.ElementWiseOperation.PROD)

    def add(self, a, b):
        return self._elementwise(a, b, trt.ElementWiseOperation.SUM)

    def softmax(self, x, axis, *_):
        layer = self.network.add_softmax(x)
        layer.axes = 1 << (axis % len(x.shape))
        return layer.get_output(0)

    def gelu(self, x):
        return self.network.add_activation(x, trt.ActivationType.GELU_ERF).get_output(0)

    def relu(self, x):
        return self.network.add_activation(x, trt.ActivationType.RELU).get_output(0)

    def mean(self, x, axes):
        bits = sum(1 << axis for axis in axes)
        return self.network.add_reduce(x, trt.ReduceOperation.AVG, bits, False).get_output(0)

    def conv2d(self, x, weight, bias, stride=(1, 1), padding=(0, 0)):
        layer = self.network.add_convolution_nd(x, weight[0], weight[2:], self._weights(weight), self._weights(bias))
        layer.stride_nd, layer.padding_nd = stride, padding
        return layer.get_output(0)

    def max_pool2d(self, x, window, stride):
        layer = self.network.add_pooling_nd(x, trt.PoolingType.MAX, window)
        layer.stride_nd = stride
        return layer.get_output(0)


def main(recorded, output):
    with open(recorded, encoding="utf-8") as file:
        (graph,) = json.load(file)["graphs"]
    logger = Logger()
    builder = trt.Builder(logger)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    interpreter = Interpreter(network)
    outputs = {"name": "output", "op": "output", "module": "", "source": None, "kwargs": {}, "shape": None, "type": None}
    outputs["args"] = [[{"node": name.rsplit("/", 1)[-1]} for name in graph["outputs"]]]
    kinds = [("placeholder", graph["inputs"]), ("get_attr", graph["constants"]), ("call_function", graph["nodes"])]
    with trtlens_torch.recording(Interpreter, output):
        for op, entries in kinds:
            for entry in entries:
                interpreter.run_node(Node(entry, op))
        interpreter.run_node(Node(outputs, "output"))
    config = builder.create_builder_config()
    config.profiling_verbosity = trt.ProfilingVerbosity.DETAILED
    config.num_compute_capabilities = 1
    config.set_compute_capability(trt.ComputeCapability.SM89, 0)
    if builder.build_serialized_network(network, config) is None:
        sys.exit("no engine")


if __name__ == "__main__":
    main(*sys.argv[1:])
