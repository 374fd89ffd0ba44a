import { stringLiteral } from './generated.ts';
import type { ChainStep } from './elementwise.ts';
import type { PluginPlan } from './pluginPlan.ts';

/** Names of the single numbers that the kernel gets. */
export const kernelFloats = ({ attributes }: PluginPlan): string[] =>
  attributes.flatMap(({ name, value }) => ('float' in value ? [name] : []));

/** The declaration that the plugin and the kernel share. */
export function kernelHeader(plan: PluginPlan): string {
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
export function kernelSource(plan: PluginPlan, chain: readonly ChainStep[]): string {
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
  return `// ${name}: ${chain.map(({ node }) => node.op).join(', ')} in one kernel. Written by trtlens plugin.
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
