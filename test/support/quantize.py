#!/usr/bin/env python3
"""Quantize a model to INT8 with Q/DQ nodes, with ONNX Runtime's quantize_static or NVIDIA's ModelOpt.

Needs NumPy, the package onnx, and ONNX Runtime or ModelOpt. A job (`job.py`). Request: {"model", "out", "files", "inputs",
"tool", "pairs"}, where files and inputs are as `tensor_files.model_samples` takes them; tool is "onnxruntime" (the default)
or "modelopt". pairs: ONNX Runtime quantizes every operator
that it can, and leaves weights in floating point, with Q/DQ pairs of their own. Result: {"by"}, the
tool with its version. `out` is written.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "driver"))

import job  # noqa: E402
import tensor_files  # noqa: E402


def with_modelopt(request, samples, stop):
    try:
        import modelopt
        import numpy as np
        from modelopt.onnx.quantization import quantize
    except ImportError as error:
        raise job.JobError("missing", f"calibrating with ModelOpt needs nvidia-modelopt[onnx]: {error}") from None
    stop.check()
    # All samples behind each other along the first axis.
    data = {name: np.concatenate([sample[name] for sample in samples]) for name in samples[0]}
    quantize(
        onnx_path=request["model"], quantize_mode="int8", calibration_data=data, calibration_eps=["cpu"],
        output_path=request["out"],
    )  # fmt: skip
    return f"ModelOpt {modelopt.__version__}"


QUANTIZED = ["Conv", "ConvTranspose", "Gemm", "MatMul", "Add", "MaxPool", "AveragePool", "GlobalAveragePool"]


def biases(graph):
    """Names of the sums with a constant: a product's kernel adds it in floating point."""
    constants = {tensor.name for tensor in graph.initializer}
    constants.update(output for node in graph.node if node.op_type == "Constant" for output in node.output)
    return [node.name for node in graph.node if node.op_type == "Add" and not constants.isdisjoint(node.input)]


def one_scale(graph):
    """Overrides for weights that would get a scale per entry of an axis for which TensorRT has no kernels.

    Those of transposed convolutions, and those on the left, whose columns are not output channels.
    """
    constants = {tensor.name for tensor in graph.initializer}
    weights = [node.input[1] for node in graph.node if node.op_type == "ConvTranspose"]
    weights += [node.input[0] for node in graph.node if node.op_type in ("MatMul", "Gemm")]
    return {name: [{}] for name in weights if name in constants}


def with_onnxruntime(request, samples, stop):
    try:
        import onnx
        import onnxruntime
        from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
    except ImportError as error:
        raise job.JobError("missing", f"quantizing needs Python's package onnx: {error}") from None

    class Reader(CalibrationDataReader):
        def __init__(self):
            self.rest = iter(samples)

        def get_next(self):
            stop.check()
            return next(self.rest, None)

    # Symmetric, and with the bias in FP32, as TensorRT wants it.
    extra = {"ActivationSymmetric": True, "WeightSymmetric": True, "QuantizeBias": False}
    if request.get("pairs", False):
        # To be judged, not to be built: every operator that ONNX Runtime quantizes.
        placed = {}
        extra["AddQDQPairToWeight"] = True
    else:
        # Only at the inputs of what TensorRT computes in INT8: a pair at an output would separate a product from its
        # activation.
        graph = onnx.load(request["model"], load_external_data=False).graph
        placed = {"op_types_to_quantize": QUANTIZED, "nodes_to_exclude": biases(graph)}
        extra["OpTypesToExcludeOutputQuantization"] = QUANTIZED
        extra["TensorQuantOverrides"] = one_scale(graph)
    quantize_static(
        request["model"], request["out"], Reader(), quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8, per_channel=True, extra_options=extra, **placed,
    )  # fmt: skip
    return f"ONNX Runtime {onnxruntime.__version__}"


TOOLS = {"modelopt": with_modelopt, "onnxruntime": with_onnxruntime}


def handle(request, channel, stop):
    tool = request.get("tool", "onnxruntime")
    try:
        samples, _ = tensor_files.model_samples(request["files"], request["inputs"], 0)
    except tensor_files.Unfit as error:
        raise job.JobError("inputs", str(error)) from None
    try:
        return {"by": TOOLS[tool](request, samples, stop)}
    except job.JobError:
        raise
    except Exception as error:
        raise job.JobError("quantize", f"{tool}: {type(error).__name__}: {error}") from None


if __name__ == "__main__":
    job.serve(handle)
