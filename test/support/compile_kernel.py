"""Compiles a CUDA kernel with NVRTC; needs no GPU. One JSON line on stdin: {"library", "include", "source"}; prints
{"log", "kernels": names of the kernels in the PTX} or {"log", "kernels": null}."""

import ctypes
import json
import re
import sys

job = json.loads(sys.stdin.readline())
nvrtc = ctypes.CDLL(job["library"])
with open(job["source"], "rb") as file:
    source = file.read()
program = ctypes.c_void_p()
assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"kernel.cu", 0, None, None) == 0
options = [b"--std=c++17", b"--gpu-architecture=compute_80", b"--include-path=" + job["include"].encode()]
status = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))


def text(size_of, read):
    size = ctypes.c_size_t()
    assert size_of(program, ctypes.byref(size)) == 0
    buffer = ctypes.create_string_buffer(size.value)
    assert read(program, buffer) == 0
    return buffer.value.decode()


log = text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
ptx = text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX) if status == 0 else None
print(json.dumps({"log": log, "kernels": None if ptx is None else re.findall(r"\.visible \.entry (\w+)\(", ptx)}))
