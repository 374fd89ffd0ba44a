#!/usr/bin/env python3
"""Run simulated models with ONNX Runtime, as one JSON line after another asks for it.

Needs ONNX Runtime and NumPy. A job and its conversation: `job.py`, `ort_job.py`. Kinds of refusals: `inputs` (the given files do
not fit the model), `operator` (ONNX Runtime cannot run a node), `memory`, `failed`. Tensors stay here; only numbers and
names leave. Nothing is written.

  open      model, folder, threads   the model file that sessions copy from; folder: of its external data
  samples   files, inputs, seed      reads the input files; inputs: see `model_samples`
  judge     pieces, feeds, keeps, drops, numbers   one chunk of a model, for all samples; numbers: names of scalar outputs
  chunk     pieces, feeds, keeps, switched, flags  adds a chunk of the model with switches
  reset                              forgets these chunks
  reference outputs, tie, against    runs it with every node exact; outputs: [{name, measure}] (see `compare_tensors.py`);
                                     against: {model, folder} of another model, whose outputs are compared with instead
  trial     exact, limit, judged     runs it with these nodes exact, and compares with the reference
  other     model, folder            runs another model file, and compares with the reference
  measured  path                     compares stored outputs with the reference
  close
"""

import base64
import gzip
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np  # noqa: E402
import onnxruntime as ort  # noqa: E402

import job  # noqa: E402
import ort_job  # noqa: E402
import tensor_files  # noqa: E402
from compare_tensors import Reference, compare  # noqa: E402
from ort_job import Refused  # noqa: E402


TIMED_RUNS, TIMED_SECONDS = 10, 1.0


class Simulation:
    def __init__(self):
        self.path = self.bytes = self.folder = None
        self.threads = 0
        self.samples, self.chunks, self.outputs, self.measures, self.tie = [], [], [], {}, 0.0
        self.compared = []  # one a sample: outputs by name, as `compare` takes them
        self.references = []  # one a sample: every tensor that crosses chunks in the exact run

    def open(self, model, folder, threads=0):
        self.path, self.folder, self.threads = model, folder, threads
        with open(model, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        self.bytes = gzip.open(model).read() if packed else None
        return {"onnxruntime": ort.__version__, "numpy": np.__version__}

    def read_samples(self, files, inputs, seed=0):
        try:
            self.samples, sources = tensor_files.model_samples(files, inputs, seed)
        except tensor_files.Unfit as error:
            raise Refused("inputs", str(error)) from error
        return {"samples": len(self.samples), "inputs": sources}

    def _options(self, folder):
        options = ort_job.session_options(self.threads)
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
        return options

    def _session(self, pieces):
        options = self._options(self.folder)
        try:
            return ort_job.load(self._joined(pieces), options)
        except Exception as error:
            raise refusal(error) from error

    def _joined(self, pieces):
        """pieces: base64 text, or [offset, length] of the model file"""
        parts = []
        with open(self.path, "rb") as file:
            for piece in pieces:
                if isinstance(piece, str):
                    parts.append(base64.b64decode(piece))
                    continue
                offset, length = piece
                if self.bytes is None:
                    file.seek(offset)
                    parts.append(file.read(length))
                else:
                    parts.append(self.bytes[offset : offset + length])
        return b"".join(parts)

    def judge(self, pieces, feeds, keeps, drops, numbers):
        session = self._session(pieces)
        answers = []
        for values in self.samples:
            results = run(session, [*keeps, *numbers], {name: values[name] for name in feeds})
            values.update(zip(keeps, results))
            answers.append([number(result) for result in results[len(keeps) :]])
            for name in drops:
                values.pop(name, None)
        return {"samples": answers}

    def chunk(self, **chunk):
        chunk["session"] = self._session(chunk.pop("pieces"))
        self.chunks.append(chunk)
        return {}

    def reset(self):
        self.chunks, self.references = [], []
        return {}

    def reference(self, outputs, tie=0.0, against=None):
        self.outputs, self.references, self.tie = [one["name"] for one in outputs], [], tie
        self.measures = {one["name"]: one.get("measure") for one in outputs}
        for sample in self.samples:
            values = dict(sample)
            for chunk in self.chunks:
                values.update(self._switch(chunk, values, np.ones(len(chunk["switched"]), bool)))
            self.references.append(values)
        truths = self._outputs_of(**against) if against else [{} for _ in self.samples]
        self.compared = []
        for truth, exact in zip(truths, self.references):
            values = Overlay(truth, exact)
            self.compared.append({name: Reference(values[name], self.measures[name], values) for name in self.outputs})
        return {"samples": [self._compared(sample, values) for sample, values in enumerate(self.references)]}

    def _compared(self, sample, values, names=None, brief=False):
        """Outputs of a run against the reference; values: or a Refused. brief: no measures that do not count."""
        references = self.compared[sample]
        if isinstance(values, Refused):
            return [{**compare(name, references[name], None), "refused": str(values)} for name in self.outputs]
        return [
            compare(name, references[name], values[name], values, self.tie, brief)
            for name in (self.outputs if names is None else names)
        ]

    def _switch(self, chunk, values, exact):
        feeds = {name: values[name] for name in chunk["feeds"]}
        if chunk["switched"]:
            feeds[chunk["flags"]] = exact
        return zip(chunk["keeps"], run(chunk["session"], chunk["keeps"], feeds))

    def trial(self, exact, limit=None, judged=()):
        """
        exact: one character a node, `1` or `0`. Ends at the first sample of which one of the judged outputs misses the limit.
        """
        chosen = np.frombuffer(exact.encode(), np.uint8) == ord("1")
        answers = []
        for sample, reference in enumerate(self.references):
            values = self._mixed(chosen, reference)
            found = values if isinstance(values, Refused) else Overlay(values, reference)
            answers.append(self._compared(sample, found, brief=limit is not None))
            if limit is not None and any(missed(one, limit, judged) for one in answers[-1]):
                break
        return {"samples": answers}

    def _mixed(self, chosen, reference):
        """
        What a run with these nodes exact makes. A Refused: of a value that low precision changed, an operator can make
        nothing, such as of an index outside its table; the exact run could, so this is a finding about the nodes, not an error.
        """
        values, differs = {}, False
        for chunk in self.chunks:
            flags = chosen[chunk["switched"]]
            # Up to the first node that is not exact, the run is the reference's.
            differs = differs or not flags.all()
            if not differs:
                continue
            try:
                values.update(self._switch(chunk, Overlay(values, reference), flags))
            except Refused as refused:
                if refused.kind != "failed":
                    raise
                return refused
        return values

    def other(self, model, folder):
        """The outputs of another model file, such as a Q/DQ copy, against the reference."""
        found = self._outputs_of(model, folder)
        return {"samples": [self._compared(sample, values, list(values)) for sample, values in enumerate(found)]}

    def timed(self, model, folder):
        return {"rows": time_model(model, folder, self.samples)}

    def _outputs_of(self, model, folder):
        """Those outputs of another model file that are compared, sample by sample."""
        options = self._options(folder)
        try:
            session = ort_job.load(model, options)
        except Exception as error:
            raise refusal(error) from error
        names = {one.name for one in session.get_inputs()}
        missing = names - set(self.samples[0])
        if missing:
            raise Refused("inputs", f"{model} has inputs that {self.path} does not have: {', '.join(sorted(missing))}")
        outputs = [one.name for one in session.get_outputs() if one.name in self.outputs]
        if not outputs:
            raise Refused("inputs", f"{model} has none of the outputs of {self.path}: {', '.join(self.outputs)}")
        return [dict(zip(outputs, run(session, outputs, {name: sample[name] for name in names}))) for sample in self.samples]

    def measured(self, path):
        """What an engine gave, as `run_engine.py` and other tools write it, against the reference of the first sample."""
        try:
            values = tensor_files.read_samples(path)[0]
        except tensor_files.Unfit as error:
            raise Refused("inputs", str(error)) from error
        found = [name for name in self.outputs if name in values and isinstance(values[name], np.ndarray)]
        if not found:
            raise Refused("inputs", f"{path} holds none of the outputs {', '.join(self.outputs)}")
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
        return {"samples": [self._compared(0, arrays, found)]}


def time_model(model, folder, samples):
    """
    How fast ONNX Runtime runs a model as a program would: with its optimizations and threads, on each device that it has.
    A run of each sample first does not count; then at least ten runs, for about a second.
    """
    rows = []
    for provider in ("CUDAExecutionProvider", "CPUExecutionProvider"):
        if provider not in ort.get_available_providers():
            continue
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", folder)
        before = resident()
        try:
            session = ort.InferenceSession(model, options, providers=[provider])
        except Exception as error:
            raise refusal(error) from error
        if session.get_providers()[0] != provider:
            continue
        names = [one.name for one in session.get_inputs()]
        feeds = [{name: sample[name] for name in names} for sample in samples]
        for feed in feeds:
            run(session, None, feed)
        times = []
        begun = time.perf_counter()
        while len(times) < TIMED_RUNS or (time.perf_counter() - begun < TIMED_SECONDS and len(times) < 100 * TIMED_RUNS):
            start = time.perf_counter()
            run(session, None, feeds[len(times) % len(feeds)])
            times.append(1000 * (time.perf_counter() - start))
        after = resident()
        rows.append(
            {
                "device": "GPU" if provider.startswith("CUDA") else "CPU",
                "runtime": f"ONNX Runtime {ort.__version__}",
                "threads": os.cpu_count(),
                "runs": len(times),
                "medianMs": nearest_rank(times, 50),
                "p99Ms": nearest_rank(times, 99),
                "perSecond": 1000 * len(times) / sum(times),
                "memory": None if before is None or after is None else max(0, after - before),
            }
        )
    return rows


def nearest_rank(values, percent):
    ordered = sorted(values)
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def resident():
    """Bytes of this process in memory; None where the system has no /proc."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


class Overlay:
    """Values of this run where it has any, else those of the reference."""

    def __init__(self, values, reference):
        self.values, self.reference = values, reference

    def __getitem__(self, name):
        return self.values[name] if name in self.values else self.reference[name]

    def get(self, name, default=None):
        return self.values.get(name, self.reference.get(name, default))


def run(session, outputs, feeds):
    try:
        return session.run(outputs, feeds)
    except Exception as error:
        raise refusal(error) from error


def missed(output, limit, judged):
    if output["name"] not in judged:
        return False
    # A share of the choices in all samples is known behind the last one.
    if output["finite"] and output.get("share"):
        return False
    return not (output["finite"] and output["error"] <= limit)


def number(value):
    value = float(value)
    return value if np.isfinite(value) else str(value)


def refusal(error):
    text = str(error)
    if isinstance(error, MemoryError) or "bad_alloc" in text or "Failed to allocate memory" in text:
        return Refused("memory", text)
    unknown = ("is not a registered function/op", "NOT_IMPLEMENTED", "Could not find an implementation", "No Op registered")
    return Refused("operator" if any(part in text for part in unknown) else "failed", text)


def converse(_, channel, stop):
    simulation = Simulation()
    does = {
        "open": simulation.open,
        "samples": simulation.read_samples,
        "judge": simulation.judge,
        "chunk": simulation.chunk,
        "reset": simulation.reset,
        "reference": simulation.reference,
        "trial": simulation.trial,
        "other": simulation.other,
        "measured": simulation.measured,
        "timed": simulation.timed,
    }
    ort_job.converse(does, channel, stop)


if __name__ == "__main__":
    job.serve(converse)
