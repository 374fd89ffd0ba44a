import type { Problem } from '../text/problem.ts';
import { readPbtxt, type TextField } from './readPbtxt.ts';
import type { TritonModel, TritonTensor } from './tritonModel.ts';
import { tritonDims } from './writeConfig.ts';

/**
 * Compares a `config.pbtxt` with the engine that it is for: inputs and outputs, their types and sizes, the batch, the
 * optimization profiles. Each problem has its line. What a configuration leaves out, Triton takes from the engine.
 */
export function checkTritonConfig(text: string, model: TritonModel): Problem[] {
  const { value: fields, problems } = readPbtxt(text);
  if (problems.length > 0) return problems;
  const found: Problem[] = [];
  const add: Add = (code, message, line) => found.push({ severity: 'error', code, message, line });
  for (const name of ['name', 'platform', 'backend', 'max_batch_size', 'dynamic_batching']) {
    const [, again] = fields.filter((one) => one.name === name);
    if (again) add('repeated', `'${name}' is given twice, so Triton cannot read the file. Keep one.`, again.line);
  }
  checkPlatform(fields, add);
  const maxBatch = checkBatch(fields, model, add);
  checkBindings(fields, 'input', model.inputs, maxBatch > 0, add);
  checkBindings(fields, 'output', model.outputs, maxBatch > 0, add);
  checkProfiles(fields, model, add);
  return found;
}

type Add = (code: string, message: string, line: number) => void;

function checkPlatform(fields: readonly TextField[], add: Add): void {
  const platform = field(fields, 'platform') ?? field(fields, 'backend');
  if (platform === undefined || ['tensorrt_plan', 'tensorrt'].includes(textOf(platform))) return;
  const message = `${platform.name} is "${textOf(platform)}", which does not run engines. Use platform: "tensorrt_plan".`;
  add('platform', message, platform.line);
}

/** The batch that the configuration names; 0: none. */
function checkBatch(fields: readonly TextField[], { maxBatch: most }: TritonModel, add: Add): number {
  const batch = field(fields, 'max_batch_size');
  const maxBatch = batch === undefined ? 0 : Number(textOf(batch));
  if (batch !== undefined && (!Number.isSafeInteger(maxBatch) || maxBatch < 0))
    add('batch', `max_batch_size '${textOf(batch)}' is not an integer of 0 or more.`, batch.line);
  else if (batch !== undefined && maxBatch > most)
    add(
      'batch',
      most === 0
        ? `max_batch_size is ${maxBatch}, but the engine has no open batch in front of every input and output. Use 0 and write all sizes.`
        : `max_batch_size is ${maxBatch}, but the engine takes at most ${most}.`,
      batch.line,
    );
  const dynamic = field(fields, 'dynamic_batching');
  if (maxBatch === 0 && dynamic !== undefined)
    add('dynamic-batching', 'dynamic_batching needs a max_batch_size of 1 or more.', dynamic.line);
  return maxBatch > 0 ? maxBatch : 0;
}

function checkBindings(
  fields: readonly TextField[],
  kind: 'input' | 'output',
  known: readonly TritonTensor[],
  batched: boolean,
  add: Add,
): void {
  const listed = fields.filter(({ name, value }) => name === kind && typeof value !== 'string');
  for (const entry of listed) checkTensor(entry, kind, known, batched, add);
  const [first] = listed;
  // Without any, Triton takes all from the engine; outputs may be left out.
  if (kind === 'output' || first === undefined) return;
  const names = new Set(listed.map((entry) => nameOf(entry)));
  for (const { name } of known)
    if (!names.has(name)) add('missing', `The engine's input "${name}" is missing.`, first.line);
}

function checkProfiles(fields: readonly TextField[], { profiles }: TritonModel, add: Add): void {
  const indices = profiles.map(({ index }) => String(index));
  const named = fields
    .filter(({ name }) => name === 'instance_group')
    .flatMap((group) => fieldsOf(group).filter(({ name }) => name === 'profile'));
  for (const profile of named)
    if (!indices.includes(textOf(profile)))
      add(
        'profile',
        `The engine has no optimization profile ${textOf(profile)}: it has ${indices.join(', ')}.`,
        profile.line,
      );
}

function checkTensor(
  entry: TextField,
  kind: 'input' | 'output',
  known: readonly TritonTensor[],
  batched: boolean,
  add: Add,
): void {
  const name = nameOf(entry);
  const tensor = known.find((one) => one.name === name);
  if (tensor === undefined) {
    const names = known.map((one) => `"${one.name}"`).join(', ') || 'none';
    add('unknown', `The engine has no ${kind} "${name}"; its ${kind}s are ${names}.`, entry.line);
    return;
  }
  const type = field(fieldsOf(entry), 'data_type');
  if (type !== undefined && tensor.dataType !== null && type.value !== tensor.dataType)
    add('type', `${kind} "${name}" is ${textOf(type)}, but the engine's is ${tensor.dataType}.`, type.line);
  const listed = fieldsOf(entry).filter((one) => one.name === 'dims');
  const own = tritonDims(tensor, batched);
  // Sizes that are reshaped are not those of the engine.
  if (listed.length === 0 || own === null || field(fieldsOf(entry), 'reshape') !== undefined) return;
  const dims = listed.map(({ value }) => Number(value));
  const fits = dims.length === own.length && dims.every((size, axis) => size === own[axis] || own[axis] === -1);
  if (!fits)
    add(
      'dims',
      `${kind} "${name}" has dims [ ${dims.join(', ')} ], but the engine's are [ ${own.join(', ')} ]${batched ? ' without the batch' : ''}.`,
      listed[0]!.line,
    );
}

const fieldsOf = ({ value }: TextField): TextField[] => (typeof value === 'string' ? [] : value);
const field = (fields: readonly TextField[], name: string): TextField | undefined =>
  fields.findLast((one) => one.name === name);
const nameOf = (entry: TextField): string => textOf(field(fieldsOf(entry), 'name'));
const textOf = (one: TextField | undefined): string => (typeof one?.value === 'string' ? one.value : '');
