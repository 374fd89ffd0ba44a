"""The operators of ONNX in every opset that TensorRT reads, one JSON line each: which inputs and outputs take which
floating-point type. null: takes no floating-point type."""
import json
import os

out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

import onnx.defs  # noqa: E402

FIRST, LAST = 7, onnx.defs.onnx_opset_version()
REAL = ("float", "float16", "bfloat16")

history = {}
for schema in onnx.defs.get_all_schemas_with_history():
    if schema.domain == "":
        history.setdefault(schema.name, []).append(schema)


def allowed(schema, parameter):
    for constraint in schema.type_constraints:
        if constraint.type_param_str == parameter.type_str:
            kinds = constraint.allowed_type_strs
            break
    else:
        kinds = [parameter.type_str]
    found = [kind for kind in REAL if f"tensor({kind})" in kinds]
    return found if found else None


for name, schemas in sorted(history.items()):
    for opset in range(FIRST, LAST + 1):
        current = max((s for s in schemas if s.since_version <= opset), key=lambda s: s.since_version, default=None)
        if current is None or current.deprecated:
            continue
        row = {
            "op": name,
            "opset": opset,
            "inputs": [allowed(current, parameter) for parameter in current.inputs],
            "outputs": [allowed(current, parameter) for parameter in current.outputs],
        }
        print(json.dumps(row), file=out)
out.close()
