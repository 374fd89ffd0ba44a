import type { BuildLog } from '../../formats/tensorrt/buildOutput.ts';
import { versionNumber } from './gpuSupport.ts';
import type { RuleContext } from './rule.ts';
import { isCode } from './strayBlocks.ts';

/**
 * Version and GPU of a log; where it does not say them, those that its author wrote around it, by the fields of an issue's
 * form, otherwise by a sentence about what is used. Two that differ say nothing.
 */
export function logFacts(log: BuildLog): Pick<RuleContext, 'version' | 'gpu' | 'before86'> {
  // What follows a message without a prefix is read as a part of it.
  const others = log.messages.flatMap(({ text }) => (text.includes('\n') ? text.split('\n').slice(1) : []));
  const lines = [...(log.strays ?? []).map(({ text }) => text), ...others].filter(
    (text) => text.length <= LONGEST_LINE && !isCode(text),
  );
  const version = log.version ?? (log.product === 'tensorrt-rtx' ? null : writtenIn(lines, VERSION));
  const gpu = log.gpu ?? writtenIn(lines, GPU);
  return { version, gpu, before86: version === null ? hasOldLine(log) : versionNumber(version) < versionNumber('8.6') };
}

const LONGEST_LINE = 300;

/** How people write a fact: as a field of an issue's form, and in a sentence. */
interface Written {
  field: RegExp;
  inField: RegExp;
  inSentence: RegExp;
}

const NUMBER = String.raw`(?<![\w.])[vV]?(?:[4-9]|1[01])(?:\.\d{1,3}){1,3}\b(?!\.\d)`;

const VERSION: Written = {
  field: /^\W*(?:TensorRT|TRT)(?: version)?[*_`\s]*[:|=](?<value>.*)$/i,
  inField: new RegExp(NUMBER, 'g'),
  inSentence: new RegExp(
    String.raw`(?<![\w-])(?:TensorRT|TRT)(?:[ -](?:version|ver\.?))?[ :=-]*${NUMBER}(?:(?:[ ,/&]|and|to|->)*${NUMBER})*`,
    'gi',
  ),
};

const NAME =
  /\b(?:(?:GeForce )?[RG]TX ?\d{4}(?: ?(?:Ti|SUPER))*|RTX A\d{4}|(?:Tesla )?(?:[TPL]4|L40S?|A10G?|A[34]0|[PVAH]100|H200)|(?:Jetson )?(?:AGX )?(?:Orin|Xavier|Thor)(?: (?:NX|Nano|AGX))?|Jetson (?:Nano|TX[12]))\b/gi;
const GPU: Written = {
  field: /^\W*(?:NVIDIA )?(?:GPU(?: type| model| name)?|graphics card)[*_`\s]*[:|=](?<value>.*)$/i,
  inField: NAME,
  inSentence: NAME,
};

/** Words of a sentence about what is used, and of one that is, or may be, about something else. */
const USES = /\b(?:I|I'm|[Ww]e|[Ww]e're|[Mm]y|[Oo]ur|[Uu]sing|[Rr]unning)\b/;
const ELSEWHERE =
  /\b(?:works?|worked|fine|or|than|later|newer|older|earlier|above|below|before|after|since|until|requires?|needs?|supports?|supported|tried|try|(?:up|down)grad\w*|updat\w*|both|instead|not|but|previous(?:ly)?|next|from|other|another|was|were|if|should|would|could|can)\b|n't\b|[<>]=?|\d\+|\?/i;

function writtenIn(lines: readonly string[], { field, inField, inSentence }: Written): string | null {
  const inFields = lines.flatMap((line) => field.exec(line)?.groups?.['value']?.match(inField) ?? []);
  const sentences = lines.filter((line) => USES.test(line) && !ELSEWHERE.test(line));
  const written =
    inFields.length > 0
      ? inFields
      : sentences.flatMap((line) => (line.match(inSentence) ?? []).flatMap((words) => words.match(inField) ?? []));
  const bare = new Set(written.map((value) => value.toLowerCase().replace(/\b(?:geforce|tesla|jetson) |^v| /g, '')));
  return bare.size === 1 ? written[0]!.replace(/^v/i, '') : null;
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
