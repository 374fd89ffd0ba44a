#!/usr/bin/env python3
"""Convert a model to another version of ONNX's operator set, with onnx's version converter.

Needs the package onnx. A job (`job.py`). Request: {"model", "out", "opset"}; `out` is written, weights included.
Result: {"onnx"}, the version of onnx.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import job  # noqa: E402

# Protobuf's limit is 2 GiB; larger weights go to a file next to the model.
LARGE = 1 << 30


def handle(request, channel, stop):
    try:
        import onnx
        from onnx import version_converter
    except ImportError as error:
        raise job.JobError("missing", "converting needs Python's package onnx: %s" % error) from None
    newest = onnx.defs.onnx_opset_version()
    if not 1 <= request["opset"] <= newest:
        raise job.JobError("opset", "onnx %s knows operator sets 1 to %d" % (onnx.__version__, newest))
    try:
        model = onnx.load(request["model"])
        stop.check()
        converted = version_converter.convert_version(model, request["opset"])
        stop.check()
        outside = converted.ByteSize() > LARGE
        onnx.save(converted, request["out"], save_as_external_data=outside, location="converted.data")
    except job.JobError:
        raise
    except Exception as error:
        reason = str(error).strip().split("\n")[-1]
        raise job.JobError("convert", "onnx cannot convert the model to opset %d: %s" % (request["opset"], reason)) from None
    return {"onnx": onnx.__version__}


if __name__ == "__main__":
    job.serve(handle)
