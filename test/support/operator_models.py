"""Writes ONNX's own test models of single operators into a folder: one JSON name a line for those written."""
import json
import os
import sys
import warnings

warnings.simplefilter("ignore")
out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

from onnx.backend.test.case.node import collect_testcases  # noqa: E402

folder = sys.argv[1]
seen = set()
for case in collect_testcases(None):
    content = case.model.SerializeToString()
    # Many cases differ in their inputs' values only.
    if content in seen or len(content) > 1_000_000:
        continue
    seen.add(content)
    with open(os.path.join(folder, case.name + ".onnx"), "wb") as file:
        file.write(content)
    print(json.dumps(case.name), file=out)
out.close()
