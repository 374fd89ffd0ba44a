"""Runs generated plugins as TensorRT would, with stand-ins for TensorRT and CuPy. Arguments: FOLDER NAME [NAME=SIZE …].
Prints one JSON line: {"outputs": {name: elements that differ from ONNX Runtime}, "kernels", "refused": text or null}."""

import importlib
import json
import os
import sys

import numpy as np
import onnx

folder, name = sys.argv[1:3]
sizes = {key: int(value) for key, _, value in (one.partition("=") for one in sys.argv[3:])}
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "pluginStandIn"), folder]
import cupy
import tensorrt as trt
import tensorrt.plugin as trtp

importlib.import_module(name + "_plugin")
test = importlib.import_module("test_" + name)
TYPES = {1: trt.float32, 10: trt.float16, 7: trt.int64, 6: trt.int32, 9: trt.bool}

# As the parser of TensorRT 10.6 does: node and operator have the plugin's name, an attribute has its namespace.
(node,) = onnx.load(os.path.join(folder, "plugin.onnx")).graph.node
given = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
namespace = given.pop("plugin_namespace").decode()
assert given.pop("plugin_version") == b"1"
assert node.name == node.op_type, node.name
plugin = trtp.registered["%s::%s" % (namespace, node.name)]


def as_registered(attribute, kind):
    value = given[attribute]
    if kind is str:
        return value.decode()
    array = np.atleast_1d(np.array(value))
    return kind(array) if kind in trtp.BUILT_IN else array.astype(kind.__args__[1].__args__[0])


assert set(given) == set(plugin.attributes), (set(given), set(plugin.attributes))
attributes = {one: as_registered(one, kind) for one, kind in plugin.attributes.items()}
inputs = test.make_inputs(sizes)
expected = test.reference(inputs)
arrays = [np.ascontiguousarray(inputs[tensor]) for tensor in node.input]
types = [trt.DataType(array.dtype.name) for array in arrays]


def describe(size_of):
    made = [trtp.TensorDesc([trtp.ShapeExpr(size_of(size)) for size in array.shape], kind) for array, kind in zip(arrays, types)]
    outputs = plugin.register(*made, **attributes)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    assert len(outputs) == plugin.outputs == len(node.output)
    return made, outputs


# First only types are known, then sizes, too.
_, before = describe(lambda size: None)
descs, outputs = describe(lambda size: size)
assert [one.dtype for one in before] == [one.dtype for one in outputs]
if plugin.autotune:
    own = [attributes[one] for one in plugin.autotune_attributes]
    for combination in plugin.autotune(*descs, *own, outputs):
        assert len(combination.types) == len(arrays) + len(outputs)
results = {
    tensor: np.full([one.size for one in desc.shape_expr], 7, desc.dtype.value) for tensor, desc in zip(node.output, outputs)
}
refused = None
try:
    plugin.impl(
        *[trtp.Tensor(array, kind) for array, kind in zip(arrays, types)],
        *[attributes[one] for one in plugin.impl_attributes],
        outputs=[trtp.Tensor(results[tensor], desc.dtype) for tensor, desc in zip(node.output, outputs)],
        stream=0,
    )
except NotImplementedError as error:
    refused = str(error)
different = {}
for tensor, value in results.items():
    want = expected[tensor]
    assert want.shape == value.shape and want.dtype == value.dtype, (tensor, want.shape, value.shape)
    different[tensor] = int(np.sum(~np.isclose(value, want, rtol=2e-5, atol=2e-6, equal_nan=True)))
print(json.dumps({"outputs": different, "kernels": sorted(set(cupy.launched)), "refused": refused}))
