#!/usr/bin/env python3
"""Compare the tensors that two tools or engines wrote. Needs NumPy.

A job (`job.py`). Request: {"a": PATH, "b": PATH}, files as `tensor_files.read_samples` takes them; a is the reference.
b may also be what Polygraphy's --save-accuracy-results writes: with the reference, its largest differences are errors.
Result: {"runs", "tensors": [{"name", "other", ...compare}], "onlyA", "onlyB", "notes"}; the worst of all runs counts.
"""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402

import job  # noqa: E402
import tensor_files  # noqa: E402
from compare_tensors import compare, is_float  # noqa: E402
from tensor_files import Range  # noqa: E402


class Difference:
    """The largest difference to the reference that Polygraphy computed; NaN: one of the two is not finite."""

    def __init__(self, value):
        self.value = float(value)


def differences(path):
    """(runs, note) of Polygraphy's accuracy results, each run {name: Difference}; None for all other files"""
    if not path.lower().endswith(".json") or not os.path.isfile(path):
        return None
    try:
        content = tensor_files.load_json(path)
        if not isinstance(content, dict) or content.get("polygraphy_class") != "AccuracyResults":
            return None
        pairs = [pair for comparison in content["lst"] for pair in comparison["lst"]]
        simple = [
            (runners, runs) for runners, runs in pairs
            if all("max_absdiff" in one for run in runs for one in run.values() if isinstance(one, dict))
            and any(isinstance(one, dict) for run in runs for one in run.values())
        ]  # fmt: skip
        if not simple:
            raise tensor_files.Unfit(f"{path}: holds no largest differences. Run Polygraphy with --compare simple")
        (first, second), runs = simple[-1]
        note = f"{path} holds {len(simple)} comparisons; compared is {second} with {first}" if len(simple) > 1 else None
        return [{name: Difference(one["max_absdiff"]) for name, one in run.items()} for run in runs], note
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise tensor_files.Unfit(f"{path}: cannot be read: {error}") from None


def runs_of(path, last):
    """The runs in a file, of its first runner or its last one; and a note where it has several."""
    stored = differences(path) if last else None
    if stored:
        return stored
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
    """compare(), also where of one side only minimum and maximum are known, or only the largest difference"""
    if isinstance(b, Difference):
        return of_difference(name, a, b.value)
    if not isinstance(a, Range) and not isinstance(b, Range):
        return compare(name, a, b)
    values = [ends(one) for one in (a, b)]
    answer = compare(name, *(np.asarray(one, np.float64) for one in values))
    return {**answer, "shape": list(a.shape), "range": True}


def of_difference(name, reference, difference):
    """compare(), of which only the largest difference is known. An error that does not follow from it is None."""
    if isinstance(reference, Range):
        raise tensor_files.Unfit("the reference needs values where only differences are known. Pass its outputs as A")
    answer = {**compare(name, reference, reference), "stored": True}
    answer.pop("nan", None)
    answer.pop("inf", None)
    if is_float(reference) and np.isfinite(reference).all():
        finite = bool(np.isfinite(difference))
        error = difference / answer["max"] if answer["max"] else difference
        return {**answer, "finite": finite, "error": error if finite else None}
    # The share of elements that differ, and what is the same NaN in both, are not stored.
    return {**answer, "error": 0.0 if difference == 0 else None}


def ends(one):
    if isinstance(one, Range):
        return one.min, one.max
    return (float(one.min()), float(one.max())) if one.size else (0.0, 0.0)


def worse(one, other):
    if one is None or not other["finite"]:
        return other
    unknown = other["error"] is None and other["finite"]
    return other if one["finite"] and (unknown or (other["error"] or 0) > (one["error"] or 0)) else one


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
            try:
                result = {**held(name, one[name], other[second]), "other": second}
            except tensor_files.Unfit as error:
                raise job.JobError("inputs", str(error)) from None
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
