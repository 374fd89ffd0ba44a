import { type BuildLog, decodeVersion, type StrayLine } from '../../formats/tensorrt/buildOutput.ts';
import { gpuIn } from '../../precision/buildFacts.ts';
import { versionNumber } from '../../base/text.ts';
import { type GpuSupport, gpuSupport } from './gpuSupport.ts';
import { isCode } from './strayBlocks.ts';

/** What a log, or otherwise the text around it, says of TensorRT and the GPU. */
export interface LogFacts {
  version: string | null;
  gpu: string | null;
  before86: boolean;
  since10: boolean;
  /** Why its TensorRT has no kernels for that GPU, and the line that names it; null: it has, or it is not known. */
  unfit: { name: string; line: StrayLine; version: string; support: GpuSupport } | null;
}

/**
 * Facts of a log; what it does not say itself, its author may have written around it: as a field of an issue's form,
 * otherwise in a list of packages, a path or a sentence. What differs says nothing.
 */
export function logFacts(log: BuildLog): LogFacts {
  const lines = writtenLines(log);
  const version = log.version ?? (log.product === 'tensorrt-rtx' ? null : versionIn(lines));
  const named = log.gpu === null ? gpuLines(lines) : [];
  const gpu = gpuIn(log.gpu ?? named.map(({ text }) => text).join('\n'));
  const support =
    gpu === null || version === null || log.product === 'tensorrt-rtx'
      ? null
      : gpuSupport((gpu.capability / 10).toFixed(1), version, 'tensorrt');
  return {
    version,
    gpu: log.gpu ?? gpu?.name ?? null,
    before86: version === null ? hasOldLine(log) : versionNumber(version) < versionNumber('8.6'),
    since10: log.messages.some(({ text }) => /^(?:Error\[\d+\]: )?I[A-Z]\w+::\w+: Error Code \d+: /.test(text)),
    unfit:
      support === null || support.supported
        ? null
        : {
            name: gpu!.name,
            line: named.find(({ text }) => text.includes(gpu!.name)) ?? { line: 1, text: gpu!.name },
            version: version!,
            support,
          },
  };
}

/** Longer lines are a program's. */
const LONGEST = 400;

/** Lines around messages, and those of messages: what follows one without a prefix is read as a part of it. */
function writtenLines({ strays = [], messages, lastLine }: BuildLog): StrayLine[] {
  const all = [...strays, ...messages.filter(({ text }) => text !== lastLine?.text), ...(lastLine ? [lastLine] : [])];
  return all
    .flatMap(({ line, text }) =>
      text.split('\n').map((one, index) => ({ line: line + index, text: one.slice(0, LONGEST) })),
    )
    .filter(({ text }) => !isCode(text));
}

const FIELD = /^\W*(?:TensorRT|TRT)(?:[ _-]?version)?[*_`\s]*[:|=](?<value>.*)$/i;
const NUMBER = /(?<![\d.])(\d{1,2}\.\d{1,2}(?:\.\d{1,2})?)(?!\d|:|-py)/g;
/** With folders of TensorRT or of its sources, and more versions after the first. */
const STATED =
  /(?<![\w-])(?:(?:tensor-?rt|trt)(?:[ _-]?version)?\W{0,30}(?:version\W{1,5})?|libnvinfer\w* +|\S*helpers[\\/]rel-|\S*[\\/]release[\\/](?=\d\.\d[\\/]parsers))v?\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2}(?!\d|:|-py)(?:(?:[ ,/&]|and|to|->)+v?\d{1,2}\.\d{1,2}(?:\.\d{1,3}){0,2}(?!\d))*/gi;

/** Words near a version or GPU that is another than the one at hand. */
const ELSEWHERE =
  /\b(?:works?|worked|fine|or|than|later|newer|older|earlier|above|below|before|after|since|until|requires?|needs?|supports?|supported|tried|try|(?:up|down)grad\w*|updat\w*|both|instead|not|but|previous(?:ly)?|next|from|other|another|was|were|if|should|would|could|can|features?|introduced|docs?|documentation)\b|n't\b|[<>]=?|\d\+|\?/i;

/** The version that the fields of a form name, otherwise the text: the longest of those that agree. */
function versionIn(lines: readonly StrayLine[]): string | null {
  const fields = lines.flatMap(({ text }) => versionsIn(FIELD.exec(text)?.groups?.['value'] ?? ''));
  const written = fields.length > 0 ? fields : lines.flatMap(({ text }) => statedIn(text));
  const [longest] = written.toSorted((a, b) => Number(a.endsWith('.0')) - Number(b.endsWith('.0')));
  const isOne = written.every((one) => versionNumber(one) === versionNumber(longest!));
  return longest !== undefined && isOne ? longest : null;
}

const versionsIn = (text: string): string[] =>
  [...text.matchAll(NUMBER)].flatMap(([, found = '']) => {
    const whole = decodeVersion(/\..*\./.test(found) ? found : `${found}.0`);
    return whole !== null && versionNumber(whole) >= 400 && versionNumber(whole) < 2000 ? [whole] : [];
  });

const statedIn = (text: string): string[] =>
  [...text.matchAll(STATED)].flatMap(({ 0: words, index }) => {
    const around = text.slice(Math.max(0, index - 40), index + words.length + 25);
    return ELSEWHERE.test(around) ? [] : versionsIn(words);
  });

const GPU_FIELD = /^\W*(?:NVIDIA )?(?:GPU(?: type| model| name)?|graphics card)[*_`\s]*[:|=]/i;
/** Lines in which a GPU is named as one: its names are short, and layers may have such names, too. */
const NAMES_GPU = /\b(?:(?:GPU|NVIDIA|GeForce|Tesla|Quadro|TITAN|Jetson|Tegra|Device)\b|[RG]TX)/i;

function gpuLines(lines: readonly StrayLine[]): StrayLine[] {
  const fields = lines.filter(({ text }) => GPU_FIELD.test(text));
  return fields.length > 0 ? fields : lines.filter(({ text }) => NAMES_GPU.test(text) && !ELSEWHERE.test(text));
}

/**
 * Lines of the source of 8.0 to 8.5 that messages name. Logs name one line with several of these versions (2011 with 8.2
 * and 8.4), so the line does not tell which it is. Sources: NVIDIA/TensorRT#1592, #1765, #2035, #2660, #2916, #2918,
 * NVIDIA-AI-IOT/Lidar_AI_Solution#44, xuanandsix/CLRNet-onnxruntime-and-tensorrt-demo#5.
 */
const COMPUTE_COSTS: ReadonlySet<string> = new Set(['1855', '1981', '2011', '2033', '3728']);

/** Whether errors give away that a log is of a TensorRT before 8.6. */
const hasOldLine = ({ messages }: BuildLog): boolean =>
  messages.some(({ text, severity }) => {
    const line = severity === 'error' ? /computeCosts::(\d+)\]/.exec(text)?.[1] : undefined;
    return line !== undefined && COMPUTE_COSTS.has(line);
  });
