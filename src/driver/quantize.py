#!/usr/bin/env python3
"""Quantise a model to INT8 with Q/DQ nodes, with ONNX Runtime's quantize_static.

Needs ONNX Runtime, NumPy and the package onnx. A job (`job.py`). Request: {"model", "out", "files", "inputs"}, where files
and inputs are as `tensor_files.model_samples` takes them. Result: {"onnx"}, the version of onnx. `out` is written.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import job  # noqa: E402
import tensor_files  # noqa: E402


def handle(request, channel, stop):
    try:
        import onnx
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    except ImportError as error:
        raise job.JobError("missing", f"quantising needs Python's package onnx: {error}") from None
    try:
        samples, _ = tensor_files.model_samples(request["files"], request["inputs"], 0)
    except tensor_files.Unfit as error:
        raise job.JobError("inputs", str(error)) from None

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rest = iter(samples)

        def get_next(self):
            stop.check()
            return next(self.rest, None)

    try:
        # Symmetric, as TensorRT wants it.
        quantize_static(
            request["model"], request["out"], Reader(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8, per_channel=True,
            extra_options={"ActivationSymmetric": True, "WeightSymmetric": True},
        )  # fmt: skip
    except job.JobError:
        raise
    except Exception as error:
        raise job.JobError("quantise", f"quantize_static: {error}") from None
    return {"onnx": onnx.__version__}


if __name__ == "__main__":
    job.serve(handle)
