import { stringLiteral } from './generated.ts';
import { kernelFloats } from './kernelSource.ts';
import { outputDims, type PluginAttribute, type PluginPlan } from './pluginPlan.ts';

const pythonTypes: Readonly<Record<string, string>> = {
  float: 'trt.float32',
  float16: 'trt.float16',
  bfloat16: 'trt.bfloat16',
  int64: 'trt.int64',
  int32: 'trt.int32',
  int8: 'trt.int8',
  uint8: 'trt.uint8',
  bool: 'trt.bool',
};

/** Single numbers as arrays, too: TensorRT 10.6 makes them of arrays with one element, which NumPy 2.4 refuses. */
const annotation = (value: PluginAttribute['value']): string => {
  if ('string' in value) return 'str';
  return 'floats' in value || 'float' in value ? 'npt.NDArray[np.float32]' : 'npt.NDArray[np.int64]';
};

/** The plugin in Python, for TensorRT 10.6 and later (`tensorrt.plugin`). */
export function pluginPython(plan: PluginPlan): string {
  const { name, domain, inputs, outputs, attributes, chain } = plan;
  const elementwise = Array.isArray(chain);
  const described = inputs.map((_, place) => `in${place}: trtp.TensorDesc`);
  const given = inputs.map((_, place) => `in${place}: trtp.Tensor`);
  const own = attributes.map(({ name: attribute, value }) => `${attribute}: ${annotation(value)}`);
  const shape = (output: PluginPlan['outputs'][number]) =>
    `(${outputDims(inputs, output)!
      .map((dim) => `${typeof dim === 'number' ? dim : `in${dim.input}.shape_expr[${dim.axis}]`}, `)
      .join('')
      .trimEnd()})`;
  const descs = outputs.map((output) =>
    elementwise ? 'in0.like()' : `trtp.from_shape_expr(${shape(output)}, dtype=${pythonTypes[output.type]})`,
  );
  return `"""${name} as a plugin in Python, for TensorRT 10.6 and later. Import this file before a network that has the node is parsed.

Written by trtlens plugin. ${elementwise ? 'Needs CuPy.' : 'The implementation is not written yet and refuses to run.'}
"""

${elementwise ? 'import os\n' : ''}from typing import ${elementwise ? 'List, ' : ''}Tuple

${elementwise ? 'import cupy as cp\n' : ''}import numpy as np${attributes.some(({ value }) => !('string' in value)) ? '\nimport numpy.typing as npt' : ''}
import tensorrt as trt
import tensorrt.plugin as trtp


@trtp.register("${domain}::${name}")
def ${name}_desc(
    ${[...described, ...own].join(', ')}
) -> Tuple[${outputs.map(() => 'trtp.TensorDesc').join(', ')}]:
    return ${descs.length === 1 ? descs[0] : `(${descs.join(', ')})`}


@trtp.impl("${domain}::${name}")
def ${name}_impl(
    ${[...given, ...own, `outputs: Tuple[${outputs.map(() => 'trtp.Tensor').join(', ')}]`, 'stream: int'].join(', ')}
) -> None:
${elementwise ? launch(plan) : refusal(plan)}${elementwise ? autotune(plan) : ''}`;
}

function launch(plan: PluginPlan): string {
  const { name, inputs, outputs } = plan;
  const parameters = [
    ...inputs.map((_, place) => `in${place}.data_ptr`),
    ...outputs.map((_, place) => `outputs[${place}].data_ptr`),
    'np.int64(count)',
    ...kernelFloats(plan).map((own) => `np.float32(${own}[0])`),
  ].join(', ');
  return `    count = int(np.prod(tuple(in0.shape)))
    if count == 0:
        return
    kernel = _kernels().get_function("${name}_fp16" if in0.dtype == trt.float16 else "${name}_fp32")
    with cp.cuda.ExternalStream(stream):
        kernel((min((count + 255) // 256, 65535),), (256,), (${parameters}))


_compiled = []


def _kernels():
    if not _compiled:
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "${name}_kernel.cu"), encoding="ascii") as file:
            _compiled.append(cp.RawModule(code=file.read(), options=("--std=c++17",)))
    return _compiled[0]
`;
}

/** Without it TensorRT takes the types of the network's tensors only. */
function autotune({ name, domain, inputs, outputs }: PluginPlan): string {
  const types = [...inputs, ...outputs].map(() => 'FP32|FP16').join(', ');
  return `

@trtp.autotune("${domain}::${name}")
def ${name}_autotune(
    ${[...inputs.map((_, place) => `in${place}: trtp.TensorDesc`), `outputs: Tuple[${outputs.map(() => 'trtp.TensorDesc').join(', ')}]`].join(', ')}
) -> List[trtp.AutoTuneCombination]:
    return [trtp.AutoTuneCombination("${types}", "LINEAR")]
`;
}

function refusal({ name, inputs, outputs }: PluginPlan): string {
  const list = (tensors: PluginPlan['inputs'], word: (place: number) => string) =>
    tensors.map((tensor, place) => `    #   ${word(place)}  ${tensor.type}  ${stringLiteral(tensor.name)}\n`).join('');
  return `    # YOUR CODE: launch kernels on the stream that compute
${list(outputs, (place) => `outputs[${place}]`)}    # from
${list(inputs, (place) => `in${place}`)}    raise NotImplementedError("${name}: the implementation is not written yet")
`;
}

/** A program that compares the plugin with the nodes that it replaces, which ONNX Runtime runs. */
export function pluginTest({ name, inputs }: PluginPlan): string {
  const rows = inputs.map(({ name: tensor, type, shape }) => {
    const dims = shape?.map((dim) =>
      typeof dim === 'number' ? String(dim) : dim === null ? 'None' : stringLiteral(dim),
    );
    return `    (${stringLiteral(tensor)}, "${type}", [${(dims ?? []).join(', ')}]),\n`;
  });
  return `"""Compares the plugin ${name} with the nodes that it replaces.

  python test_${name}.py                                   the reference only: ONNX Runtime runs the nodes
  python test_${name}.py --library build/lib${name}.so     the plugin in C++, on a GPU
  python test_${name}.py --python                          the plugin in Python, on a GPU

Needs numpy and onnxruntime; with a plugin also tensorrt and cupy. --size batch=4 sets a symbolic dimension (default 2).
Written by trtlens plugin.
"""

import argparse
import os
import sys

import numpy as np
import onnxruntime as ort

FOLDER = os.path.dirname(os.path.abspath(__file__))
INPUTS = [
${rows.join('')}]
DTYPES = {"float": np.float32, "float16": np.float16, "bool": np.bool_}


def make_inputs(sizes):
    random = np.random.default_rng(0)
    made = {}
    for name, kind, dims in INPUTS:
        shape = [dim if isinstance(dim, int) else sizes.get(dim, 2) for dim in dims]
        if kind == "bfloat16":
            sys.exit("NumPy has no bfloat16: input %r" % name)
        if kind in ("float", "float16"):
            made[name] = random.standard_normal(shape).astype(DTYPES[kind])
        else:
            made[name] = random.integers(0, 2, shape).astype(DTYPES.get(kind, kind))
    return made


def reference(inputs):
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = ort.InferenceSession(os.path.join(FOLDER, "nodes.onnx"), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        sys.exit("ONNX Runtime cannot run nodes.onnx, so there is no reference: write reference(). %s" % error)
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def with_tensorrt(inputs, library):
    import cupy as cp
    import tensorrt as trt

    logger = trt.Logger(trt.Logger.WARNING)
    if library:
        trt.get_plugin_registry().load_library(library)
    else:
        sys.path.insert(0, FOLDER)
        __import__("${name}_plugin")
    builder = trt.Builder(logger)
    network = builder.create_network(0)
    parser = trt.OnnxParser(network, logger)
    if not parser.parse_from_file(os.path.join(FOLDER, "plugin.onnx")):
        sys.exit("\\n".join(str(parser.get_error(i)) for i in range(parser.num_errors)))
    config = builder.create_builder_config()
    profile = builder.create_optimization_profile()
    for i in range(network.num_inputs):
        shape = inputs[network.get_input(i).name].shape
        profile.set_shape(network.get_input(i).name, shape, shape, shape)
    config.add_optimization_profile(profile)
    plan = builder.build_serialized_network(network, config)
    if plan is None:
        sys.exit("TensorRT cannot build the plugin: see its messages above")
    engine = trt.Runtime(logger).deserialize_cuda_engine(plan)
    context = engine.create_execution_context()
    held, outputs = [], {}
    for i in range(engine.num_io_tensors):
        name = engine.get_tensor_name(i)
        if engine.get_tensor_mode(name) == trt.TensorIOMode.INPUT:
            context.set_input_shape(name, inputs[name].shape)
            held.append(cp.asarray(inputs[name]))
            context.set_tensor_address(name, held[-1].data.ptr)
    for i in range(engine.num_io_tensors):
        name = engine.get_tensor_name(i)
        if engine.get_tensor_mode(name) == trt.TensorIOMode.OUTPUT:
            outputs[name] = cp.empty(tuple(context.get_tensor_shape(name)), trt.nptype(engine.get_tensor_dtype(name)))
            context.set_tensor_address(name, outputs[name].data.ptr)
    stream = cp.cuda.Stream()
    if not context.execute_async_v3(stream.ptr):
        sys.exit("the plugin did not run: see its messages above")
    stream.synchronize()
    return {name: cp.asnumpy(value) for name, value in outputs.items()}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--library")
    arguments.add_argument("--python", action="store_true")
    arguments.add_argument("--size", action="append", default=[], metavar="NAME=N")
    arguments.add_argument("--tolerance", type=float, default=1e-3)
    given = arguments.parse_args()
    sizes = {name: int(size) for name, _, size in (one.rpartition("=") for one in given.size)}
    inputs = make_inputs(sizes)
    expected = reference(inputs)
    np.savez(os.path.join(FOLDER, "reference.npz"), **expected)
    print("reference: " + ", ".join("%s %s" % (name, value.shape) for name, value in expected.items()))
    if not given.library and not given.python:
        return 0
    failed = False
    for name, value in with_tensorrt(inputs, given.library).items():
        want = expected[name].astype(np.float64)
        error = np.max(np.abs(value.astype(np.float64) - want), initial=0) / max(np.max(np.abs(want), initial=0), 1e-30)
        failed = failed or not error <= given.tolerance
        print("%s: largest error %.3g %s" % (name, error, "passed" if error <= given.tolerance else "FAILED"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
`;
}
