// Identifies texts other than logs.
import { type Inspection, inspection } from '../inspection.ts';
import type { Problem } from '../../base/problem.ts';
import { readNcu } from '../../read/tensorrt/readLayerInfo.ts';
import { decodeVersion } from '../../read/tensorrt/buildOutput.ts';
import { readOverrides } from '../../rules/readOverrides.ts';
import { counted } from '../../base/text.ts';

const CALIBRATION_HEADER = /^TRT-(\d+)-(\w+)$/;
const CALIBRATION_LINE = /^(.+): ([0-9a-fA-F]{8})$/;
/** Histograms of TensorRT's legacy calibrator: counts and doubles, no header. */
const HISTOGRAM_LINE = /^\d+ [0-9a-fA-F]{16}(?: |$)/;

const MAY_BE_CALIBRATION = /^(?:TRT-\d+-\w+\r?(?:\n|$)|\d+ [0-9a-fA-F]{16}|[^\n]+: [0-9a-fA-F]{8}\r?(?:\n|$))/;

/** What Nsight Compute measured; a text that only looks like it says why it has nothing. */
export function inspectCounters(text: string): Inspection {
  const { value, problems } = readNcu(text);
  const kernels = value?.length ?? 0;
  return inspection('counters', `Counters of Nsight Compute: ${counted(kernels, 'kernel')}`, {
    counts: { kernels },
    problems,
  });
}

/** Recognizes an INT8 calibration cache, with its header or without; null for other text. */
export function inspectCalibration(text: string): Inspection | null {
  if (!MAY_BE_CALIBRATION.test(text.slice(0, 2000))) return null;
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const header = CALIBRATION_HEADER.exec(lines[0] ?? '');
  if (header === null && HISTOGRAM_LINE.test(lines[0] ?? '')) {
    return inspection('calibration-cache', `INT8 calibration cache of the legacy calibrator, without a header`, {
      counts: { lines: lines.filter((line) => line !== '').length },
    });
  }
  let tensors = 0;
  const problems: Problem[] = [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || (index === 0 && header !== null)) continue;
    if (CALIBRATION_LINE.test(line)) tensors++;
    else if (header === null) return null;
    else if (problems.length < 20)
      problems.push({
        severity: 'warning',
        code: 'calibration-line',
        message:
          'This line does not have the form "tensor: scale" with a scale of eight hexadecimal digits. TensorRT ignores it or the whole cache.',
        line: index + 1,
      });
  }
  if (header === null && tensors === 0) return null;
  const version = header ? decodeVersion(header[1]!) : null;
  const by = header ? `, ${header[2]}${version === null ? '' : ` of TensorRT ${version}`}` : ', without a header';
  return inspection('calibration-cache', `INT8 calibration cache${by}: ${counted(tensors, 'tensor')}`, {
    tensorrt: { product: 'tensorrt', version },
    counts: { tensors },
    problems,
  });
}

/** Overrides are short lines, nearly all of which can be read; prose is not. */
const MAX_OVERRIDES = 4_000_000;

const MAY_BE_OVERRIDE = /^\s*(?:model|base|require)\s|[\s"](?:fp\d+|bf16|int\d+|bool|float\d*|half|bfloat16)\b/;

/** Recognizes precision overrides by their grammar; null for other text. */
export function inspectOverrides(text: string): Inspection | null {
  if (text.length > MAX_OVERRIDES || /[<>{}]/.test(text.replace(/->|"(?:[^"\\\n]|\\.)*"?|group:\S*|#.*/g, '')))
    return null;
  const lines = text.split('\n').filter((line) => /^\s*[^\s#]/.test(line));
  // A look at the first lines spares other texts the whole reading.
  const first = lines.slice(0, 20);
  if (first.length === 0 || first.filter((line) => MAY_BE_OVERRIDE.test(line)).length < first.length * 0.5) return null;
  const file = readOverrides(text);
  const usable = file.rules.filter((rule) => rule.usable).length;
  const directives = [file.model, file.base, file.require].filter((directive) => directive?.usable).length;
  // A few broken lines are mistakes in overrides; many are another kind of text.
  if (usable === 0 && directives === 0) return null;
  if (usable + directives < lines.length * 0.75) return null;
  // `key: value` is YAML, though a name may end with a colon.
  if (lines.every((line) => /^\s*[\w.-]+:\s+\S+\s*$/.test(line))) return null;
  const problems = file.problems.map(({ severity, code, message, line, column, endColumn }): Problem => ({
    severity,
    code,
    message,
    line,
    column,
    endColumn,
  }));
  return inspection('overrides', `Precision overrides: ${counted(file.rules.length, 'rule')}`, {
    counts: { rules: file.rules.length, directives },
    problems,
  });
}
