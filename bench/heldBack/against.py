#!/usr/bin/env python3
"""
Times four models "against what": TensorRT FP32, FP16 and with every tensor an output (unfused), ONNX Runtime, PyTorch.

  against.py --driver DIR --out FILE.jsonl [--seconds 240]

Each line is one row: {"model", "runs", "device", "p50", "p90", "p99", "kernels", "memory", "busy", "error", ...}, times in
milliseconds, memory in bytes. A row that could not be measured has "failed". Conditions: at least 200 ms of warm-up, then
runs for a second and at least 50, batch 1, one stream, inputs and outputs in the GPU's memory (`copies`: with transfers).
Needs NumPy, and what it times: `tensorrt`, `onnxruntime`, `torch`. Each in a process of its own.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from tiny_onnx import BOOL, FLOAT, Model

SHORT = {"warm": 0.2, "run": 1.0, "least": 50, "most": 5000}


class Net:
    def __init__(self):
        self.m = Model(17, seed=1)

    def c(self, value):
        return self.m.constant(np.array(value, np.float32))

    def ints(self, *values):
        return self.m.constant(np.array(values, np.int64))

    def dense(self, x, rows, columns, name, bias=True):
        w = self.m.constant((self.m.random.standard_normal((rows, columns)) / math.sqrt(rows)).astype(np.float32))
        y = self.m.node("MatMul", [x, w], name=name + "/MatMul")
        return self.m.node("Add", [y, self.m.weight(columns)], name=name + "/Add") if bias else y

    def norm(self, x, size, name):
        m = self.m
        mean = m.node("ReduceMean", [x], axes=[-1], keepdims=1, name=name + "/ReduceMean")
        d = m.node("Sub", [x, mean], name=name + "/Sub")
        v = m.node("ReduceMean", [m.node("Pow", [d, self.c(2.0)], name=name + "/Pow")], axes=[-1], keepdims=1, name=name + "/ReduceMean_1")
        y = m.node("Div", [d, m.node("Sqrt", [m.node("Add", [v, self.c(1e-5)], name=name + "/Add")], name=name + "/Sqrt")], name=name + "/Div")
        one = m.constant(np.ones(size, np.float32))
        return m.node("Add", [m.node("Mul", [y, one], name=name + "/Mul"), m.weight(size)], name=name + "/Add_1")

    def rms(self, x, size, name):
        m = self.m
        v = m.node("ReduceMean", [m.node("Pow", [x, self.c(2.0)], name=name + "/Pow")], axes=[-1], keepdims=1, name=name + "/ReduceMean")
        y = m.node("Div", [x, m.node("Sqrt", [m.node("Add", [v, self.c(1e-5)], name=name + "/Add")], name=name + "/Sqrt")], name=name + "/Div")
        return m.node("Mul", [y, m.constant(np.ones(size, np.float32))], name=name + "/Mul")

    def attention(self, x, s, h, d, name, causal=False, rotary=False):
        m, width = self.m, h * d

        def heads(part):
            y = m.node("Reshape", [self.dense(x, width, width, f"{name}/{part}"), self.ints(1, s, h, d)], name=f"{name}/{part}/Reshape")
            return m.node("Transpose", [y], perm=[0, 2, 1, 3], name=f"{name}/{part}/Transpose")

        q, k, v = (heads(part) for part in "qkv")
        if rotary:
            angle = np.outer(np.arange(s), 1 / 10000 ** (np.arange(d) // 2 * 2 / d))
            cos, sin = (m.constant(f(angle).astype(np.float32).reshape(1, 1, s, d)) for f in (np.cos, np.sin))

            def turned(y, part):
                low = m.node("Slice", [y, self.ints(0), self.ints(d // 2), self.ints(3)], name=f"{name}/{part}/Slice")
                high = m.node("Slice", [y, self.ints(d // 2), self.ints(d), self.ints(3)], name=f"{name}/{part}/Slice_1")
                other = m.node("Concat", [m.node("Neg", [high], name=f"{name}/{part}/Neg"), low], axis=3, name=f"{name}/{part}/Concat")
                return m.node("Add", [m.node("Mul", [y, cos], name=f"{name}/{part}/Mul"), m.node("Mul", [other, sin], name=f"{name}/{part}/Mul_1")], name=f"{name}/{part}/Add")

            q, k = turned(q, "rq"), turned(k, "rk")
        k = m.node("Transpose", [k], perm=[0, 1, 3, 2], name=f"{name}/kT")
        scores = m.node("Mul", [m.node("MatMul", [q, k], name=f"{name}/qk/MatMul"), self.c(1 / math.sqrt(d))], name=f"{name}/scale")
        if causal:
            mask = np.triu(np.full((s, s), -1e4, np.float32), 1).reshape(1, 1, s, s)
            scores = m.node("Add", [scores, m.constant(mask)], name=f"{name}/mask")
        out = m.node("MatMul", [m.node("Softmax", [scores], axis=-1, name=f"{name}/Softmax"), v], name=f"{name}/pv/MatMul")
        out = m.node("Reshape", [m.node("Transpose", [out], perm=[0, 2, 1, 3], name=f"{name}/merge"), self.ints(1, s, width)], name=f"{name}/merge/Reshape")
        return self.dense(out, width, width, f"{name}/out")

    def gelu(self, x, name):
        m = self.m
        e = m.node("Erf", [m.node("Div", [x, self.c(math.sqrt(2))], name=name + "/Div")], name=name + "/Erf")
        return m.node("Mul", [m.node("Mul", [x, m.node("Add", [e, self.c(1.0)], name=name + "/Add")], name=name + "/Mul"), self.c(0.5)], name=name + "/Mul_1")


def encoder():
    net, s, width = Net(), 256, 512
    x = net.m.input("x", FLOAT, [1, s, width])
    for layer in range(4):
        at = f"/layers.{layer}"
        x = net.norm(net.m.node("Add", [x, net.attention(x, s, 8, 64, at + "/attn")], name=at + "/Add"), width, at + "/norm1")
        y = net.dense(net.gelu(net.dense(x, width, 4 * width, at + "/up"), at + "/gelu"), 4 * width, width, at + "/down")
        x = net.norm(net.m.node("Add", [x, y], name=at + "/Add_1"), width, at + "/norm2")
    net.m.output(x, FLOAT, 3)
    return net.m


def vision():
    net, s, width = Net(), 196, 384
    image = net.m.input("x", FLOAT, [1, 3, 224, 224])
    x = net.m.node("Conv", [image, net.m.weight(width, 3, 16, 16), net.m.weight(width)], strides=[16, 16], kernel_shape=[16, 16], name="/patch/Conv")
    x = net.m.node("Reshape", [x, net.ints(1, width, s)], name="/patch/Reshape")
    x = net.m.node("Add", [net.m.node("Transpose", [x], perm=[0, 2, 1], name="/patch/Transpose"), net.m.weight(1, s, width)], name="/position/Add")
    for layer in range(4):
        at = f"/blocks.{layer}"
        x = net.m.node("Add", [x, net.attention(net.norm(x, width, at + "/norm1"), s, 6, 64, at + "/attn")], name=at + "/Add")
        y = net.dense(net.gelu(net.dense(net.norm(x, width, at + "/norm2"), width, 4 * width, at + "/up"), at + "/gelu"), 4 * width, width, at + "/down")
        x = net.m.node("Add", [x, y], name=at + "/Add_1")
    net.m.output(net.dense(net.norm(x, width, "/norm"), width, 1000, "/head"), FLOAT, 3)
    return net.m


def decoder():
    net, s, width = Net(), 256, 512
    x = net.m.input("x", FLOAT, [1, s, width])
    for layer in range(4):
        at = f"/layers.{layer}"
        x = net.m.node("Add", [x, net.attention(net.rms(x, width, at + "/norm1"), s, 8, 64, at + "/attn", True, True)], name=at + "/Add")
        y = net.rms(x, width, at + "/norm2")
        gate = net.dense(y, width, 1408, at + "/gate", False)
        gate = net.m.node("Mul", [gate, net.m.node("Sigmoid", [gate], name=at + "/silu/Sigmoid")], name=at + "/silu/Mul")
        y = net.dense(net.m.node("Mul", [gate, net.dense(y, width, 1408, at + "/up", False)], name=at + "/Mul"), 1408, width, at + "/down", False)
        x = net.m.node("Add", [x, y], name=at + "/Add_1")
    net.m.output(net.rms(x, width, "/norm"), FLOAT, 3)
    return net.m


def residual():
    net = Net()
    m = net.m

    def conv(x, inputs, outputs, size, stride, name):
        w = m.constant((m.random.standard_normal((outputs, inputs, size, size)) / math.sqrt(inputs * size * size)).astype(np.float32))
        return m.node("Conv", [x, w, m.weight(outputs)], pads=[size // 2] * 4, strides=[stride] * 2, kernel_shape=[size] * 2, name=name + "/Conv")

    x = m.node("Relu", [conv(m.input("x", FLOAT, [1, 3, 224, 224]), 3, 64, 7, 4, "/stem")], name="/stem/Relu")
    before = 64
    for stage, channels in enumerate([64, 128, 256, 512]):
        for block in range(2):
            at, stride = f"/stage{stage}.{block}", 2 if stage and not block else 1
            y = m.node("Relu", [conv(x, before, channels, 3, stride, at + "/conv1")], name=at + "/Relu")
            y = conv(y, channels, channels, 3, 1, at + "/conv2")
            short = x if before == channels else conv(x, before, channels, 1, stride, at + "/short")
            x, before = m.node("Relu", [m.node("Add", [y, short], name=at + "/Add")], name=at + "/Relu_1"), channels
    m.output(m.node("GlobalAveragePool", [x], name="/pool"), FLOAT, 4)
    return m


MODELS = {"encoder": encoder, "vision": vision, "decoder": decoder, "residual": residual}


def inputs_of(model):
    random = np.random.default_rng(7)
    return {name: random.standard_normal(shape).astype(np.float32) for name, kind, shape in model.ends if kind != BOOL}


def timed(once, wait):
    """Sorted milliseconds of single runs, each waited for."""
    end = time.perf_counter() + SHORT["warm"]
    while time.perf_counter() < end:
        once()
    wait()
    found, end = [], time.perf_counter() + SHORT["run"]
    while (time.perf_counter() < end or len(found) < SHORT["least"]) and len(found) < SHORT["most"]:
        start = time.perf_counter()
        once()
        wait()
        found.append((time.perf_counter() - start) * 1000)
    return sorted(found)


def percentiles(found):
    rank = lambda share: round(found[max(0, math.ceil(share * len(found)) - 1)], 5)  # noqa: E731
    return {"p50": rank(0.5), "p90": rank(0.9), "p99": rank(0.99), "samples": len(found)}


def state():
    """Clocks and power of the GPU now."""
    try:
        query = "clocks.sm,clocks.mem,temperature.gpu,power.draw,utilization.gpu,clocks_throttle_reasons.active"
        text = subprocess.run(["nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader"], capture_output=True, text=True, timeout=10).stdout
        return text.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.SubprocessError):
        return None


def error_of(got, expected):
    return {"error": float(max(np.max(np.abs(g.astype(np.float64) - e)) / (np.max(np.abs(e)) or 1) for g, e in zip(got, expected)))}


def tensorrt_rows(driver, folder, say, end):
    sys.path.insert(0, driver)
    import ctypes

    import tensorrt as trt

    import build_engine
    import engine_worker
    import job
    import network_options
    from cuda_memory import Cuda
    from run_engine import Engine

    cuda = Cuda()
    worker = engine_worker.Worker(trt, cuda, job.Stop(1))

    class Times(trt.IProfiler):
        def __init__(self):
            trt.IProfiler.__init__(self)
            self.total = {}

        def report_layer_time(self, name, ms):
            self.total[name] = self.total.get(name, 0) + ms

    for round_, variants in enumerate([[("FP16", ["--fp16"]), ("FP32", []), ("unfused", ["--all-outputs"])], [("FP32 without TF32", ["--no-tf32"]), ("unfused FP16", ["--fp16", "--all-outputs"])]]):
        for name in MODELS:
            model = MODELS[name]()
            sample = inputs_of(model)
            expected = np.load(os.path.join(folder, name + ".expected.npy")) if os.path.exists(os.path.join(folder, name + ".expected.npy")) else None
            for label, options in variants:
                row = {"model": name, "runs": "TensorRT " + label, "device": cuda.gpu, "version": trt.__version__}
                if time.time() > end:
                    say({**row, "failed": "no time left"})
                    continue
                try:
                    log = os.path.join(folder, "log.txt")
                    before = cuda.memory()[0]
                    worker.logger.begin(log)
                    started = time.perf_counter()
                    plan, text = worker.plan_of(build_engine.arguments(["--onnx", os.path.join(folder, name + ".onnx"), "--module", "tensorrt", *options]))
                    row["buildSeconds"] = round(time.perf_counter() - started, 2)
                    row["engineBytes"] = plan.nbytes
                    engine = Engine(trt, worker.logger, plan, name, cuda)
                    worker.logger.end()
                    row["memory"] = before - cuda.memory()[0]
                    row["layers"] = json.loads(text, strict=False).get("Layers") if text else None
                    row["kernels"] = len(row["layers"]) if row["layers"] else None
                    made, _ = engine.run(sample, False)
                    first = [n for n in made if n == model_output(model)] or list(made)[-1:]
                    if expected is not None:
                        row.update(error_of([made[first[0]]], [expected]))
                    found = {}
                    held, outputs = [], {}
                    engine.choose_profile(sample)
                    for key, value in sample.items():
                        held.append((value, cuda.allocate(value.nbytes)))
                        cuda.copy_in(held[-1][1], value)
                        engine.context.set_tensor_address(key, held[-1][1])
                    ends = [n for n in engine.names if not engine.is_input(n)]
                    for key in ends:
                        engine.prepare(key, held, outputs)
                    once = lambda: engine.context.execute_async_v3(cuda.stream)  # noqa: E731
                    row["before"] = state()
                    found = timed(once, cuda.wait)
                    row["after"] = state()
                    row.update(percentiles(found))

                    def copied():
                        for (value, address), _ in zip(held, sample):
                            cuda.copy_in(address, value)
                        once()
                        data, address = outputs[first[0]]
                        cuda.copy_out(data, address)

                    row["copies"] = percentiles(timed(copied, cuda.wait))
                    # Back to back: what a pass takes when the host does not wait for each.
                    a, b = cuda.event(), cuda.event()
                    cuda.record(a)
                    for _ in range(100):
                        once()
                    cuda.record(b)
                    row["backToBack"] = round(cuda.milliseconds(a, b) / 100, 5)
                    row["graph"] = graph_time(cuda, once, ctypes)
                    profiler = Times()
                    engine.context.profiler = profiler
                    engine.context.enqueue_emits_profile = True
                    for _ in range(20):
                        once()
                        cuda.wait()
                    row["profile"] = [[n, round(t / 20, 5)] for n, t in profiler.total.items()]
                    row["layerMs"] = round(sum(profiler.total.values()) / 20, 5)
                    for _, address in held:
                        if address is not None:
                            cuda.free(address)
                except Exception as error:
                    row["failed"] = "%s: %s" % (type(error).__name__, str(error)[:300])
                worker.logger.end()
                engine = None
                worker.free("")
                say(row)
    del network_options


def graph_time(cuda, once, ctypes):
    """A pass as a CUDA graph, in milliseconds; None where it cannot be captured."""
    try:
        lib, stream = cuda._library, ctypes.c_void_p(cuda.stream)
        if lib.cuStreamBeginCapture_v2(stream, 2):
            return None
        once()
        graph, ready = ctypes.c_void_p(), ctypes.c_void_p()
        if lib.cuStreamEndCapture(stream, ctypes.byref(graph)) or lib.cuGraphInstantiateWithFlags(ctypes.byref(ready), graph, ctypes.c_uint64(0)):
            return None
        return percentiles(timed(lambda: lib.cuGraphLaunch(ready, stream), cuda.wait))
    except Exception as error:
        return str(error)[:100]


def model_output(model):
    return model.steps[-1][3][0]


def onnxruntime_rows(driver, folder, say, end):
    import onnxruntime as ort

    providers = [p for p in ("CPUExecutionProvider", "CUDAExecutionProvider") if p in ort.get_available_providers()]
    for name in MODELS:
        model = MODELS[name]()
        sample = inputs_of(model)
        for provider in providers:
            row = {"model": name, "runs": "ONNX Runtime FP32", "device": provider, "version": ort.__version__, "threads": os.cpu_count()}
            try:
                session = ort.InferenceSession(os.path.join(folder, name + ".onnx"), providers=[provider])
                if session.get_providers()[0] != provider:
                    raise RuntimeError("the provider did not load")
                made = session.run(None, sample)
                if provider.startswith("CPU"):
                    np.save(os.path.join(folder, name + ".expected.npy"), made[0])
                row.update(percentiles(timed(lambda: session.run(None, sample), lambda: None)))
                row.update(error_of(made, [np.load(os.path.join(folder, name + ".expected.npy"))]))
            except Exception as error:
                row["failed"] = "%s: %s" % (type(error).__name__, str(error)[:300])
            say(row)


def torch_run(torch, model, values, feed):
    """The model's nodes, each as the operation of PyTorch that exporters write it for."""
    f = torch.nn.functional
    values = {**values, **feed}
    for op, _, inputs, outputs, a in model.steps:
        x = [values[name] for name in inputs]
        if op == "MatMul":
            y = x[0] @ x[1]
        elif op == "Add":
            y = x[0] + x[1]
        elif op == "Sub":
            y = x[0] - x[1]
        elif op == "Mul":
            y = x[0] * x[1]
        elif op == "Div":
            y = x[0] / x[1]
        elif op == "Pow":
            y = x[0].pow(2)
        elif op == "Sqrt":
            y = x[0].sqrt()
        elif op == "Neg":
            y = -x[0]
        elif op == "Erf":
            y = x[0].erf()
        elif op == "Sigmoid":
            y = x[0].sigmoid()
        elif op == "Relu":
            y = x[0].relu()
        elif op == "ReduceMean":
            y = x[0].mean(a["axes"], keepdim=True)
        elif op == "Softmax":
            y = x[0].softmax(a["axis"])
        elif op == "Reshape":
            y = x[0].reshape(x[1])
        elif op == "Transpose":
            y = x[0].permute(a["perm"])
        elif op == "Slice":
            y = x[0][..., x[1][0] : x[2][0]]
        elif op == "Concat":
            y = torch.cat(x, a["axis"])
        elif op == "Conv":
            y = f.conv2d(x[0], x[1], x[2], stride=a.get("strides", 1), padding=a["pads"][0] if "pads" in a else 0)
        elif op == "GlobalAveragePool":
            y = x[0].mean((2, 3), keepdim=True)
        else:
            raise ValueError(op)
        values[outputs[0]] = y
    return y


def torch_rows(driver, folder, say, end):
    import torch

    for name in MODELS:
        model = MODELS[name]()
        sample = inputs_of(model)
        expected = np.load(os.path.join(folder, name + ".expected.npy"))
        for label, dtype, way in [("FP32", torch.float32, "eager"), ("FP16", torch.float16, "eager"), ("FP16 as a CUDA graph", torch.float16, "graph"), ("FP16 compiled", torch.float16, "compile")]:
            row = {"model": name, "runs": "PyTorch " + label, "device": torch.cuda.get_device_name(0), "version": torch.__version__}
            if time.time() > end or (way == "compile" and time.time() > end - 40):
                say({**row, "failed": "no time left"})
                continue
            try:
                torch.cuda.reset_peak_memory_stats()
                values = {}
                for key, (value, _) in model.values.items():
                    values[key] = value.tolist() if value.dtype == np.int64 else torch.from_numpy(np.array(value)).cuda().to(dtype)
                feed = {key: torch.from_numpy(value).cuda().to(dtype) for key, value in sample.items()}
                with torch.inference_mode():
                    once = lambda: torch_run(torch, model, values, feed)  # noqa: E731
                    if way == "compile":
                        compiled = torch.compile(lambda feed: torch_run(torch, model, values, feed))
                        once = lambda: compiled(feed)  # noqa: E731
                    row.update(error_of([once().float().cpu().numpy()], [expected]))
                    if way == "graph":
                        stream = torch.cuda.Stream()
                        with torch.cuda.stream(stream):
                            once()
                        torch.cuda.synchronize()
                        graph = torch.cuda.CUDAGraph()
                        with torch.cuda.graph(graph):
                            once()
                        once = graph.replay
                    else:
                        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
                            once()
                            torch.cuda.synchronize()
                        events = [e for e in profiler.events() if "CUDA" in str(e.device_type)]
                        row["kernels"] = len(events)
                        row["layerMs"] = round(sum(e.time_range.elapsed_us() for e in events) / 1000, 5)
                    row["before"] = state()
                    row.update(percentiles(timed(once, torch.cuda.synchronize)))
                    row["after"] = state()
                row["memory"] = torch.cuda.max_memory_allocated()
            except Exception as error:
                row["failed"] = "%s: %s" % (type(error).__name__, str(error)[:300])
            say(row)


STAGES = {"onnxruntime": onnxruntime_rows, "tensorrt": tensorrt_rows, "torch": torch_rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--driver", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--stage", choices=[*STAGES])
    parser.add_argument("--folder")
    options = parser.parse_args()
    if options.stage:
        with open(options.out, "a", encoding="utf-8") as out:

            def say(row):
                out.write(json.dumps(row) + "\n")
                out.flush()
                print(row["model"], row["runs"], row["device"], row.get("p50"), row.get("kernels"), row.get("failed", ""), flush=True)

            try:
                STAGES[options.stage](options.driver, options.folder, say, time.time() + options.seconds)
            except Exception as error:
                say({"model": "all", "runs": options.stage, "device": None, "failed": "%s: %s" % (type(error).__name__, str(error)[:300])})
        os._exit(0)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in MODELS.items():
            make().save(os.path.join(folder, name + ".onnx"))
        end = time.time() + options.seconds
        for stage, share in [("onnxruntime", 0.2), ("tensorrt", 0.75), ("torch", 1)]:
            left = end - time.time()
            seconds = max(20, left * share)
            command = [sys.executable, os.path.abspath(__file__), "--driver", options.driver, "--out", options.out, "--stage", stage,
                       "--folder", folder, "--seconds", str(seconds)]  # fmt: skip
            try:
                subprocess.run(command, timeout=seconds + 45, check=False)
            except subprocess.TimeoutExpired:
                print(stage, "took too long", flush=True)


if __name__ == "__main__":
    main()
