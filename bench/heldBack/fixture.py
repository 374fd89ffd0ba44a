#!/usr/bin/env python3
"""
fixture.py RESULTS.jsonl.gz OUT.jsonl.gz: what `experiment.py` recorded, as the tests read it: one line a build, {"id",
"version", "capability", "model": base64 of the ONNX file without its weights, and "layers" or "log"}. Builds that failed are
left out.
"""

import base64
import gzip
import json
import sys

import networks


def main(source, target):
    networks.Builder.outside = True
    with gzip.open(source, "rt", encoding="utf-8") as read, gzip.GzipFile(target, "wb", 9, mtime=0) as write:
        for line in read:
            found = json.loads(line)
            if found.get("error") is not None:
                continue
            row = {"id": found["id"], "version": found["version"], "gpu": found["gpu"], "capability": found["computeCapability"],
                   "model": base64.b64encode(networks.build(found["case"]).encoded()).decode()}  # fmt: skip
            if found.get("layers"):
                row["layers"] = found["layers"]
            # The rest of the log says nothing that the layers do not.
            row["log"] = [text for text in found.get("log", []) if "Layers:" in text[:200] or "ForeignNode {" in text or "pattern" in text]
            write.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
