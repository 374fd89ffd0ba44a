#!/usr/bin/env python3
"""List the entries of a timing cache through TensorRT's Python API.

Needs the module `tensorrt` (8.0 or newer) and a GPU. TensorRT-RTX has no use for timing caches. Writes JSON lines
(`job.py`); the result of the last one:

  {"version", "gpu"}
  "entries": [{"key", "tacticHash", "milliseconds"}] | null   null: TensorRT cannot list them (10.8 can)
  "bytes": of the cache as TensorRT writes it
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
    parser.add_argument("--cache", required=True)
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
    cache = open_cache(config, logger, options.cache)
    stop.check()
    serialized = cache.serialize()
    if serialized is None:
        raise JobError("cache", "TensorRT could not serialize the timing cache: %s" % logger.cause("it gives no reason"))
    return {
        "version": trt.__version__, "gpu": gpu, "entries": entries_of(cache),
        "bytes": len(bytes(serialized)), "messages": logger.messages,
    }  # fmt: skip


def main(argv=None):
    channel, stop = job.Channel(), job.Stop(2.0)
    stop.ask_on_signals()
    stop.ask_when_stdin_closes()
    options = arguments(argv)
    job.run(lambda: channel.send("done", result=run(options, channel, stop)), channel, stop)


if __name__ == "__main__":
    main()
