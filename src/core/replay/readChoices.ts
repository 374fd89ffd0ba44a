import { isRecord } from '../engine/readJson.ts';
import type { BuildLog } from '../engine/buildLog.ts';
import { plainValue } from '../text/jsonNode.ts';
import { readLosslessJson } from '../text/losslessJson.ts';
import type { Problem, Read } from '../text/problem.ts';
import { compareChoices, tacticId } from './algorithm.ts';
import type { Algorithm, OfferedChoice, TensorFormat } from './algorithm.ts';

/** What TensorRT offered for each layer, and what it chose where that was recorded. */
export interface Choices {
  /** In the order of the record; within a layer the best first where times are known. */
  offered: Map<string, OfferedChoice[]>;
  chosen: Map<string, Algorithm>;
  /** Where a log starts to describe a layer, from 1. */
  lines?: Map<string, number>;
  /** Where they come from. */
  source: 'sidecar' | 'mismatch' | 'log';
}

/** Whether a text looks like recorded choices. */
export function sniffChoices(text: string): boolean {
  return /^\s*\{\s*"layer"\s*:[^\n]*"(?:choices|chosen)"\s*:/.test(text.slice(0, 20_000));
}

/**
 * Reads recorded choices: one JSON object per line, `{"layer", "inputs", "outputs", "dims", "choices" | "chosen"}`. Ids
 * keep all their digits.
 */
export function readChoices(text: string): Read<Choices> {
  const problems: Problem[] = [];
  const choices: Choices = { offered: new Map(), chosen: new Map(), source: 'sidecar' };
  let line = 0;
  for (const content of text.split('\n')) {
    line++;
    if (content.trim() === '') continue;
    const document = readLosslessJson(content).documents[0];
    const record = document ? plainValue(document) : null;
    if (!readRecord(record, choices)) {
      problems.push({
        severity: 'warning',
        code: 'bad-choice',
        message: 'This line is not a record of choices and was skipped. An interrupted recording ends like this.',
        line,
        column: 1,
      });
    }
  }
  sortOffers(choices);
  return { value: choices, problems };
}

function readRecord(record: unknown, into: Choices): boolean {
  if (!isRecord(record) || typeof record['layer'] !== 'string') return false;
  const { layer, inputs } = record;
  const count = typeof inputs === 'number' ? inputs : 0;
  if (Array.isArray(record['choices'])) {
    const list = record['choices'].map((one: unknown) => readChoice(one, count));
    if (list.includes(null)) return false;
    into.offered.set(
      layer,
      list.filter((choice) => choice !== null),
    );
    return true;
  }
  const chosen = readChoice(record['chosen'], count);
  if (!chosen) return false;
  into.chosen.set(layer, chosen.algorithm);
  return true;
}

function readChoice(value: unknown, inputs: number): OfferedChoice | null {
  if (!isRecord(value) || !Array.isArray(value['io'])) return null;
  const implementation = idText(value['implementation']);
  const tactic = idText(value['tactic']);
  const io = value['io'].map(readIo);
  if (implementation === null || tactic === null || io.includes(null)) return null;
  const formats = io.filter((format) => format !== null);
  const number = (key: string) => (typeof value[key] === 'number' ? value[key] : null);
  return {
    algorithm: { implementation, tactic, inputs: formats.slice(0, inputs), outputs: formats.slice(inputs) },
    // TensorRT gives 0 for what it did not time.
    ms: isTime(value['timingMs']) ? value['timingMs'] : null,
    workspace: number('workspace'),
  };
}

const isTime = (value: unknown): value is number => typeof value === 'number' && value > 0 && Number.isFinite(value);

function idText(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && /^-?\d+$/.test(value) ? value : null;
}

function readIo(value: unknown): TensorFormat | null {
  if (!isRecord(value) || typeof value['datatype'] !== 'string' || !Array.isArray(value['strides'])) return null;
  const strides = value['strides'].filter((stride) => typeof stride === 'number');
  const number = (key: string) => (typeof value[key] === 'number' ? value[key] : null);
  return {
    dtype: value['datatype'].replace(/^DataType\./, ''),
    format: null,
    strides,
    vectorizedDim: number('vectorizedDim'),
    components: number('componentsPerElement'),
  };
}

function sortOffers(choices: Choices): void {
  for (const list of choices.offered.values()) list.sort(compareChoices);
}

/** Data types by the words of logs and layer info, in lower case. */
export const logTypes: Readonly<Record<string, string>> = {
  float: 'FLOAT',
  half: 'HALF',
  int8: 'INT8',
  int32: 'INT32',
  int64: 'INT64',
  bool: 'BOOL',
  uint8: 'UINT8',
  bfloat16: 'BF16',
  bf16: 'BF16',
  fp8: 'FP8',
  int4: 'INT4',
};

/** What a verbose log timed: the same tactics that a replay can name, for the layers that the log tells in full. */
export function choicesOfLog(log: BuildLog): Choices {
  const lines = new Map<string, number>();
  const choices: Choices = { offered: new Map(), chosen: new Map(), source: 'log', lines };
  for (const { name, line, combinations, reformat } of log.phases.at(-1)?.tactics ?? []) {
    // TensorRT asks no algorithm selector about copies between layouts.
    if (reformat) continue;
    if (!lines.has(name)) lines.set(name, line);
    const offered = choices.offered.get(name) ?? [];
    for (const combination of combinations) {
      const formats = readFormats(combination.formats);
      if (!formats) continue;
      for (const { runnerId, tactic, ms, name: kernel } of combination.tactics) {
        const id = tacticId(tactic);
        if (runnerId === null || id === null) continue;
        offered.push({
          algorithm: { implementation: String(Number(runnerId)), tactic: id, ...formats },
          ms,
          workspace: null,
          // Polygraphy switches TF32 off unless it is told not to: what it timed it can have again.
          ...(log.writer !== 'polygraphy' && kernel?.includes('tf32') ? { tf32: true } : {}),
        });
      }
    }
    if (offered.length > 0) choices.offered.set(name, offered);
  }
  sortOffers(choices);
  return choices;
}

/** `Half(50176,1:4,224,1) -> Float(1000,1)` as formats; null for a text of another form. */
export function readFormats(text: string): { inputs: TensorFormat[]; outputs: TensorFormat[] } | null {
  const sides = text.split(/(?:^| )->(?: |$)/);
  if (sides.length !== 2) return null;
  const [inputs, outputs] = sides.map(readSide);
  return inputs && outputs ? { inputs, outputs } : null;
}

function readSide(text: string): TensorFormat[] | null {
  if (text.trim() === '') return [];
  const found = [...text.matchAll(/(\w+)\(([\d,:E*\- ]*)\)(?: [a-z-]+)?/g)];
  const rest = text.replace(/(\w+)\(([\d,:E*\- ]*)\)(?: [a-z-]+)?/g, '').replace(/[, ]/g, '');
  if (found.length === 0 || rest !== '') return null;
  const formats: TensorFormat[] = [];
  for (const [, type = '', dims = ''] of found) {
    const dtype = logTypes[type.toLowerCase()];
    const parts = dims === '' ? [] : dims.split(',').map((part) => /^(\d+)(?::(\d+))?$/.exec(part));
    if (!dtype || parts.includes(null)) return null;
    const vector = parts.findIndex((part) => part?.[2] !== undefined);
    formats.push({
      dtype,
      format: null,
      strides: parts.map((part) => Number(part?.[1])),
      vectorizedDim: vector,
      components: vector < 0 ? 1 : Number(parts[vector]?.[2]),
    });
  }
  return formats;
}
