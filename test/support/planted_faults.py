"""Faults that the stand-in engine plants: they depend on what is built together, and come by structure, not by name.

Each takes a parsed model (onnx.ModelProto, changed in place) and the names of its extra outputs, and says whether it
struck. The search cannot see this file.
"""

import numpy as np
from onnx import helper, numpy_helper


class Net:
    def __init__(self, model):
        self.model, self.graph = model, model.graph
        self.producer = {name: node for node in self.graph.node for name in node.output}
        self.readers = {}
        for node in self.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.outputs = {value.name for value in self.graph.output}
        self.constants = {value.name: value for value in self.graph.initializer}

    def op(self, name):
        node = self.producer.get(name)
        return node.op_type if node else None

    def scalar(self, name):
        value = self.constants.get(name)
        return value is not None and int(np.prod(value.dims)) == 1

    def above(self, name, ops):
        """The first node above a tensor that is none of these operators."""
        node = self.producer.get(name)
        while node is not None and node.op_type in ops:
            node = self.producer.get(node.input[0])
        return node

    def bypass(self, node, by):
        for other in self.graph.node:
            for place, name in enumerate(other.input):
                if name == node.output[0] and other is not by:
                    other.input[place] = by.output[0] if hasattr(by, "output") else by


MOVING = {"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Identity"}


def scaled(net, name):
    node = net.above(name, MOVING)
    if node is not None and node.op_type == "Mul" and any(net.scalar(one) for one in node.input):
        return node
    return None


def lost_mul(net, marked):
    """One of two scales of a product whose inputs both come out of products."""
    for node in net.graph.node:
        if node.op_type != "MatMul":
            continue
        scales = [scaled(net, name) for name in node.input]
        if None in scales or any(scale.output[0] in net.outputs for scale in scales):
            continue
        data = [next(name for name in scale.input if not net.scalar(name)) for scale in scales]
        if any(net.above(name, MOVING) is None or net.above(name, MOVING).op_type != "MatMul" for name in data):
            continue
        number = next(name for name in scales[1].input if net.scalar(name))
        if abs(float(numpy_helper.to_array(net.constants[number]).ravel()[0]) - 1) < 1e-3:
            continue
        scales[1].op_type = "Identity"
        del scales[1].input[:]
        scales[1].input.append(data[1])
        return True
    return False


def after(net, node, make):
    """Puts nodes behind a node: `make(inner name, outer name)` gives them."""
    outer = node.output[0]
    inner = outer + "_right"
    node.output[0] = inner
    place = list(net.graph.node).index(node) + 1
    for offset, new in enumerate(make(inner, outer)):
        net.graph.node.insert(place + offset, new)
    return True


def constant(net, name, array):
    net.graph.initializer.append(numpy_helper.from_array(array, name))
    return name


def wrong_batch(net, marked):
    """Softmax over a product: every index of the batch gets the values of the first one."""
    for node in net.graph.node:
        if node.op_type == "Softmax" and net.op(node.input[0]) == "MatMul" and node.output[0] not in net.outputs:
            zero = constant(net, node.output[0] + "_zero", np.array([0], np.int64))
            shape = node.output[0] + "_shape"
            return after(net, node, lambda inner, outer: [
                helper.make_node("Gather", [inner, zero], [outer + "_first"], axis=0),
                helper.make_node("Shape", [inner], [shape]),
                helper.make_node("Expand", [outer + "_first", shape], [outer]),
            ])  # fmt: skip
    return False


def dense_view(net, marked):
    """A Slice of a Concat reads its beginning, whatever its start."""
    for node in net.graph.node:
        if node.op_type == "Slice" and net.op(node.input[0]) == "Concat" and node.input[0] not in net.outputs:
            starts = numpy_helper.to_array(net.constants[node.input[1]])
            if not starts.any():
                continue
            ends = numpy_helper.to_array(net.constants[node.input[2]])
            node.input[1] = constant(net, node.output[0] + "_starts", starts * 0)
            node.input[2] = constant(net, node.output[0] + "_ends", ends - starts)
            return True
    return False


def transposed(net, marked):
    """A Relu behind a Transpose reads the tensor as it was before."""
    for node in net.graph.node:
        if node.op_type == "Relu" and net.op(node.input[0]) == "Transpose" and node.input[0] not in net.outputs:
            source = net.producer[node.input[0]]
            shape = node.output[0] + "_shape"
            flat = node.output[0] + "_flat"
            place = list(net.graph.node).index(node)
            net.graph.node.insert(place, helper.make_node("Shape", [source.output[0]], [shape]))
            net.graph.node.insert(place + 1, helper.make_node("Reshape", [source.input[0], shape], [flat]))
            node.input[0] = flat
            return True
    return False


def one_cumsum(net, marked):
    """Two CumSums in one network: the second gives what the first does."""
    found = [node for node in net.graph.node if node.op_type == "CumSum"]
    if len(found) < 2 or found[1].output[0] in net.outputs or found[0].output[0] in net.outputs:
        return False
    found[1].input[0] = found[0].input[0]
    return True


def overflow(net, marked):
    """Exp with the Sum that it is divided by: computed with a tenth of the range."""
    for node in net.graph.node:
        if node.op_type == "Exp" and any(reader.op_type == "ReduceSum" for reader in net.readers.get(node.output[0], [])):
            top = constant(net, node.output[0] + "_top", np.array(2.0, np.float32))
            place = list(net.graph.node).index(node)
            cut = node.output[0] + "_cut"
            net.graph.node.insert(place, helper.make_node("Min", [node.input[0], top], [cut]))
            node.input[0] = cut
            return True
    return False


def hidden_by_marks(net, marked):
    """Tanh between two products loses a factor of two, unless a tensor inside is an output."""
    for node in net.graph.node:
        if node.op_type != "Tanh" or net.op(node.input[0]) != "MatMul":
            continue
        readers = net.readers.get(node.output[0], [])
        if not any(reader.op_type == "MatMul" for reader in readers):
            continue
        if {node.input[0], node.output[0]} & net.outputs:
            continue
        two = constant(net, node.output[0] + "_two", np.array(2.0, np.float32))
        return after(net, node, lambda inner, outer: [helper.make_node("Mul", [inner, two], [outer])])
    return False


def whole_only(net, marked):
    """Only a network with a Sigmoid and a Softplus, wherever they are, has a wrong Softplus: every cut dissolves it."""
    kinds = [node.op_type for node in net.graph.node if node.op_type != "Identity"]
    if "Sigmoid" not in kinds or len(kinds) < 12:
        return False
    for node in net.graph.node:
        if node.op_type == "Softplus":
            one = constant(net, node.output[0] + "_one", np.array(1.0, np.float32))
            return after(net, node, lambda inner, outer: [helper.make_node("Add", [inner, one], [outer])])
    return False


FAULTS = {fault.__name__: fault for fault in (
    lost_mul, wrong_batch, dense_view, transposed, one_cumsum, overflow, hidden_by_marks, whole_only,
)}  # fmt: skip


def plant(name, model, marked=()):
    """Whether the fault struck."""
    return FAULTS[name](Net(model), marked) if name in FAULTS else False


