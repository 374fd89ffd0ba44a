// What a plugin for some nodes computes, and its source code.
import { stringLiteral } from './internal/generated.ts';
import { type ChainStep, literal, outputDims, type PluginAttribute, type PluginPlan } from './internal/pluginPlan.ts';

export {
  planPlugin,
  pluginModel,
  type PluginPlan,
  replacedModel,
  replacedSubgraph,
  withNamedSizes,
} from './internal/pluginPlan.ts';

/** The sources of a plugin, by file. */
export function pluginSources(plan: PluginPlan): Record<string, string> {
  const { name, chain } = plan;
  return {
    [`${name}_plugin.cpp`]: pluginSource(plan),
    ...(Array.isArray(chain) && {
      [`${name}_kernel.cu`]: kernelSource(plan, chain),
      [`${name}_kernel.h`]: kernelHeader(plan),
    }),
    'CMakeLists.txt': cmakeLists(plan),
    [`test_${name}.py`]: pluginTest(plan),
  };
}

/** Names of the single numbers that the kernel gets. */
const kernelFloats = ({ attributes }: PluginPlan): string[] =>
  attributes.flatMap(({ name, value }) => ('float' in value ? [name] : []));

/** The declaration that the plugin and the kernel share. */
function kernelHeader(plan: PluginPlan): string {
  return `#pragma once

#include <cstdint>
#include <cuda_runtime_api.h>

/// Computes all elements. half: whether tensors are FP16 instead of FP32; count: elements of a tensor.
cudaError_t ${plan.name}Launch(${launchParameters(plan)});
`;
}

const launchParameters = (plan: PluginPlan): string =>
  [
    'bool half',
    'void const* const* inputs',
    'void* const* outputs',
    'int64_t count',
    ...kernelFloats(plan).map((name) => `float ${name}`),
    'cudaStream_t stream',
  ].join(', ');

const functions = {
  largest: `__device__ inline float largest(float a, float b)
{
    return a > b || a != a ? a : b; // NaN stays NaN
}
`,
  smallest: `__device__ inline float smallest(float a, float b)
{
    return a < b || a != a ? a : b; // NaN stays NaN
}
`,
};

/** A kernel that computes one element at a time, in FP32 inside. nvcc and NVRTC compile it. */
function kernelSource(plan: PluginPlan, chain: readonly ChainStep[]): string {
  const { name, inputs, outputs } = plan;
  const floats = kernelFloats(plan);
  const body = chain.map(({ expression }) => expression).join('\n');
  const used = Object.entries(functions).flatMap(([own, text]) => (body.includes(`${own}(`) ? [text] : []));
  const parameters = (type: string) =>
    [
      ...inputs.map((_, place) => `${type} const* input${place}`),
      ...outputs.map((_, place) => `${type}* output${place}`),
      'long long count',
      ...floats.map((own) => `float p_${own}`),
    ].join(', ');
  const passed = [
    ...inputs.map((_, place) => `input${place}`),
    ...outputs.map((_, place) => `output${place}`),
    'count',
    ...floats.map((own) => `p_${own}`),
  ].join(', ');
  const launch = (type: string, kernel: string) =>
    `${kernel}<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(${[
      ...inputs.map((_, place) => `static_cast<${type} const*>(inputs[${place}])`),
      ...outputs.map((_, place) => `static_cast<${type}*>(outputs[${place}])`),
      'count',
      ...floats,
    ].join(', ')})`;
  return `// ${name}: ${chain.map(({ node }) => node.op).join(', ')} in one kernel. Written by trtlens cut plugin.
#include <cuda_fp16.h>

namespace
{
${used.map((text) => `${text}\n`).join('')}template <typename T>
__device__ void ${name}Elements(${parameters('T')})
{
    long long const step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; at < count; at += step)
    {
${inputs.map(({ name: tensor }, place) => `        float const in${place} = static_cast<float>(input${place}[at]); // ${stringLiteral(tensor)}\n`).join('')}${chain
    .map(({ variable, expression, output, node }) => {
      const made = `        float const ${variable} = ${expression}; // ${node.op} ${stringLiteral(node.name)}\n`;
      return output === null ? made : `${made}        output${output}[at] = static_cast<T>(${variable});\n`;
    })
    .join('')}    }
}
} // namespace

extern "C" __global__ void ${name}_fp32(${parameters('float')})
{
    ${name}Elements<float>(${passed});
}

extern "C" __global__ void ${name}_fp16(${parameters('__half')})
{
    ${name}Elements<__half>(${passed});
}

#ifndef __CUDACC_RTC__
#include "${name}_kernel.h"

cudaError_t ${name}Launch(${launchParameters(plan)})
{
    int64_t constexpr threads = 256;
    int64_t const needed = (count + threads - 1) / threads;
    int64_t const blocks = needed < 65535 ? needed : 65535;
    if (blocks == 0) return cudaSuccess;
    if (half) ${launch('__half', `${name}_fp16`)};
    else ${launch('float', `${name}_fp32`)};
    return cudaPeekAtLastError();
}
#endif
`;
}

/** TensorRT's names of ONNX's types. */
const types: Readonly<Record<string, string>> = {
  float: 'kFLOAT',
  float16: 'kHALF',
  bfloat16: 'kBF16',
  int64: 'kINT64',
  int32: 'kINT32',
  int8: 'kINT8',
  uint8: 'kUINT8',
  bool: 'kBOOL',
};

type Kind = { field: string; type: string; initial: string; list: boolean };

function kindOf(value: PluginAttribute['value']): Kind {
  if ('float' in value) return { field: 'kFLOAT32', type: 'float', initial: literal(value.float), list: false };
  if ('int' in value) return { field: 'kINT64', type: 'int64_t', initial: integer(value.int), list: false };
  if ('floats' in value)
    return { field: 'kFLOAT32', type: 'float', initial: value.floats.map(literal).join(', '), list: true };
  if ('ints' in value)
    return { field: 'kINT64', type: 'int64_t', initial: value.ints.map(integer).join(', '), list: true };
  return { field: 'kCHAR', type: 'char', initial: Array.from(value.string, character).join(', '), list: true };
}

/** The least of 64 bits cannot be written as a literal. */
const integer = (value: number): string =>
  value <= -(2 ** 63) ? 'INT64_MIN' : value >= 2 ** 63 ? 'INT64_MAX' : String(BigInt(value));

const character = (letter: string): string => `'\\x${letter.charCodeAt(0).toString(16).padStart(2, '0')}'`;

/** The plugin in C++: an IPluginV3 and its creator, for TensorRT 10 and 11. */
function pluginSource(plan: PluginPlan): string {
  const { name, domain, version, inputs, outputs, attributes, chain } = plan;
  const elementwise = Array.isArray(chain);
  const kinds = attributes.map(({ name: own, value, from }) => ({ own, from, ...kindOf(value) }));
  return `// ${name}: an IPluginV3 that computes ${plan.nodes.length} ONNX nodes. Written by trtlens cut plugin.
${elementwise ? '' : `// Its enqueue() is not written yet and refuses to run: ${comment(chain.reason)}.\n`}#include "NvInfer.h"
${elementwise ? `#include "${name}_kernel.h"\n` : ''}
#include <cstdint>
${elementwise ? '' : '#include <cstdio>\n'}#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace
{
using namespace nvinfer1;

char const* const kName = "${name}";
char const* const kVersion = "${version}";
char const* const kNamespace = "${domain}";
int32_t constexpr kInputs = ${inputs.length};
int32_t constexpr kOutputs = ${outputs.length};

/// The attributes of the node, with the values that the model had.
struct Parameters
{
${kinds.map(({ own, from, type, initial, list }) => `    ${list ? `std::vector<${type}>` : type} ${own}{${initial}}; // ${stringLiteral(from)}\n`).join('')}};

bool read(PluginFieldCollection const* fields, Parameters& parameters)
{
    for (int32_t at = 0; fields != nullptr && at < fields->nbFields; ++at)
    {
        PluginField const& field = fields->fields[at];
        if (field.name == nullptr || (field.data == nullptr && field.length > 0)) return false;
${kinds
  .map(({ own, field, type, list }) =>
    list
      ? `        if (std::strcmp(field.name, "${own}") == 0)
        {
            if (field.type != PluginFieldType::${field} || field.length < 0) return false;
            auto const* values = static_cast<${type} const*>(field.data);
            parameters.${own}.assign(values, values + field.length);
        }
`
      : `        if (std::strcmp(field.name, "${own}") == 0)
        {
            if (field.type != PluginFieldType::${field} || field.length != 1) return false;
            parameters.${own} = *static_cast<${type} const*>(field.data);
        }
`,
  )
  .join('')}    }
    ${kinds.length === 0 ? 'static_cast<void>(parameters);\n    ' : ''}return true;
}

class ${name}Plugin final : public IPluginV3, public IPluginV3OneCore, public IPluginV3OneBuild, public IPluginV3OneRuntime
{
public:
    explicit ${name}Plugin(Parameters parameters)
        : mParameters(std::move(parameters))
    {
    }

    IPluginCapability* getCapabilityInterface(PluginCapabilityType type) noexcept override
    {
        switch (type)
        {
        case PluginCapabilityType::kCORE: return static_cast<IPluginV3OneCore*>(this);
        case PluginCapabilityType::kBUILD: return static_cast<IPluginV3OneBuild*>(this);
        case PluginCapabilityType::kRUNTIME: return static_cast<IPluginV3OneRuntime*>(this);
        }
        return nullptr;
    }

    IPluginV3* clone() noexcept override
    {
        return new (std::nothrow) ${name}Plugin(mParameters);
    }

${identity}

    int32_t getNbOutputs() const noexcept override
    {
        return kOutputs;
    }

    int32_t configurePlugin(
        DynamicPluginTensorDesc const*, int32_t nbInputs, DynamicPluginTensorDesc const*, int32_t nbOutputs) noexcept override
    {
        return nbInputs == kInputs && nbOutputs == kOutputs ? 0 : 1;
    }

    int32_t getOutputDataTypes(
        DataType* outputTypes, int32_t nbOutputs, DataType const* inputTypes, int32_t nbInputs) const noexcept override
    {
        if (nbInputs != kInputs || nbOutputs != kOutputs) return 1;
${
  elementwise
    ? outputs.map((_, place) => `        outputTypes[${place}] = inputTypes[0];\n`).join('')
    : `        static_cast<void>(inputTypes);\n${outputs.map(({ type }, place) => `        outputTypes[${place}] = DataType::${types[type]};\n`).join('')}`
}        return 0;
    }

    int32_t getOutputShapes(DimsExprs const* inputs, int32_t nbInputs, DimsExprs const*, int32_t, DimsExprs* outputs,
        int32_t nbOutputs, IExprBuilder& builder) noexcept override
    {
        if (nbInputs != kInputs || nbOutputs != kOutputs) return 1;
        static_cast<void>(inputs);
        static_cast<void>(builder);
${outputs
  .map((output, place) => {
    const dims = outputDims(inputs, output)!;
    return [
      `        outputs[${place}].nbDims = ${dims.length};\n`,
      ...dims.map((dim, axis) => {
        const text = typeof dim === 'number' ? `builder.constant(${dim})` : `inputs[${dim.input}].d[${dim.axis}]`;
        return `        outputs[${place}].d[${axis}] = ${text};\n`;
      }),
    ].join('');
  })
  .join('')}        return 0;
    }

    bool supportsFormatCombination(
        int32_t pos, DynamicPluginTensorDesc const* inOut, int32_t nbInputs, int32_t nbOutputs) noexcept override
    {
        if (nbInputs != kInputs || nbOutputs != kOutputs || pos < 0 || pos >= kInputs + kOutputs) return false;
        PluginTensorDesc const& desc = inOut[pos].desc;
        if (desc.format != TensorFormat::kLINEAR) return false;
${
  elementwise
    ? `        // The kernel computes FP32 and FP16, all tensors alike.
        bool const known = desc.type == DataType::kFLOAT || desc.type == DataType::kHALF;
        return known && desc.type == inOut[0].desc.type;`
    : `        static DataType constexpr kTypes[] = {${[...inputs, ...outputs].map(({ type }) => `DataType::${types[type]}`).join(', ')}};
        return desc.type == kTypes[pos];`
}
    }

    int32_t onShapeChange(PluginTensorDesc const*, int32_t nbInputs, PluginTensorDesc const*, int32_t nbOutputs) noexcept override
    {
        return nbInputs == kInputs && nbOutputs == kOutputs ? 0 : 1;
    }

${enqueue(plan, elementwise)}
    IPluginV3* attachToContext(IPluginResourceContext*) noexcept override
    {
        return clone();
    }

    PluginFieldCollection const* getFieldsToSerialize() noexcept override
    {
        mFields = {
${kinds
  .map(({ own, field, list }) => {
    const [data, length] = list
      ? [`mParameters.${own}.data()`, `static_cast<int32_t>(mParameters.${own}.size())`]
      : [`&mParameters.${own}`, '1'];
    return `            PluginField{"${own}", ${data}, PluginFieldType::${field}, ${length}},\n`;
  })
  .join('')}        };
        mCollection.nbFields = static_cast<int32_t>(mFields.size());
        mCollection.fields = mFields.data();
        return &mCollection;
    }

private:
    Parameters mParameters;
    std::vector<PluginField> mFields;
    PluginFieldCollection mCollection{};
};

class ${name}Creator final : public IPluginCreatorV3One
{
public:
    IPluginV3* createPlugin(char const*, PluginFieldCollection const* fields, TensorRTPhase) noexcept override
    {
        Parameters parameters;
        if (!read(fields, parameters)) return nullptr;
        return new (std::nothrow) ${name}Plugin(std::move(parameters));
    }

    PluginFieldCollection const* getFieldNames() noexcept override
    {
        mFields = {
${kinds.map(({ own, field, list }) => `            PluginField{"${own}", nullptr, PluginFieldType::${field}, ${list ? 0 : 1}},\n`).join('')}        };
        mCollection.nbFields = static_cast<int32_t>(mFields.size());
        mCollection.fields = mFields.data();
        return &mCollection;
    }

${identity}

private:
    std::vector<PluginField> mFields;
    PluginFieldCollection mCollection{};
};
} // namespace

// What TensorRT looks for in a plugin library (trtexec --dynamicPlugins, IPluginRegistry::loadLibrary).
extern "C" IPluginCreatorInterface* const* getCreators(int32_t& count);
extern "C" void setLoggerFinder(ILoggerFinder*);

extern "C" IPluginCreatorInterface* const* getCreators(int32_t& count)
{
    static ${name}Creator creator;
    static IPluginCreatorInterface* const creators[] = {&creator};
    count = 1;
    return creators;
}

extern "C" void setLoggerFinder(ILoggerFinder*) {}
`;
}

/** A text without what would end a comment. */
const comment = (text: string): string => stringLiteral(text).slice(1, -1).replaceAll('\\"', "'");

function enqueue(plan: PluginPlan, elementwise: boolean): string {
  const { name, inputs, outputs } = plan;
  const head = (input: string, output: string, ins: string, outs: string, stream: string) =>
    `    int32_t enqueue(PluginTensorDesc const*${input}, PluginTensorDesc const*${output}, void const* const*${ins},
        void* const*${outs}, void*, cudaStream_t${stream}) noexcept override
    {
`;
  if (elementwise)
    return `${head(' inputDesc', '', ' inputs', ' outputs', ' stream')}        int64_t count = 1;
        for (int32_t axis = 0; axis < inputDesc[0].dims.nbDims; ++axis) count *= inputDesc[0].dims.d[axis];
        bool const half = inputDesc[0].type == DataType::kHALF;
        return ${name}Launch(${['half', 'inputs', 'outputs', 'count', ...kernelFloats(plan).map((own) => `mParameters.${own}`), 'stream'].join(', ')}) == cudaSuccess ? 0 : 1;
    }
`;
  const list = (tensors: PluginPlan['inputs'], word: string) =>
    tensors
      .map(({ name: tensor, type }, place) => `        //   ${word}[${place}]  ${type}  ${stringLiteral(tensor)}\n`)
      .join('');
  return `${head('', '', '', '', '')}        // YOUR CODE: launch kernels on the stream that compute
${list(outputs, 'outputs')}        // from
${list(inputs, 'inputs')}        // and return 0. Until then the plugin refuses to run.
        std::fprintf(stderr, "%s: enqueue() is not written yet\\n", kName);
        return 1;
    }
`;
}

/** Builds the plugin's library. */
function cmakeLists({ name, chain }: PluginPlan): string {
  const elementwise = Array.isArray(chain);
  return `# cmake -B build -DTENSORRT_ROOT=/path/to/TensorRT && cmake --build build
cmake_minimum_required(VERSION 3.18)
project(${name} LANGUAGES CXX${elementwise ? ' CUDA' : ''})

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
find_package(CUDAToolkit REQUIRED)
set(TENSORRT_ROOT "/usr" CACHE PATH "Folder of TensorRT's include and lib")
find_path(TENSORRT_INCLUDE NvInfer.h HINTS "\${TENSORRT_ROOT}/include" PATH_SUFFIXES x86_64-linux-gnu aarch64-linux-gnu REQUIRED)
find_library(TENSORRT_LIBRARY nvinfer HINTS "\${TENSORRT_ROOT}/lib" PATH_SUFFIXES x86_64-linux-gnu aarch64-linux-gnu REQUIRED)

add_library(${name} SHARED ${name}_plugin.cpp${elementwise ? ` ${name}_kernel.cu` : ''})
target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall>)
target_include_directories(${name} SYSTEM PRIVATE "\${TENSORRT_INCLUDE}")
target_link_libraries(${name} PRIVATE "\${TENSORRT_LIBRARY}" CUDA::cudart)
`;
}

/** A program that compares the plugin with the nodes that it replaces, which ONNX Runtime runs. */
function pluginTest({ name, inputs }: PluginPlan): string {
  const rows = inputs.map(({ name: tensor, type, shape }) => {
    const dims = shape?.map((dim) =>
      typeof dim === 'number' ? String(dim) : dim === null ? 'None' : stringLiteral(dim),
    );
    return `    (${stringLiteral(tensor)}, "${type}", [${(dims ?? []).join(', ')}]),\n`;
  });
  return `"""Compares the plugin ${name} with the nodes that it replaces.

  python test_${name}.py                                   the reference only: ONNX Runtime runs the nodes
  python test_${name}.py --library build/lib${name}.so     the plugin, on a GPU

Needs numpy and onnxruntime; with the plugin also tensorrt and cupy. --size batch=4 sets a symbolic dimension (default 2).
Written by trtlens cut plugin.
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
    trt.get_plugin_registry().load_library(library)
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
    arguments.add_argument("--size", action="append", default=[], metavar="NAME=N")
    arguments.add_argument("--tolerance", type=float, default=1e-3)
    given = arguments.parse_args()
    sizes = {name: int(size) for name, _, size in (one.rpartition("=") for one in given.size)}
    inputs = make_inputs(sizes)
    expected = reference(inputs)
    np.savez(os.path.join(FOLDER, "reference.npz"), **expected)
    print("reference: " + ", ".join("%s %s" % (name, value.shape) for name, value in expected.items()))
    if not given.library:
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

/** What the plugin and its creator say of themselves. */
const identity = `    char const* getPluginName() const noexcept override
    {
        return kName;
    }

    char const* getPluginVersion() const noexcept override
    {
        return kVersion;
    }

    char const* getPluginNamespace() const noexcept override
    {
        return kNamespace;
    }`;
