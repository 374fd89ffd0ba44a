#!/usr/bin/env python3
"""Run models one after the other with ONNX Runtime on the CPU: a tensor that one makes is what the next ones read.

Needs ONNX Runtime and NumPy. A job (`job.py`): {"parts": [path], "whole": path or null, "files", "inputs", "save":
[{"path", "names"}]}; `files` and `inputs`: see `tensor_files.model_samples`. With `whole`, its outputs are compared with
those of the parts. `save` stores tensors by name as .npz: those of the first sample under their names, of further ones as
NAME#2, NAME#3, … The result is {"samples", "differences": [{"name", "error"}]}: the largest max|d| / max|whole| of all
samples; null: not finite. Optimizations are off and one thread computes, so that equal networks give equal bytes.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402

import job  # noqa: E402
import ort_job  # noqa: E402
import tensor_files  # noqa: E402


def session(path):
    try:
        return ort_job.load(path)
    except Exception as error:
        raise job.JobError("load", "ONNX Runtime cannot load %s: %s" % (os.path.basename(path), error)) from None


def ran(one, values):
    names = [output.name for output in one.get_outputs()]
    try:
        return dict(zip(names, one.run(names, {given.name: values[given.name] for given in one.get_inputs()})))
    except Exception as error:
        raise job.JobError("run", "ONNX Runtime cannot run the model: %s" % error) from None


def error_of(have, want):
    if have.shape != want.shape:
        return None
    if have.dtype.kind not in "fiub" or want.size == 0:
        return 0.0 if np.array_equal(have, want) else None
    have, want = have.astype(np.float64), want.astype(np.float64)
    largest = np.max(np.abs(want))
    # An infinity or NaN that both have is no difference.
    difference = np.max(np.where((have == want) | (np.isnan(have) & np.isnan(want)), 0, np.abs(have - want)))
    error = difference / largest if difference > 0 and largest > 0 else difference
    return float(error) if np.isfinite(error) else None


def handle(request, channel, stop):
    try:
        samples, _ = tensor_files.model_samples(request["files"], request["inputs"], 0)
    except tensor_files.Unfit as error:
        raise job.JobError("samples", str(error)) from None
    parts = [session(path) for path in request["parts"]]
    whole = session(request["whole"]) if request["whole"] else None
    saved = [{} for _ in request["save"]]
    errors = {}
    for number, sample in enumerate(samples):
        values = dict(sample)
        for part in parts:
            stop.check()
            values.update(ran(part, values))
        for name, want in (ran(whole, sample) if whole else {}).items():
            error = error_of(values[name], want)
            known = errors.get(name, 0.0)
            errors[name] = None if error is None or known is None else max(known, error)
        for store, wanted in zip(saved, request["save"]):
            store.update({name if number == 0 else "%s#%d" % (name, number + 1): values[name] for name in wanted["names"]})
    for store, wanted in zip(saved, request["save"]):
        tensor_files.write_npz(wanted["path"], store, stop.leftovers)
    return {
        "samples": len(samples),
        "differences": [{"name": name, "error": error} for name, error in errors.items()],
    }


if __name__ == "__main__":
    job.serve(handle)
