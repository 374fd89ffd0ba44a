"""Writes small ONNX models without the package `onnx`, which few machines with a GPU have. Needs NumPy."""

import struct

import numpy as np

FLOAT, INT8, INT32, INT64, BOOL, FLOAT16, BFLOAT16, FLOAT8 = 1, 3, 6, 7, 9, 10, 16, 17
SIZES = {np.dtype(np.float32): FLOAT, np.dtype(np.float16): FLOAT16, np.dtype(np.int64): INT64, np.dtype(np.int32): INT32,
         np.dtype(np.int8): INT8, np.dtype(np.bool_): BOOL}  # fmt: skip


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(field, value):
    return varint(field << 3) + varint(value)


def data(field, value):
    value = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(value)) + value


def tensor(name, values, kind=None, outside=False):
    """`outside`: large values are left out, as if in a file. `kind`: bfloat16 and float8 are rounded here from FP32 values, because NumPy lacks them."""
    kind = kind or SIZES[values.dtype]
    raw = np.ascontiguousarray(values)
    if kind == BFLOAT16:
        bits = raw.astype(np.float32).view(np.uint32)
        raw = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    elif kind == FLOAT16:
        raw = raw.astype(np.float16)
    elif kind == FLOAT8:
        raw = np.zeros(raw.shape, np.uint8)  # only used as a zero point
    dims = b"".join(integer(1, size) for size in values.shape)
    content = data(9, raw.tobytes())
    if outside and raw.nbytes > 64:
        places = [("location", "weights.bin"), ("length", str(raw.nbytes))]
        content = b"".join(data(13, data(1, key) + data(2, text)) for key, text in places) + integer(14, 1)
    return dims + integer(2, kind) + data(8, name) + content


def attribute(name, value):
    head = data(1, name)
    if isinstance(value, float):
        return head + varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return head + integer(3, value) + integer(20, 2)
    if isinstance(value, str):
        return head + data(4, value) + integer(20, 3)
    return head + b"".join(integer(8, item) for item in value) + integer(20, 7)


def value_info(name, kind, shape):
    dims = b"".join(data(1, data(2, size) if isinstance(size, str) else integer(1, size)) for size in shape)
    return data(1, name) + data(2, data(1, integer(1, kind) + data(2, dims)))


class Model:
    """A graph that is built node by node. Names of nodes are what the caller says; each output is named after its node."""

    def __init__(self, opset=17, seed=0, outside=False):
        self.outside = outside
        self.opset, self.random = opset, np.random.default_rng(seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.count = 0
        #: (op, name, inputs, outputs, attributes), for those who run the model otherwise
        self.steps, self.values, self.ends = [], {}, []

    def input(self, name, kind, shape):
        self.inputs.append(value_info(name, kind, shape))
        self.ends.append((name, kind, shape))
        return name

    def output(self, name, kind, rank):
        self.outputs.append(value_info(name, kind, ["%s_%d" % (name, axis) for axis in range(rank)]))

    def constant(self, values, kind=None, name=None):
        self.count += 1
        name = name or "c%d" % self.count
        values = np.asarray(values)
        self.initializers.append(tensor(name, values, kind, self.outside))
        self.values[name] = (values, kind or SIZES[values.dtype])
        return name

    def weight(self, *shape, kind=FLOAT):
        return self.constant((self.random.standard_normal(shape) * 0.05).astype(np.float32), kind)

    def node(self, op, inputs, outputs=1, name=None, **attributes):
        self.count += 1
        name = name or "/%s_%d" % (op, self.count)
        made = [name + "_out%d" % index if index else name + "_out" for index in range(outputs)]
        body = b"".join(data(1, item) for item in inputs) + b"".join(data(2, item) for item in made)
        body += data(3, name) + data(4, op) + b"".join(data(5, attribute(*item)) for item in attributes.items())
        self.nodes.append(body)
        self.steps.append((op, name, list(inputs), made, attributes))
        return made[0] if outputs == 1 else made

    def encoded(self):
        graph = b"".join(data(1, node) for node in self.nodes) + data(2, "g")
        graph += b"".join(data(5, item) for item in self.initializers)
        graph += b"".join(data(11, item) for item in self.inputs) + b"".join(data(12, item) for item in self.outputs)
        return integer(1, 9) + data(7, graph) + data(8, integer(2, self.opset))

    def save(self, path):
        with open(path, "wb") as file:
            file.write(self.encoded())
