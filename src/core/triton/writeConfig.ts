import type { TritonModel, TritonTensor } from './tritonModel.ts';

/**
 * The text of a `config.pbtxt`. With an open batch in front of every input and output, Triton batches requests
 * (`max_batch_size`, `dynamic_batching`); otherwise the sizes are the engine's own. Several optimization profiles are
 * all named, so that Triton can choose among them.
 */
export function writeTritonConfig(model: TritonModel): string {
  const { name, maxBatch, profiles } = model;
  const batched = maxBatch > 0;
  const preferred = [...new Set(profiles.flatMap(({ optBatch }) => optBatch ?? []))].filter((batch) => batch > 1);
  const lines = [
    `name: ${quoted(name)}`,
    'platform: "tensorrt_plan"',
    `max_batch_size: ${maxBatch}`,
    ...tensors('input', model.inputs, batched),
    ...tensors('output', model.outputs, batched),
    ...(batched && maxBatch > 1
      ? [
          'dynamic_batching {',
          ...(preferred.length > 0
            ? [`  preferred_batch_size: [ ${preferred.toSorted((a, b) => a - b).join(', ')} ]`]
            : []),
          '}',
        ]
      : []),
    'instance_group [',
    '  {',
    '    count: 1',
    '    kind: KIND_GPU',
    ...(profiles.length > 1 ? [`    profile: [ ${profiles.map(({ index }) => `"${index}"`).join(', ')} ]`] : []),
    '  }',
    ']',
  ];
  return `${lines.join('\n')}\n`;
}

/** Sizes as Triton counts them: without the batch in front. */
export const tritonDims = ({ dims }: TritonTensor, batched: boolean): number[] | null =>
  dims === null ? null : batched ? dims.slice(1) : dims;

function tensors(kind: 'input' | 'output', list: readonly TritonTensor[], batched: boolean): string[] {
  const entries = list.map((tensor) => {
    const dims = tritonDims(tensor, batched);
    // Triton wants at least one size; a scalar is given one and has it taken away again.
    const sizes = dims === null ? [] : [`    dims: [ ${(dims.length === 0 ? [1] : dims).join(', ')} ]`];
    const scalar = dims?.length === 0 ? ['    reshape { shape: [ ] }'] : [];
    const type = tensor.dataType === null ? [] : [`    data_type: ${tensor.dataType}`];
    return ['  {', `    name: ${quoted(tensor.name)}`, ...type, ...sizes, ...scalar, '  }'].join('\n');
  });
  return [`${kind} [`, entries.join(',\n'), ']'];
}

/** A string of protobuf's text format: UTF-8, with what ends or hides in it escaped. */
const quoted = (text: string): string =>
  `"${text.replaceAll(/[\\"\u0000-\u001f\u007f]/g, (c) => (c === '\\' || c === '"' ? `\\${c}` : `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`))}"`;
