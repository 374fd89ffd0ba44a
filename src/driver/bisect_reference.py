#!/usr/bin/env python3
"""The reference of a search for wrong nodes: runs a model with ONNX Runtime on the CPU, keeps tensors in files, and compares.

Needs ONNX Runtime and NumPy. A conversation (`conversation.py`); files of tensors are .npz. Requests:

  inputs   {"files", "inputs", "seed", "out"}    inputs of a model, from files or made (`tensor_files.model_samples`), the
           samples one behind the other: out.0.npz, out.1.npz, …; answer {"samples": [path]}
  open     {"model"}                             the model whose tensors `tensors` gives: all that it declares as outputs
  tensors  {"inputs": path, "names", "out"}      stores tensors of the opened model for these inputs; answer {"missing": [name]}
  run      {"model", "inputs": path, "out", "optimized": bool}   all outputs of a model
  noise    {"a", "b"}                            {name: error} of two files: how far right results may be apart
  compare  {"reference", "value", "tolerances": {name: number}, "atol", "rtol", "previous": path or null, "details": bool}
           answer {"outputs": [{"name", "wrong", "error", …}]}: with details all that `value_patterns.describe` says
  pick     {"path", "names", "out", "renamed"}   copies tensors, under other names where `renamed` has them
  slice    {"path", "sizes": {name: [size or null]}, "out"}   copies tensors without what is behind a size of an axis
  shapes   {"path"}                              {name: shape} of a file
  same     {"a", "b"}                            {"equal": whether every byte is the same}
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402
import onnxruntime as ort  # noqa: E402

import job  # noqa: E402
import ort_job  # noqa: E402
import tensor_files  # noqa: E402
import value_patterns  # noqa: E402
from conversation import Refused  # noqa: E402

#: Bytes of tensors of the opened model that are kept for later pieces.
KEPT = 2 << 30


class Reference:
    def __init__(self, stop):
        self.stop = stop
        self.opened, self.kept, self.bytes = None, {}, 0

    def inputs(self, files, inputs, seed, out):
        samples, _ = tensor_files.model_samples(files, inputs, seed)
        paths = ["%s.%d.npz" % (out, number) for number in range(len(samples))]
        for path, sample in zip(paths, samples):
            self.store(path, sample)
        return {"samples": paths}

    def open(self, model):
        self.opened = self.session(model, False)
        self.kept, self.bytes = {}, 0
        return {}

    def tensors(self, inputs, names, out):
        known = {output.name for output in self.opened.get_outputs()}
        given = load(inputs)
        found = {name: given[name] for name in names if name in given}
        wanted = [name for name in names if name in known and name not in found and (inputs, name) not in self.kept]
        if wanted:
            for name, value in zip(wanted, self.run_session(self.opened, wanted, given)):
                self.keep(inputs, name, value)
                found[name] = value
        found.update({name: self.kept[inputs, name] for name in names if (inputs, name) in self.kept})
        self.store(out, found)
        return {"missing": [name for name in names if name not in found]}

    def keep(self, inputs, name, value):
        if self.bytes + value.nbytes <= KEPT:
            self.kept[inputs, name] = value
            self.bytes += value.nbytes

    def run(self, model, inputs, out, optimized=False):
        session = self.session(model, optimized)
        names = [output.name for output in session.get_outputs()]
        self.store(out, dict(zip(names, self.run_session(session, names, load(inputs)))))
        return {}

    def noise(self, a, b):
        one, other = load(a), load(b)
        return {name: value_patterns.error_of(one[name], other[name]) for name in one if name in other}

    def compare(self, reference, value, tolerances, atol=None, rtol=None, previous=None, details=False):
        right, found = load(reference), load(value)
        before = load(previous) if previous else {}
        outputs = []
        for name in right:
            self.stop.check()
            if name not in found:
                continue
            wrong = value_patterns.is_wrong(right[name], found[name], tolerances.get(name, 0.0), atol, rtol)
            if details:
                others = {other: array for other, array in right.items() if other != name}
                answer = value_patterns.describe(name, right[name], found[name], others, before.get(name))
            else:
                answer = {"name": name, "error": value_patterns.error_of(right[name], found[name])}
                if wrong:
                    answer["pattern"] = value_patterns.describe(name, right[name], found[name])["pattern"]
            outputs.append({**answer, "wrong": bool(wrong)})
        return {"outputs": outputs}

    def pick(self, path, names, out, renamed):
        stored = load(path)
        self.store(out, {renamed.get(name, name): stored[name] for name in names if name in stored})
        return {}

    def slice(self, path, sizes, out):
        stored = load(path)
        self.store(out, {name: stored[name][tuple(slice(size) for size in sizes[name])] for name in sizes if name in stored})
        return {}

    def shapes(self, path):
        return {name: list(value.shape) for name, value in load(path).items()}

    def same(self, a, b):
        one, other = load(a), load(b)
        return {"equal": all(name in other and one[name].tobytes() == other[name].tobytes() for name in one)}

    def session(self, model, optimized):
        options = ort_job.session_options()
        if optimized:
            options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        try:
            return ort_job.load(model, options)
        except Exception as error:
            raise Refused("load", "ONNX Runtime cannot load %s: %s" % (os.path.basename(model), error)) from None

    def run_session(self, session, names, given):
        try:
            return session.run(names, {one.name: given[one.name] for one in session.get_inputs() if one.name in given})
        except Exception as error:
            raise Refused("run", "ONNX Runtime cannot run the model: %s" % error) from None

    def store(self, path, arrays):
        tensor_files.write_npz(path, arrays, self.stop.leftovers)


def load(path):
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


def handle(request, channel, stop):
    reference = Reference(stop)
    does = {name: getattr(reference, name) for name in ("inputs", "open", "tensors", "run", "noise", "compare", "pick", "slice", "shapes", "same")}
    ort_job.converse(does, channel, stop)
    return None


if __name__ == "__main__":
    job.serve(handle)
