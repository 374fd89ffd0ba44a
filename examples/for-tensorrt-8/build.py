"""Builds and runs an engine as it was done with TensorRT 8. See docs/how-to-move-to-tensorrt-11.md."""

import sys

import tensorrt as trt

LOGGER = trt.Logger(trt.Logger.WARNING)


def build(path):
    builder = trt.Builder(LOGGER)
    network = builder.create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH))
    parser = trt.OnnxParser(network, LOGGER)
    if not parser.parse_from_file(path):
        sys.exit(str(parser.get_error(0)))
    config = builder.create_builder_config()
    config.max_workspace_size = 1 << 30
    if builder.platform_has_fast_fp16:
        config.set_flag(trt.BuilderFlag.FP16)
    return builder.build_engine(network, config)


def run(engine, addresses, stream):
    context = engine.create_execution_context()
    for index in range(engine.num_bindings):
        print(engine.get_binding_name(index), engine.get_binding_shape(index))
    context.execute_async_v2(addresses, stream)
