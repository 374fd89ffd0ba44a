#!/usr/bin/env python3
"""List, merge and prune timing caches through TensorRT's Python API.

Needs the module `tensorrt` (8.0 or newer) and a GPU. TensorRT-RTX has no use for timing caches. Writes JSON lines
(`job.py`); the result of the last one:

  {"version", "gpu"}
  "entries": [{"key", "tacticHash", "milliseconds"}] | null   of the result; null: TensorRT cannot list them (10.8 can)
  "removed": how many entries were pruned
  "bytes": of the result
  "messages": [{"severity": "W" | "E" | "F", "message"}]       what TensorRT warned of
"""

import argparse
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import job  # noqa: E402
import trt_binding  # noqa: E402
from job import JobError  # noqa: E402


def arguments(argv):
    parser = argparse.ArgumentParser()
    parser.add_argument("--module", required=True, choices=["tensorrt", "tensorrt_rtx"])
    parser.add_argument("--cache", action="append", required=True, help="several are merged; of entries with one key the first counts")
    parser.add_argument("--ignore-mismatch", action="store_true", help="merge caches of other GPUs")
    parser.add_argument("--keep", help="file with the keys to keep, one on each line")
    parser.add_argument("--output")
    return parser.parse_args(argv)


def open_cache(config, logger, path):
    """TensorRT gives an empty cache in the place of one that it cannot read, and warns."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise JobError("cache", "%s: %s" % (path, error.strerror)) from None
    before = len(logger.messages)
    cache = config.create_timing_cache(content)
    # The last of them says what was wrong; the ones before, such as those of CUDA, what followed from it.
    said = [one["message"] for one in logger.messages[before:] if "timing cache" in one["message"].lower()]
    if cache is None or said:
        raise JobError("cache", "%s: TensorRT cannot read this timing cache: %s" % (path, said[-1] if said else "it gives no reason"))
    return cache


def merge(trt, config, logger, options):
    first, *others = options.cache
    cache = open_cache(config, logger, first)
    for path in others:
        before = len(logger.messages)
        if not cache.combine(open_cache(config, logger, path), options.ignore_mismatch):
            said = [one["message"] for one in logger.messages[before:]]
            why = said[0] if said else "it is of another version or GPU"
            raise JobError("merge", "%s cannot be merged with %s: %s" % (path, first, why))
    return cache


def keys_of(cache):
    """None: TensorRT cannot list them. It raises RuntimeError for a cache whose keys it cannot give."""
    try:
        return cache.queryKeys() if hasattr(cache, "queryKeys") else None
    except RuntimeError:
        return None


def entries_of(cache):
    keys = keys_of(cache)
    if keys is None:
        return None
    found = []
    for key in keys:
        value = cache.query(key)
        time = value.timingMSec
        # Negative numbers and NaN are invalid (API reference of TimingCacheValue).
        is_valid = math.isfinite(time) and time >= 0
        found.append({"key": str(key), "tacticHash": hex(value.tacticHash), "milliseconds": time if is_valid else None})
    return found


def prune(trt, cache, path):
    """Removes all other keys. An entry whose new time is NaN is deleted (API reference of ITimingCache.update)."""
    if not hasattr(cache, "queryKeys"):
        raise JobError("prune", "TensorRT %s cannot list the entries of a timing cache; 10.8 and later can" % trt.__version__)
    with open(path, encoding="ascii") as file:
        keep = {line.strip() for line in file}
    keys = keys_of(cache)
    if keys is None:
        raise JobError("prune", "TensorRT cannot list the entries of this timing cache. Only caches of builds with EDITABLE_TIMING_CACHE can be changed")
    unwanted = [key for key in keys if str(key) not in keep]
    for key in unwanted:
        if not cache.update(key, trt.TimingCacheValue(0, math.nan)):
            raise JobError("prune", "TensorRT did not remove the entry %s. Only caches of builds with EDITABLE_TIMING_CACHE can be changed" % key)
    return len(unwanted)


def write(path, content, stop):
    partial = path + ".partial"
    stop.leftovers.add(partial)
    try:
        with open(partial, "wb") as file:
            file.write(content)
        os.replace(partial, path)
    except OSError as error:
        raise JobError("write", "%s: %s" % (path, error.strerror)) from None


def run(options, channel, stop):
    trt = trt_binding.load(options.module)
    gpu, _, _ = trt_binding.find_gpu()
    if gpu is None:
        raise JobError("gpu", "no NVIDIA driver was found, which TensorRT needs to read a timing cache")
    logger = trt_binding.make_collector(trt)
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    if hasattr(trt.BuilderFlag, "EDITABLE_TIMING_CACHE"):
        config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
    cache = merge(trt, config, logger, options)
    stop.check()
    removed = prune(trt, cache, options.keep) if options.keep else 0
    serialized = cache.serialize()
    if serialized is None:
        raise JobError("write", "TensorRT could not serialize the timing cache: %s" % logger.cause("it gives no reason"))
    content = bytes(serialized)
    if options.output:
        write(options.output, content, stop)
    return {
        "version": trt.__version__, "gpu": gpu, "entries": entries_of(cache), "removed": removed,
        "bytes": len(content), "messages": logger.messages,
    }  # fmt: skip


def main(argv=None):
    channel, stop = job.Channel(), job.Stop(2.0)
    stop.ask_on_signals()
    stop.ask_when_stdin_closes()
    options = arguments(argv)
    job.run(lambda: channel.send("done", result=run(options, channel, stop)), channel, stop)


if __name__ == "__main__":
    main()
