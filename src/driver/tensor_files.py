"""Tensors from the files that people and tools write, and inputs for a model where there are none. Needs NumPy."""

import base64
import io
import json
import os
import re
import zipfile
import zlib

import numpy as np

from image_files import read_images

DTYPES = {
    "float": np.float32, "double": np.float64, "float16": np.float16, "int8": np.int8, "uint8": np.uint8,
    "int16": np.int16, "uint16": np.uint16, "int32": np.int32, "uint32": np.uint32, "int64": np.int64,
    "uint64": np.uint64, "bool": np.bool_,
}  # fmt: skip

# As TensorRT's tools spell them.
RAW_TYPES = {
    "fp32": "float", "float32": "float", "fp16": "float16", "half": "float16", "fp64": "double", "boolean": "bool",
}  # fmt: skip


# What NumPy, zipfile and json raise for damaged files; RuntimeError: encrypted, MemoryError: sizes
# that nothing has.
DAMAGES = (OSError, ValueError, KeyError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)


class Unfit(Exception):
    """A file cannot be used; the message says which, why, and what to do."""


def read_samples(path):
    """The runs that a file or folder holds: a list of {name: array}. The name of a lone .npy is ''."""
    if os.path.isdir(path):
        return read_folder(path)
    lower = path.lower()
    try:
        if lower.endswith(".npz"):
            with np.load(path, allow_pickle=False) as file:
                return [dict(file)]
        if lower.endswith(".npy"):
            return [{"": np.load(path, allow_pickle=False)}]
        if lower.endswith(".raw"):
            return [dict([read_raw(path)])]
        if lower.endswith(".json"):
            return read_json(path)
    except DAMAGES as error:
        if isinstance(error, FileNotFoundError):
            raise Unfit(f"{path}: no such file or folder") from None
        raise Unfit(f"{path}: cannot be read: {error}") from None
    raise Unfit(f"{path}: unknown kind of file. Use .npz, .npy, .json (Polygraphy, trtexec), .raw or a folder of them")


def read_folder(path):
    """Files of several tensors are a run each; those of one tensor (.npy, .raw) are one run together."""
    names = sorted(name for name in os.listdir(path) if not name.startswith("."))
    summary = [name for name in names if name == "tensor_summary.json"]
    runs, together = [], {}
    for name in summary or names:
        whole = os.path.join(path, name)
        if name.lower().endswith(".npy"):
            together[name[:-4]] = read_samples(whole)[0][""]
        elif name.lower().endswith(".raw"):
            together.update(read_samples(whole)[0])
        elif name.lower().endswith((".npz", ".json")) or os.path.isdir(whole):
            runs += read_samples(whole)
    if together:
        runs.append(together)
    if not runs:
        raise Unfit(f"{path}: holds no .npz, .npy, .json or .raw file")
    return runs


def read_raw(path):
    """(name, array) of trtexec's `NAME.output.1x3x4.float.raw`"""
    found = re.fullmatch(r"(.+)\.(?:input|output)\.([0-9x]*)\.(\w+)\.raw", os.path.basename(path), re.IGNORECASE)
    if not found:
        raise Unfit(f"{path}: is not called NAME.output.DIMENSIONS.TYPE.raw as trtexec --dumpRawBindingsToFile does")
    name, dims, kind = found.groups()
    dtype = DTYPES.get(RAW_TYPES.get(kind.lower(), kind.lower()))
    if dtype is None:
        raise Unfit(f"{path}: type {kind} cannot be read")
    values = np.fromfile(path, dtype)
    shape = [int(dim) for dim in dims.split("x") if dim]
    if values.size != int(np.prod(shape)):
        raise Unfit(f"{path}: holds {values.size} values, its name says {dims}")
    return name, values.reshape(shape)


def read_json(path):
    content = load_json(path)
    if isinstance(content, dict) and content.get("polygraphy_class") == "AccuracyResults":
        raise Unfit(f"{path}: holds errors that Polygraphy computed, no tensors. Pass a file of --save-outputs")
    if isinstance(content, dict) and content.get("polygraphy_class") == "RunResults":
        return [run for _, runs in runners(content) for run in runs]
    if isinstance(content, dict) and content.get("polygraphy_class") == "IterationResult":
        return [iteration(content)]
    if isinstance(content, dict) and "images" in content:
        return read_images(path, content, Unfit)
    if isinstance(content, dict) and "tensors" in content:
        return [summary(os.path.dirname(path), content)]
    if isinstance(content, list) and all(isinstance(one, dict) and "values" in one and "name" in one for one in content):
        return [dict(exported(one) for one in content)]
    if isinstance(content, list) and all(isinstance(one, dict) for one in content):
        return [{name: array_of(value) for name, value in one.items()} for one in content]
    raise Unfit(f"{path}: is neither Polygraphy's nor trtexec's JSON of tensors, nor a declaration of images")


def strict_json(text):
    """trtexec writes bare nan and inf."""

    def replaced(match):
        word = match.group(0)
        if word.startswith('"'):
            return word
        sign = "-" if word.startswith("-") else ""
        return "NaN" if "nan" in word.lower() else f"{sign}Infinity"

    return re.sub(r'"(?:\\.|[^"\\])*"|-?\b(?:nan(?:\([^)\s]*\))?|inf(?:inity)?)\b', replaced, text, flags=re.IGNORECASE)


def runner_names(path):
    """Names of the runners in Polygraphy's results; empty for all other files."""
    if not path.lower().endswith(".json") or not os.path.isfile(path):
        return []
    content = load_json(path)
    is_results = isinstance(content, dict) and content.get("polygraphy_class") == "RunResults"
    return [name for name, _ in runners(content)] if is_results else []


def load_json(path):
    with open(path, encoding="utf-8") as file:
        try:
            return json.loads(strict_json(file.read()))
        except RecursionError:
            raise ValueError("lists or objects are nested too deeply") from None


def runners(content):
    return [(name, [iteration(one) for one in runs]) for name, runs in content["lst"]]


def iteration(content):
    return {name: array_of(value) for name, value in content["outputs"].items()}


def array_of(value):
    """Polygraphy's arrays: the base64 of a .npy, perhaps inside of others."""
    while isinstance(value, dict) and "values" in value:
        value = value["values"]
    if isinstance(value, dict) and isinstance(value.get("array"), str):
        return np.load(io.BytesIO(base64.b64decode(value["array"])), allow_pickle=False)
    if isinstance(value, list):
        return np.asarray(value)
    raise ValueError("a tensor is not stored as Polygraphy stores it")


def exported(one):
    dims = [int(dim) for dim in str(one["dimensions"]).split("x") if dim]
    return one["name"], np.asarray(one["values"], np.float64).reshape(dims)


class Range:
    """What is known of a tensor whose elements were not stored: trtexec's statistics."""

    def __init__(self, shape, kind, statistics):
        self.shape, self.kind = tuple(shape), kind
        self.min, self.max = (float(statistics.get(key, "nan")) for key in ("min", "max"))


def summary(folder, content):
    """trtexec --saveAllDebugTensors: the .npy where it was written, else minimum and maximum"""
    found = {}
    for one in content["tensors"]:
        name = os.path.basename(str(one.get("files", {}).get("numpy") or ""))
        path = os.path.join(folder, name)
        if name and os.path.isfile(path):
            found[one["name"]] = np.load(path, allow_pickle=False)
        else:
            dims = one.get("shape", [])
            shape = [int(dim) for dim in (re.findall(r"\d+", dims) if isinstance(dims, str) else dims)]
            found[one["name"]] = Range(shape, str(one.get("type", "")), one.get("statistics", {}))
    return found


def write_npz(path, arrays, leftovers):
    """
    Writes {name: array} whole or not at all. Unlike numpy.savez it takes any name, `file` too. `leftovers`: the job's set
    of files that are removed when it is killed.
    """
    partial = path + ".partial"
    leftovers.add(partial)
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for name, array in arrays.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)
    os.replace(partial, path)
    leftovers.discard(partial)


def model_samples(files, inputs, seed):
    """
    (samples, sources): for each sample the model's inputs by name. `inputs`: [{name, type, shape, random}], where `shape`
    may have open dimensions (not numbers) and `random` says what to make where there are no files: {shape, values}, with
    values `normal`, `ones`, `zeros`, `count` or [low, high] for integers from low up to and without high.
    """
    given = []
    for path in files:
        name, found, rest = path.partition(":")
        raw = [one for one in inputs if found and one["name"] == name and not os.path.exists(path)]
        given += [{name: raw_input(rest, raw[0])}] if raw else read_samples(path)
    # Raw files are one tensor each: they are one sample together.
    if len(files) > 1 and all(len(one) < len(inputs) for one in given):
        given = [{key: value for one in given for key, value in one.items()}]
    generator = np.random.default_rng(seed)
    if not given:
        sample = {one["name"]: made(one, generator) for one in inputs}
        return [sample], [source(one, sample, "random") for one in inputs]
    samples = [{one["name"]: fitted(one, sample, inputs) for one in inputs} for sample in given]
    return samples, [source(one, samples[0], "file") for one in inputs]


def source(declared, sample, kind):
    name = declared["name"]
    values = declared["random"]["values"] if kind == "random" else None
    return {"name": name, "source": kind, "shape": list(sample[name].shape), **({"values": values} if values else {})}


def raw_input(path, declared):
    shape = declared["random"]["shape"]
    try:
        values = np.fromfile(path, dtype_of(declared))
    except OSError as error:
        raise Unfit(f"{path}: {error.strerror}") from None
    if values.size != int(np.prod(shape)):
        raise Unfit(f"{path}: holds {values.size} values, input '{declared['name']}' has shape {text(shape)}")
    return values.reshape(shape)


def dtype_of(declared):
    dtype = DTYPES.get(declared["type"])
    if dtype is None:
        raise Unfit(f"input '{declared['name']}' has type {declared['type']}, for which no values can be given")
    return dtype


def fitted(declared, sample, inputs):
    name, shape = declared["name"], declared["shape"]
    value = sample.get(name, sample.get("") if len(inputs) == 1 else None)
    if value is None:
        names = ", ".join(one or "a tensor without a name" for one in list(sample)[:8])
        raise Unfit(f"input '{name}' is missing in the given files, which hold {names or 'no tensor'}")
    if isinstance(value, Range):
        raise Unfit(f"input '{name}' is given by its minimum and maximum only")
    fits = shape is None or (
        len(shape) == value.ndim and all(not isinstance(d, int) or d == n for d, n in zip(shape, value.shape))
    )
    if not fits:
        raise Unfit(f"input '{name}' has shape {text(value.shape)} in the given files, but {text(shape)} in the model")
    if value.dtype.kind not in "fiub":
        raise Unfit(f"input '{name}' has values of type {value.dtype} in the given files")
    return np.ascontiguousarray(value.astype(dtype_of(declared), copy=False))


def text(shape):
    return "x".join("?" if dim is None else str(dim) for dim in shape) or "()"


def made(declared, generator):
    shape, values = declared["random"]["shape"], declared["random"]["values"]
    dtype = dtype_of(declared)
    if values == "normal":
        return generator.standard_normal(shape).astype(dtype)
    if values in ("ones", "zeros"):
        return np.full(shape, values == "ones").astype(dtype)
    if values == "count":
        return np.broadcast_to(np.arange(shape[-1] if shape else 1), shape).astype(dtype) if shape else np.zeros((), dtype)
    return generator.integers(*values, shape).astype(dtype)
