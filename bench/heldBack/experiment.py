#!/usr/bin/env python3
"""
Builds every network of `networks.py` and records what TensorRT made of it: one JSON line a network, gzip-compressed.

  experiment.py --driver DIR --module tensorrt      --out FILE.jsonl.gz [--seconds 450] [--workers 2]   on a machine with a GPU
  experiment.py --driver DIR --module tensorrt_rtx  --out FILE.jsonl.gz [--seconds 450]                 without one

DIR: the folder of `engine_worker.py`. A line: {"id", "case", "version", "gpu", "capability", "seconds", "error", "ms",
"layers": the inspector's JSON or null, "log": [lines on patterns and fusions; of TensorRT-RTX the list of layers, too]}.
Needs NumPy and the Python module; no network.
"""

import argparse
import gzip
import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
import time

import networks

SAYS = re.compile(r"pattern|Self-Attention|Myelin|ForeignNode|: \d+ layers|Fusing|fusing|mha|MHA|attention", re.I)
TOO_LONG = 25  # seconds a build: the trimmed library searches for missing kernels


def order(case):
    """What matters most comes first, in case the time runs out."""
    held = case["id"].startswith("held")
    single = case["id"].count("=") <= 1
    return (["attention", "normalization", "activation", "convolution"].index(case["family"]), not single, not held)


def kept(lines):
    found = [line.rstrip("\n") for line in lines if SAYS.search(line) and "Tactic" not in line and "Timing Runner" not in line]
    return [line if "Layers:" in line else line[:600] for line in found][:80]


class Worker:
    """The process that builds; a new one after a build that takes too long or breaks it."""

    def __init__(self, driver, module):
        self.driver, self.module, self.process, self.first = driver, module, None, True

    def start(self):
        script = os.path.join(self.driver, "engine_worker.py")
        self.process = subprocess.Popen([sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, args=(self.process, self.lines), daemon=True).start()
        self.first = True  # it loads kernels
        self.write({"module": self.module, "plugins": []})
        self.about = self.receive(120)

    @staticmethod
    def read(process, lines):
        for line in process.stdout:
            lines.put(json.loads(line))
        lines.put(None)

    def write(self, request):
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self, seconds):
        try:
            event = self.lines.get(timeout=seconds)
        except queue.Empty:
            event = {"event": "error", "message": "took longer than %d seconds" % seconds}
        if event is None or event["event"] in ("error", "done"):
            self.stop()
            return event or {"event": "error", "message": "the worker ended"}
        return event

    def ask(self, **request):
        if self.process is None:
            self.start()
            if self.process is None:
                return self.about
        try:
            self.write(request)
        except OSError:
            self.stop()
            return {"event": "error", "message": "the worker ended"}
        seconds, self.first = TOO_LONG + 35 * self.first, False
        return self.receive(seconds)

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


def with_worker(worker, case, folder):
    model, log, layers = (os.path.join(folder, name) for name in ("m.onnx", "log.txt", "layers.json"))
    networks.build(case).save(model)
    for path in (log, layers):
        if os.path.exists(path):
            os.unlink(path)
    args = ["--onnx", model, "--module", worker.module, *networks.builder_options(case)]
    answer = worker.ask(do="build", engine="e", args=args, log=log, layers=layers)
    record = {"error": answer.get("message")}
    if answer["event"] == "answer":
        record["seconds"] = answer["result"]["seconds"]
        ran = worker.ask(do="run", engine="e", inputs=[], outputs=os.path.join(folder, "o.npz"), time=True)
        record["ms"] = ran["result"]["milliseconds"] if ran["event"] == "answer" else None
        worker.ask(do="free", engine="e")
        with open(layers, encoding="utf-8", errors="replace") as file:
            record["layers"] = json.load(file, strict=False)
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace", newline="\n") as file:
            record["log"] = kept(file)
    return {**{name: worker.about.get(name) for name in ("version", "gpu", "computeCapability")}, **record}


class Recorder:
    closed = False

    def __init__(self):
        self.log, self.found = [], {}

    def send(self, event, **fields):
        if event == "log":
            self.log.append("[%s] [TRT] %s" % (fields["severity"], fields["message"]))
        else:
            self.found[event] = fields


def without_gpu(module, case, folder):
    import build_engine
    import job

    model = os.path.join(folder, "m.onnx")
    networks.build(case).save(model)
    options = [word for word in networks.builder_options(case) if word not in ("--strongly-typed", "--no-tf32")]
    recorder = Recorder()
    record = {"error": None, "seconds": None}
    try:
        build_engine.build(build_engine.arguments(["--onnx", model, "--module", module, *options]), recorder, job.Stop(1))
        record["seconds"] = recorder.found["done"]["seconds"]
    except job.JobError as error:
        record["error"] = str(error)
    # The list of the layers is one message of several lines.
    record["log"] = kept(text for text in recorder.log if "Layers:" not in text[:200]) + [t for t in recorder.log if "Layers:" in t[:200]]
    return {"version": recorder.found["start"]["version"], "gpu": None, "computeCapability": "8.9", **record}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--module", default="tensorrt")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=450)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", default="", help="a regular expression for ids")
    options = parser.parse_args()
    sys.path.insert(0, options.driver)
    end = time.monotonic() + options.seconds
    rtx = options.module == "tensorrt_rtx"
    wanted = sorted((case for case in networks.cases() if re.search(options.only, case["id"])), key=order)
    if rtx:  # takes all types from the model
        wanted = [case for case in wanted if not case["type"].endswith("-flag") and case["type"] != "tf32"]
    left = queue.Queue()
    for case in wanted:
        left.put(case)
    lock, count = threading.Lock(), [0, 0]
    with gzip.open(options.out, "wt", encoding="utf-8") as out:

        def work():
            worker = None if rtx else Worker(options.driver, options.module)
            with tempfile.TemporaryDirectory() as folder:
                while time.monotonic() < end:
                    try:
                        case = left.get_nowait()
                    except queue.Empty:
                        break
                    try:
                        record = without_gpu(options.module, case, folder) if rtx else with_worker(worker, case, folder)
                    except Exception as error:  # a case must not end the others
                        record = {"error": "%s: %s" % (type(error).__name__, error)}
                    with lock:
                        count[0] += 1
                        count[1] += record.get("error") is not None
                        out.write(json.dumps({"id": case["id"], "case": case, **record}) + "\n")
                        out.flush()
                        if count[0] % 25 == 0 or record.get("error"):
                            print(count[0], case["id"], record.get("seconds"), (record.get("error") or "")[:160], flush=True)
            if worker is not None:
                worker.stop()

        threads = [threading.Thread(target=work) for _ in range(options.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print("%d of %d built, %d of them failed" % (count[0], len(wanted), count[1]), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
