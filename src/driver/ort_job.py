"""Shared by the jobs that answer one request after another with ONNX Runtime: how sessions are made, and the conversation.

Each line on stdin behind the request of the job (`job.py`) is one request {"do": NAME, ...}, and each gets one event,
{"event": "answer", "result"} or {"event": "refused", "kind", "message"}; {"do": "close"} ends the job.
"""

import json

import numpy as np
import onnxruntime as ort

import tensor_files


class Refused(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


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
    """Answers until the conversation ends. `does`: functions by name; a request's other fields are their arguments."""
    np.seterr(all="ignore")
    for line in stop.lines():
        request = json.loads(line)
        what = request.pop("do")
        if what == "close":
            break
        try:
            channel.send("answer", result=does[what](**request))
        except Refused as refused:
            channel.send("refused", kind=refused.kind, message=str(refused))
        except tensor_files.Unfit as error:
            channel.send("refused", kind="inputs", message=str(error))
        except MemoryError:
            channel.send("refused", kind="memory", message="out of memory")
        except Exception as error:
            channel.send("refused", kind="failed", message=str(error))
