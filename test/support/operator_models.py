"""Writes ONNX's own test models of single operators into a folder: one JSON name a line for those written."""
import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

from onnx.backend.test.case.node import collect_testcases  # noqa: E402

GRAPH = 5
TYPE_ATTRIBUTES = ("to", "dtype", "saturate")


def value(info):
    kind = info.type.WhichOneof("value")
    return info.type.tensor_type.elem_type if kind == "tensor_type" else info.type.SerializeToString()


def attribute(one):
    return one.name, graph(one.g) if one.type == GRAPH else one.i if one.name in TYPE_ATTRIBUTES else None


def graph(one):
    """Operators, which inputs and outputs they have, and types: models equal in these differ in sizes and values only."""
    nodes = [
        (node.op_type, *(tuple(map(bool, names)) for names in (node.input, node.output)), *map(attribute, node.attribute))
        for node in one.node
    ]
    return (*nodes, *map(value, one.input), *map(value, one.output))


folder = sys.argv[1]
seen = set()
for case in collect_testcases(None):
    content = case.model.SerializeToString()
    key = (graph(case.model.graph), *(opset.version for opset in case.model.opset_import))
    if key in seen or len(content) > 1_000_000:
        continue
    seen.add(key)
    with open(os.path.join(folder, case.name + ".onnx"), "wb") as file:
        file.write(content)
    print(json.dumps(case.name), file=out)
out.close()
