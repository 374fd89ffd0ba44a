import { literal } from './elementwise.ts';
import { stringLiteral } from './generated.ts';
import { kernelFloats } from './kernelSource.ts';
import { outputDims, type PluginAttribute, type PluginPlan } from './pluginPlan.ts';

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
export function pluginSource(plan: PluginPlan): string {
  const { name, domain, version, inputs, outputs, attributes, chain } = plan;
  const elementwise = Array.isArray(chain);
  const kinds = attributes.map(({ name: own, value, from }) => ({ own, from, ...kindOf(value) }));
  return `// ${name}: an IPluginV3 that computes ${plan.nodes.length} ONNX nodes. Written by trtlens plugin.
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

    char const* getPluginName() const noexcept override
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
    }

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

    char const* getPluginName() const noexcept override
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
    }

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
export function cmakeLists({ name, chain }: PluginPlan): string {
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
