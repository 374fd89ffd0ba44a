"""Shared by the jobs that answer one request after another with ONNX Runtime (`conversation.py`): how sessions are made."""

import numpy as np
import onnxruntime as ort

import conversation
import tensor_files
from conversation import Refused  # noqa: F401 -- what the jobs raise


def session_options(threads=1):
    """Without optimizations, so that equal networks give equal bytes."""
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    options.enable_cpu_mem_arena = False
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def load(model, options=None):
    """A session for a model: a path, or its bytes. Raises what ONNX Runtime raises."""
    return ort.InferenceSession(model, options or session_options(), providers=["CPUExecutionProvider"])


def converse(does, channel, stop):
    """Answers until the conversation ends; see `conversation.converse`."""
    np.seterr(all="ignore")
    conversation.converse(does, channel, stop, [(tensor_files.Unfit, "inputs")])
