#!/usr/bin/env python3
"""Compare the tensors that two tools or engines wrote. Needs NumPy.

A job (`job.py`). Request: {"a": PATH, "b": PATH}, files as `tensor_files.read_samples` takes them; a is the reference.
Result: {"runs", "tensors": [{"name", "other", ...compare}], "onlyA", "onlyB", "notes"}; the worst of all runs counts.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402

import job  # noqa: E402
import tensor_files  # noqa: E402
from compare_tensors import compare  # noqa: E402
from tensor_files import Range  # noqa: E402


def runs_of(path, last):
    """The runs in a file, of its first runner or its last one; and a note where it has several."""
    runs = tensor_files.read_samples(path)
    names = tensor_files.runner_names(path)
    if len(names) < 2:
        return runs, None
    size = len(runs) // len(names)
    chosen = names[-1] if last else names[0]
    return (runs[-size:] if last else runs[:size]), f"{path} holds {len(names)} runners; compared is {chosen}"


def plain(name):
    """As tools spell names in file names."""
    return re.sub(r"[^0-9A-Za-z]+", "_", name).strip("_").lower()


def pairs(a, b):
    """(name in a, name in b): the same, or the same but for characters that file names cannot have"""
    found = [(name, name) for name in a if name in b]
    left = {}
    for name in b:
        if name not in a:
            left.setdefault(plain(name), []).append(name)
    for name in a:
        others = left.get(plain(name), [])
        if name not in b and len(others) == 1:
            found.append((name, others[0]))
    # A lone tensor without a name is the other's lone tensor.
    if not found and len(a) == len(b) == 1:
        found = [(next(iter(a)), next(iter(b)))]
    return found


def held(name, a, b):
    """compare(), also where of one side only minimum and maximum are known"""
    if not isinstance(a, Range) and not isinstance(b, Range):
        return compare(name, a, b)
    values = [ends(one) for one in (a, b)]
    answer = compare(name, *(np.asarray(one, np.float64) for one in values))
    return {**answer, "shape": list(a.shape), "range": True}


def ends(one):
    if isinstance(one, Range):
        return one.min, one.max
    return (float(one.min()), float(one.max())) if one.size else (0.0, 0.0)


def worse(one, other):
    if one is None or not other["finite"]:
        return other
    return other if one["finite"] and (other["error"] or 0) > (one["error"] or 0) else one


def handle(request, channel, stop):
    np.seterr(all="ignore")
    try:
        (a, note_a), (b, note_b) = runs_of(request["a"], False), runs_of(request["b"], True)
    except tensor_files.Unfit as error:
        raise job.JobError("inputs", str(error)) from None
    notes = [note for note in (note_a, note_b) if note]
    if len(a) != len(b):
        notes.append(f"{request['a']} holds {len(a)} runs, {request['b']} {len(b)}: the first {min(len(a), len(b))} are compared")
    worst, only_a, only_b = {}, set(), set()
    for one, other in zip(a, b):
        stop.check()
        both = pairs(one, other)
        for name, second in both:
            result = {**held(name, one[name], other[second]), "other": second}
            worst[name] = worse(worst.get(name), result)
        only_a |= set(one) - {name for name, _ in both}
        only_b |= set(other) - {name for _, name in both}
    return {
        "runs": min(len(a), len(b)),
        "tensors": list(worst.values()),
        "onlyA": sorted(only_a),
        "onlyB": sorted(only_b),
        "notes": notes,
    }


if __name__ == "__main__":
    job.serve(handle)
