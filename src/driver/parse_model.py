#!/usr/bin/env python3
"""Ask TensorRT's ONNX parser whether it accepts a model, without building. Needs one of the modules `tensorrt`,
`tensorrt_rtx`; TensorRT-RTX needs no GPU.

Prints one line: {"event": "done", "result": {"version", "accepted", "errors"}}; each error as build_engine.py describes
it: code, message, node, nodeName, operator.
"""

import argparse
import os
import sys

# Also works if Python must not search the script's folder (PYTHONSAFEPATH).
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import job  # noqa: E402
import network_options  # noqa: E402
import trt_binding  # noqa: E402


def parse(options):
    trt = trt_binding.load(options.module)
    logger = trt_binding.make_collector(trt)
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    accepted = bool(parser.parse_from_file(options.onnx)) and network.num_outputs > 0
    errors = [network_options.describe_error(parser.get_error(index)) for index in range(parser.num_errors)]
    return {"version": trt.__version__, "accepted": accepted, "errors": [] if accepted else errors}


def main(argv=None):
    channel, stop = job.Channel(), job.Stop(2.0)
    stop.ask_on_signals()
    stop.ask_when_stdin_closes()
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--module", required=True)
    arguments.add_argument("--onnx", required=True)
    options = arguments.parse_args(argv)
    job.run(lambda: channel.send("done", result=parse(options)), channel, stop)


if __name__ == "__main__":
    main()
