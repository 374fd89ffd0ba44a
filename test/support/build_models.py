"""Build many small models with TensorRT-RTX in one process and write each one's verbose log.

Reads a JSON list of {"model": path, "log": path, "arguments": [...]} on stdin; `arguments` are the driver's own.
Prints one JSON line a job: "passed" or what failed. Every build runs in a fork of this process, so that the library
loads once and a crash ends one build.
"""

import json
import os
import sys

import build_engine


class Log:
    """Takes the driver's events and writes the log as the builder does."""

    closed = False

    def __init__(self, path, arguments):
        self._file = open(path, "w", encoding="utf-8", newline="\n")
        self._arguments = " ".join(arguments)
        self.frame("RUNNING")

    def frame(self, word):
        major, minor, patch, build = (int(part) for part in self.version.split("."))
        number = "%d%02d%02d" % (major, minor, patch)
        name = "TensorRT_RTX.build_engine [TensorRT v%s] [b%d] # %s" % (number, build, self._arguments)
        self.write("&&&& %s %s" % (word, name.replace("\n", " ")))

    def write(self, line):
        self._file.write(line + "\n")
        self._file.flush()

    def send(self, event, **fields):
        if event == "log":
            self.write("[%s] [TRT] %s" % (fields["severity"], fields["message"]))


class Never:
    """Nobody cancels these builds."""

    leftovers = set()

    def asked(self):
        return False

    def check(self):
        pass


def work(job):
    arguments = ["--onnx", job["model"], "--profiling-verbosity=detailed"] + job["arguments"]
    log = Log(job["log"], arguments)
    try:
        build_engine.build(build_engine.arguments(arguments), log, Never())
        log.frame("PASSED")
        return "passed"
    except build_engine.JobError as error:
        log.write("[E] %s" % error)
        log.frame("FAILED")
        return str(error)


def main():
    Log.version = build_engine.load("tensorrt_rtx").__version__
    for job in json.load(sys.stdin):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, work(job).encode("utf-8", "replace")[:4000])
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            result = answer.read().decode("utf-8", "replace")
        os.waitpid(child, 0)
        print(json.dumps(result or "crashed"), flush=True)


main()
