"""`tensorrt.plugin`: the decorators check signatures as the documentation of TensorRT demands."""

import inspect
import typing
from types import SimpleNamespace

import numpy as np

import tensorrt as trt

BUILT_IN = (int, float, str, bool, bytes)
ARRAYS = (np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64, np.bool_)
NAMESPACES_OF_TENSORRT = ("", "trt", "tensorrt", "std")
registered = {}


class ShapeExpr:
    """The size of one dimension. `value`: None where no sizes are known yet."""

    def __init__(self, value=None):
        self._value = value.size if isinstance(value, ShapeExpr) else value

    @property
    def is_fake(self):
        return self._value is None

    @property
    def size(self):
        return self._value

    def constant_value(self):
        raise RuntimeError("only constants have a value, and what a network reads is none")


class TensorDesc:
    """Describes a tensor; never has its elements."""

    def __init__(self, shape_expr, dtype):
        self.shape_expr, self.dtype = shape_expr, dtype

    @property
    def ndim(self):
        return len(self.shape_expr)

    def like(self):
        return TensorDesc(list(self.shape_expr), self.dtype)


class Tensor:
    """A tensor while the plugin runs."""

    def __init__(self, array, dtype):
        self.data_ptr, self.shape, self.dtype = array.ctypes.data, array.shape, dtype
        self.__array = array


class AutoTuneCombination:
    def __init__(self, io_types=None, layouts=None, tactics=None):
        self.types = [] if io_types is None else [one.strip().split("|") for one in io_types.split(",")]
        self.layouts, self.tactics = layouts, tactics


def from_shape_expr(shape_expr, dtype):
    assert all(isinstance(one, (int, ShapeExpr)) for one in shape_expr), "neither a size nor an expression"
    return TensorDesc([one if isinstance(one, ShapeExpr) else ShapeExpr(one) for one in shape_expr], dtype)


def register(plugin_id, lazy_register=False):
    namespace, name = plugin_id.split("::")
    if namespace in NAMESPACES_OF_TENSORRT or "." in plugin_id:
        raise ValueError("%s cannot be registered" % plugin_id)

    def decorate(function):
        signature = inspect.signature(function)
        tensors, attributes = [], {}
        for own, parameter in signature.parameters.items():
            if parameter.annotation is inspect.Parameter.empty or parameter.default is not inspect.Parameter.empty:
                raise ValueError("%s needs an annotation and no default" % own)
            if parameter.annotation is TensorDesc:
                if attributes:
                    raise ValueError("tensors come before attributes")
                tensors.append(own)
            elif own in ("outputs", "stream", "tactic") or not _is_attribute(parameter.annotation):
                raise ValueError("%s cannot be an attribute" % own)
            else:
                attributes[own] = parameter.annotation
        if not tensors:
            raise ValueError("a plugin needs a tensor")
        returns = signature.return_annotation
        if returns is not TensorDesc:
            _check_tuple(returns, TensorDesc)
        count = 1 if returns is TensorDesc else len(typing.get_args(returns))
        registered[plugin_id] = SimpleNamespace(
            register=function, tensors=tensors, attributes=attributes, outputs=count, impl=None, autotune=None
        )
        return function

    return decorate


def impl(plugin_id):
    def decorate(function):
        plugin = registered[plugin_id]
        plugin.impl, plugin.impl_attributes = function, _check_signature(function, plugin, Tensor, ["outputs", "stream"])
        if inspect.signature(function).return_annotation not in (None, inspect.Parameter.empty):
            raise ValueError("the implementation returns nothing")
        return function

    return decorate


def autotune(plugin_id):
    def decorate(function):
        plugin = registered[plugin_id]
        plugin.autotune = function
        plugin.autotune_attributes = _check_signature(function, plugin, TensorDesc, ["outputs"])
        returns = inspect.signature(function).return_annotation
        if returns is not inspect.Parameter.empty and typing.get_args(returns) != (AutoTuneCombination,):
            raise ValueError("autotune returns a list of combinations")
        return function

    return decorate


def _is_attribute(annotation):
    if annotation in BUILT_IN:
        return True
    if typing.get_origin(annotation) is not np.ndarray:
        return False
    return typing.get_args(typing.get_args(annotation)[1])[0] in ARRAYS


def _check_tuple(annotation, kind):
    if typing.get_origin(annotation) is not tuple or any(one is not kind for one in typing.get_args(annotation)):
        raise ValueError("%s is not a tuple of %s" % (annotation, kind.__name__))


def _check_signature(function, plugin, kind, last):
    """Tensors first, then some of the attributes in their order. Returns the attributes."""
    parameters = inspect.signature(function).parameters
    own = [name for name in parameters if name in plugin.attributes]
    if list(parameters) != plugin.tensors + [name for name in plugin.attributes if name in own] + last:
        raise ValueError("the parameters of %s are not those that were registered" % function.__name__)
    for name, parameter in parameters.items():
        expected = plugin.attributes.get(name, int if name == "stream" else kind)
        if name == "outputs":
            _check_tuple(parameter.annotation, kind)
        elif parameter.annotation not in (expected, inspect.Parameter.empty):
            raise ValueError("%s has another type than was registered" % name)
    return own
