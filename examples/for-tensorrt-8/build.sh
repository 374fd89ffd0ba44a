#!/bin/sh
trtexec --onnx=model.onnx --saveEngine=model.engine --fp16 --workspace=4096 --buildOnly
