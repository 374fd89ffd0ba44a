#!/usr/bin/env python3
"""Compute constants of a model and prove a repaired model with ONNX Runtime, as one JSON line after another asks for it.

Needs ONNX Runtime and NumPy. A job and its conversation: `job.py`, `ort_job.py`. Kinds of refusals: `inputs` (the given files do
not fit the model), `original` and `repaired` (ONNX Runtime cannot load or run that model), `memory`, `failed`.

  compute   model, folder, limit       runs a model without inputs; result: {"tensors": [{"name", "type", "shape", "path"}]},
                                       raw data in files of `folder`; none larger than `limit` bytes
  prove     original, repaired, files, inputs, shapes, renamed, noisy, texts, seed, seconds
  close

`inputs`: [{"name", "type", "shape", "low", "high", "fixed"}]: bounds for integers, or all of its values. `shapes`: a list of {name: shape}. `renamed`: {output:
other name or null}. `noisy`: a copy of the original with weights moved by a rounding step, or null. `texts`: those for which the repaired model takes the index. Cases: the samples in
`files`, or else made values: for each set of shapes ordinary ones, then zeros, large, tiny and sparse ones, extreme ones,
ones, and special ones (NaN, infinities, −0). A case that the original rejects is counted and not compared. Result:

  {"cases": [{"kind", "ran", "why"}], "noise": true or false, "outputs": [{"name", "kind": "float" | "other", "dropped",
   "identical", "specialIdentical", "error", "noise", "worst", "agree", "note"}]}

identical: bit for bit in all cases of finite inputs; a NaN equals any NaN. error: the largest max|d| / max|original| of
these; null: not finite, or shapes differ. noise: the same between the original and itself with inputs and weights moved by
a rounding step. Optimizations are off and one thread computes, so that equal networks give equal bytes.
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402

import job  # noqa: E402
import ort_job  # noqa: E402
import tensor_files  # noqa: E402
from ort_job import Refused  # noqa: E402

TYPES = {
    "tensor(float)": "float", "tensor(double)": "double", "tensor(float16)": "float16", "tensor(int8)": "int8",
    "tensor(uint8)": "uint8", "tensor(int16)": "int16", "tensor(uint16)": "uint16", "tensor(int32)": "int32",
    "tensor(uint32)": "uint32", "tensor(int64)": "int64", "tensor(uint64)": "uint64", "tensor(bool)": "bool",
    "tensor(string)": "string",
}  # fmt: skip


def session(path, kind):
    try:
        return ort_job.load(path)
    except Exception as error:
        raise Refused(kind, str(error)) from None


def compute(model, folder, limit):
    one = session(model, "original")
    tensors = []
    for output in one.get_outputs():
        try:
            value = one.run([output.name], {})[0]
        except Exception as error:
            raise Refused("original", str(error)) from None
        kind = TYPES.get(output.type)
        if not isinstance(value, np.ndarray) or kind in (None, "string") or value.nbytes > limit:
            continue
        path = os.path.join(folder, "computed-%d.bin" % len(tensors))
        np.ascontiguousarray(value).tofile(path)
        tensors.append({"name": output.name, "type": kind, "shape": list(value.shape), "path": path})
    return {"tensors": tensors}


KINDS = ("normal", "zeros", "large", "tiny", "sparse", "extreme", "special")


def value_of(declared, shape, kind, generator, texts):
    name, low, high = declared["name"], declared["low"], declared["high"]
    if declared["fixed"] is not None:
        fixed = np.asarray(declared["fixed"], tensor_files.dtype_of(declared))
        return fixed.reshape(()) if declared["shape"] == [] else fixed
    if declared["type"] == "string":
        known = np.array([*texts, "another text"] if texts else ["a"], dtype=object)
        return known[generator.integers(0, len(known), shape)]
    dtype = np.dtype(tensor_files.dtype_of(declared))
    if dtype.kind == "b":
        # Of rank 0, a comparison gives no array, which ONNX Runtime does not take.
        return np.zeros(shape, bool) if kind == "zeros" else np.asarray(generator.random(shape) < 0.5)
    if dtype.kind in "iu":
        return integers(name, shape, kind, dtype, (low, high), generator)
    value = generator.standard_normal(shape)
    if kind == "zeros":
        value = np.zeros(shape)
    elif kind == "large":
        value = value * 30
    elif kind == "tiny":
        value = value * 1e-6
    elif kind == "sparse":
        value = value * (generator.random(shape) < 0.5)
    elif kind == "extreme":
        value = np.where(generator.random(shape) < 0.5, -1.0, 1.0) * 1e4
    value = np.asarray(value).astype(dtype)
    if kind == "special" and value.size:
        flat = value.reshape(-1)
        for place, special in zip(generator.permutation(flat.size), (np.nan, np.inf, -np.inf, -0.0)):
            flat[place] = special
    return value


def integers(name, shape, kind, dtype, bounds, generator):
    low, high = bounds
    if "mask" in name.lower():
        ones = np.ones(shape, dtype)
        if kind in ("normal", "large") or not ones.ndim:
            return ones
        return (generator.random(shape) < 0.7).astype(dtype) | (np.arange(ones.shape[-1]) < 1).astype(dtype)
    if kind == "zeros":
        return np.full(shape, low, dtype)
    if kind == "extreme":
        return np.asarray(generator.choice(np.array([low, high - 1]), shape), dtype)
    return np.asarray(generator.integers(low, high, shape), dtype)


def nudged(value, generator):
    """Each number one rounding step up or down."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    to = np.where(generator.random(value.shape) < 0.5, -np.inf, np.inf).astype(value.dtype)
    return np.asarray(np.where(np.isfinite(value) & (value != 0), np.nextafter(value, to), value))


def made_cases(inputs, shapes, seed, texts):
    for number, kind in enumerate(KINDS):
        for index, sizes in enumerate(shapes if kind == "normal" else shapes[number % len(shapes) :][:1]):
            generator = np.random.default_rng(seed + 100 * number + index)
            yield kind, {one["name"]: value_of(one, sizes[one["name"]], kind, generator, texts) for one in inputs}


def fed(one, values, texts=()):
    """The values as the session's inputs: those of another type converted, those that are gone left out."""
    feeds, index = {}, {text: at for at, text in enumerate(texts)}
    for given in one.get_inputs():
        value = values[given.name]
        kind = TYPES.get(given.type)
        if kind == "int64" and value.dtype.kind in "OUS":
            value = np.array([index.get(str(text), -1) for text in value.reshape(-1)], np.int64).reshape(value.shape)
        if kind not in (None, "string") and value.dtype != np.dtype(tensor_files.DTYPES[kind]):
            value = value.astype(tensor_files.DTYPES[kind])
        feeds[given.name] = value
    return feeds


def plain(value):
    """ZipMap gives a list of dictionaries: its numbers as a matrix."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return np.array([[row[key] for key in row] for row in value], np.float32)
    if isinstance(value, list):
        return None
    return value


def difference(have, want):
    """(bit for bit the same, largest relative error or None)"""
    if have.shape != want.shape:
        return False, None
    if want.dtype.kind not in "fiub" or have.dtype.kind not in "fiub":
        same = bool(np.array_equal(have, want))
        return same, 0.0 if same else None
    if have.dtype == want.dtype and want.dtype.kind == "f":
        kind = {2: np.uint16, 4: np.uint32, 8: np.uint64}[want.dtype.itemsize]
        bits = np.array_equal(
            np.where(np.isnan(have), 0, np.ascontiguousarray(have).view(kind).reshape(have.shape)),
            np.where(np.isnan(want), 0, np.ascontiguousarray(want).view(kind).reshape(want.shape)),
        ) and np.array_equal(np.isnan(have), np.isnan(want))
    else:
        bits = np.array_equal(have, want)
    if bits or want.size == 0:
        return bool(bits), 0.0
    a, b = want.astype(np.float64), have.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(np.isfinite(np.where(same, 0, b - a))):
        return False, None
    largest = float(np.abs(a[np.isfinite(a)]).max(initial=0))
    off = float(np.abs(np.where(same, 0, b - a)).max(initial=0))
    return False, off / largest if largest > 0 else off


def worse(known, error):
    return None if known is None or error is None else max(known, error)


class Output:
    def __init__(self, name, value, dropped):
        self.fields = {
            "name": name, "kind": "float" if isinstance(value, np.ndarray) and value.dtype.kind == "f" else "other",
            "dropped": dropped, "identical": not dropped, "specialIdentical": not dropped, "error": 0.0, "noise": 0.0,
            "worst": None, "note": None, "agree": 1.0,
        }  # fmt: skip

    def compare(self, kind, have, want):
        if want.dtype.kind == "O":
            same, error = bool(np.array_equal(have.astype(str), want.astype(str))), None
        else:
            same, error = difference(have, want)
        if kind == "special":
            self.fields["specialIdentical"] = self.fields["specialIdentical"] and same
            return
        fields = self.fields
        if not same:
            if have.shape != want.shape:
                fields["note"] = "shape %s in place of %s" % (list(have.shape), list(want.shape))
            if fields["worst"] is None or error is None or (fields["error"] is not None and error > fields["error"]):
                fields["worst"] = kind
        fields["identical"] = fields["identical"] and same
        fields["error"] = worse(fields["error"], error)
        if want.dtype.kind in "iub" and have.shape == want.shape and want.size:
            fields["agree"] = min(fields["agree"], float(np.mean(have == want)))

    def noisy(self, have, want):
        _, error = difference(have, want)
        self.fields["noise"] = worse(self.fields["noise"], error)


def prove(original, repaired, files, inputs, shapes, renamed, noisy, texts=(), seed=0, seconds=None):
    before, after = session(original, "original"), session(repaired, "repaired")
    moved = session(noisy, "original") if noisy else None
    if files:
        try:
            samples, _ = tensor_files.model_samples(files, inputs, 0)
        except tensor_files.Unfit as error:
            raise Refused("inputs", str(error)) from None
        cases = [("sample", sample) for sample in samples]
    else:
        cases = made_cases(inputs, shapes, seed, texts)
    began, reports, outputs, names = time.monotonic(), [], {}, [one.name for one in before.get_outputs()]
    noise = moved is not None or any(one["type"] in ("float", "double", "float16") for one in inputs)
    for number, (kind, values) in enumerate(cases):
        if seconds is not None and number >= 3 and time.monotonic() - began > seconds:
            break
        try:
            wanted = [plain(value) for value in before.run(names, fed(before, values))]
        except Exception as error:
            reports.append({"kind": kind, "ran": False, "why": str(error)[:300]})
            continue
        try:
            found = dict(zip([one.name for one in after.get_outputs()], after.run(None, fed(after, values, texts))))
        except Exception as error:
            raise Refused("repaired", str(error)) from None
        reports.append({"kind": kind, "ran": True, "why": None})
        generator = np.random.default_rng(seed + number)
        other = None
        if noise and kind != "special":
            try:
                shaken = {name: nudged(value, generator) for name, value in values.items()}
                one = moved or before
                other = [plain(value) for value in one.run(names, fed(one, shaken))]
            except Exception:
                other = None
        for index, (name, want) in enumerate(zip(names, wanted)):
            own = renamed.get(name, name)
            known = outputs.setdefault(name, Output(name, want, own is None))
            if own is None or want is None:
                continue
            known.compare(kind, plain(found[own]), want)
            if other is not None and other[index] is not None and want.dtype.kind != "O":
                known.noisy(other[index], want)
    fields = [one.fields for one in outputs.values()]
    return {"cases": reports, "noise": noise, "outputs": fields}


if __name__ == "__main__":
    job.serve(lambda _, channel, stop: ort_job.converse({"compute": compute, "prove": prove}, channel, stop))
