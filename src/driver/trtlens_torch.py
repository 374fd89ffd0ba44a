"""Names the nodes of a PyTorch graph in the layers of TensorRT, and writes the graph with its modules and source lines.

Copy this file next to your program. With Torch-TensorRT (dynamo):

    import trtlens_torch

    with trtlens_torch.record("model.fx.json"):
        compiled = torch_tensorrt.dynamo.compile(program, inputs=inputs)

`trtlens show --onnx model.fx.json --layers layers.json` then says which kernel computes which module and line.

Each layer gets the FX node that it was made of as `ILayer.metadata`: `[ONNX Layer: blocks.0.fc/linear_3]`. TensorRT lists that
text for every kernel that it fuses of such layers, in its log and its engine inspector. Nothing else of the network changes.

The file is JSON, {"schema": 1, "kind": "torch-fx", "graphs": [GRAPH]}, with one graph for each engine:
  GRAPH: {"inputs": [NODE], "constants": [NODE], "nodes": [NODE], "outputs": [NAME]}
  NODE:  {"name", "op", "module", "source": "model.py:12" or null, "inputs": [NAME], "args", "kwargs", "type", "shape",
          "layers": how many layers of TensorRT it became}

Needs Python 3.8 or later and nothing but its standard library.
"""

import contextlib
import json
import math
import os
import re

FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@contextlib.contextmanager
def record(path):
    """Records every engine that Torch-TensorRT builds inside the `with` block, and writes the file at its end."""
    from torch_tensorrt.dynamo.conversion._TRTInterpreter import TRTInterpreter

    with recording(TRTInterpreter, path) as recorder:
        yield recorder


@contextlib.contextmanager
def recording(interpreter_class, path):
    """The same for any interpreter whose `run_node(node)` adds the layers of one FX node to `ctx.net` or `network`."""
    recorder = Recorder()
    original = interpreter_class.run_node

    def run_node(interpreter, node, *args, **kwargs):
        context = getattr(interpreter, "ctx", None)
        network = interpreter.network if context is None else context.net
        with recorder.layers_of(network, node):
            return original(interpreter, node, *args, **kwargs)

    interpreter_class.run_node = run_node
    try:
        yield recorder
    finally:
        interpreter_class.run_node = original
        recorder.write(path)


class Recorder:
    """Names layers while a network is made, and keeps what is known of its FX nodes."""

    def __init__(self):
        self._networks = []

    @contextlib.contextmanager
    def layers_of(self, network, node):
        """Layers that are added to the network inside the block belong to the node."""
        first = network.num_layers
        yield
        entry = describe(node)
        entry["layers"] = network.num_layers - first
        for index in range(first, network.num_layers):
            network.get_layer(index).metadata = "[ONNX Layer: %s]" % entry["name"]
        self._graph_of(network).add(node, entry)

    def write(self, path):
        graphs = [graph.as_json() for _, graph in self._networks]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schema": 1, "kind": "torch-fx", "graphs": graphs}, file, allow_nan=False)

    def _graph_of(self, network):
        for known, graph in self._networks:
            if known is network:
                return graph
        self._networks.append((network, Graph()))
        return self._networks[-1][1]


class Graph:
    """The nodes of one network."""

    def __init__(self):
        self._keys = {}
        self._parts = {"inputs": [], "constants": [], "nodes": [], "outputs": []}

    def add(self, node, entry):
        self._keys[node.name] = entry["name"]
        if node.op == "output":
            self._parts["outputs"] = [self._keys.get(name, name) for name in entry["inputs"]]
            return
        part = {"placeholder": "inputs", "get_attr": "constants"}.get(node.op, "nodes")
        entry["inputs"] = [self._keys.get(name, name) for name in entry["inputs"]]
        self._parts[part].append(entry)

    def as_json(self):
        return self._parts


def describe(node):
    """What is known of an FX node. Names of inputs are those of FX."""
    module = module_of(node)
    plain_type, shape = tensor_of(node)
    return {
        "name": "%s/%s" % (module, node.name) if module else node.name,
        "op": target_of(node),
        "module": module,
        "source": source_of(node),
        "inputs": list(dict.fromkeys(names_in((node.args, node.kwargs)))),
        "args": plain(node.args),
        "kwargs": plain(node.kwargs),
        "type": plain_type,
        "shape": shape,
    }


def module_of(node):
    """`blocks.0.fc`; '' outside of modules."""
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return ""
    path = stack[-1][0] if isinstance(stack[-1], (tuple, list)) else str(stack[-1])
    return re.sub(r"^(?:L\['self'\]|self)\.?", "", str(path)).replace("/", ".")


def source_of(node):
    """`model.py:12`: the innermost line outside of the package torch; relative to the working folder where it is inside."""
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if not re.search(r"packages[\\/]torch[\\/]", frame[0])]
    if not own:
        return None
    path, line = own[-1]
    relative = os.path.relpath(path) if os.path.isabs(path) and not os.path.relpath(path).startswith("..") else None
    return "%s:%s" % ((relative or os.path.basename(path)).replace(os.sep, "/"), line)


def target_of(node):
    """`aten.linear.default`, `getitem`."""
    text = str(node.target)
    return getattr(node.target, "__name__", text) if text.startswith("<") else text


def tensor_of(node):
    """Type and shape of a node's result; of several results those of none."""
    value = node.meta.get("val")
    if value is None or not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return None, None
    shape = [int(size) if isinstance(size, int) else str(size) for size in value.shape]
    return str(value.dtype).replace("torch.", ""), shape


def is_node(value):
    return hasattr(value, "op") and hasattr(value, "name") and hasattr(value, "args")


def names_in(value):
    if is_node(value):
        yield value.name
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from names_in(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from names_in(part)


def plain(value):
    """Arguments as JSON: a node by its FX name, what JSON has no form for as text."""
    if is_node(value):
        return {"node": value.name}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)
