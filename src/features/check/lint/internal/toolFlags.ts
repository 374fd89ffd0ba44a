import { trtexecFlags } from '../../../../kernel/build/goneNames.ts';
import { maskShell, type MaskedSource, type TextPart } from './maskSource.ts';

/** A flag of a tool, where it stands. */
export interface FoundFlag extends TextPart {
  tool: 'trtexec' | 'polygraphy';
  flag: string;
  /** What follows `=`; null: nothing. */
  value: string | null;
  /** The command that it is of: its text in a script, or the strings of a call in a program. */
  command: readonly string[];
}

const toolName = /(trtexec|polygraphy)(?:\.exe)?(?![\w./-])/g;
const flagWord = /--[A-Za-z][\w-]*(?:=[^\s"'`,;|&)\]]*)?/g;

interface ToolWord extends TextPart {
  tool: FoundFlag['tool'];
}

/** Where a text names a tool, with the path before its name. One pass: most of a long text is neither. */
function* toolWords(text: string, from = 0, to = text.length): Generator<ToolWord> {
  toolName.lastIndex = from;
  // Others look for names, too, between two steps of this one.
  for (let match = toolName.exec(text); match !== null && match.index < to; match = toolName.exec(text)) {
    const end = toolName.lastIndex;
    const before = text[match.index - 1] ?? ' ';
    let start = match.index;
    if ('/\\'.includes(before)) while (start > from && /[\w./\\~${}-]/.test(text[start - 1]!)) start -= 1;
    if (start < match.index || start === from || !/[\w./-]/.test(before))
      yield { tool: match[1] as FoundFlag['tool'], start, end };
    toolName.lastIndex = end;
  }
}

/** Flags of Polygraphy that are gone since 0.49.7 (source: its options at 22 tags, 2026-11), and what to do instead. */
export const polygraphyFlags: Readonly<Record<string, string>> = {
  '--workspace': 'Use --pool-limit workspace:SIZE.',
  '--strict-types': 'Use --precision-constraints obey.',
  '--save-uff': 'Import the network as ONNX.',
  '--uff-order': 'Import the network as ONNX.',
  '--preprocessor': 'Import the network as ONNX.',
};

/** What Polygraphy sets for flags that it still has, and the builder has not: `[name, since]`. */
export const polygraphySets: Readonly<Record<string, readonly [name: string, since: string]>> = {
  '--fp16': ['BuilderFlag.FP16', '11.0'],
  '--bf16': ['BuilderFlag.BF16', '11.0'],
  '--int8': ['BuilderFlag.INT8', '11.0'],
};

/** Flags in a shell script or YAML file: those behind the tool's name, to the end of its command. */
export function flagsInShell(text: string, isYaml: boolean): FoundFlag[] {
  const code = maskShell(text);
  // A command goes on behind a backslash; in YAML also in lines that begin with a flag, of a list or of folded text.
  const end = isYaml ? /[;|&`]|\n(?![ \t]*(?:- *)?["']?-)/g : /[;|&`\n]/g;
  const found: FoundFlag[] = [];
  let done = 0;
  for (const word of toolWords(code)) {
    if (word.start < done) continue;
    end.lastIndex = word.end;
    let stop = end.exec(code);
    while (stop?.[0] === '\n' && /\\\r?$/.test(code.slice(stop.index - 2, stop.index))) stop = end.exec(code);
    done = stop?.index ?? code.length;
    addFlags(found, text, word.tool, { start: word.end, end: done }, [code.slice(word.start, done)]);
  }
  return found;
}

/** Flags in the strings of a program: of the string that names the tool, and of those behind it in the same statement. */
export function flagsInStrings(text: string, { code, strings }: MaskedSource): FoundFlag[] {
  const found: FoundFlag[] = [];
  let done = 0;
  for (const [index, string] of strings.entries()) {
    const word = string.start < done ? undefined : toolWords(text, string.start, string.end).next().value;
    if (word === undefined) continue;
    done = endOfStatement(code, string.end);
    const parts = strings.slice(index).filter(({ start }) => start < done);
    const command = parts.map(({ start, end }) => text.slice(Math.max(start, word.start), end));
    for (const { start, end } of parts)
      addFlags(found, text, word.tool, { start: start === string.start ? word.end : start, end }, command);
  }
  return found;
}

/** So far back an opening bracket is looked for. */
const mostBack = 4000;

/** Where the round or square brackets around a place close; outside of any, where its line or statement ends. */
function endOfStatement(code: string, from: number): number {
  let closed = 0;
  let around = '';
  for (let at = from - 1; at >= Math.max(0, from - mostBack) && around === ''; at--) {
    const char = code[at]!;
    if (')]}'.includes(char)) closed += 1;
    else if ('([{'.includes(char)) {
      if (closed === 0) around = char;
      else closed -= 1;
    }
  }
  const enclosed = around === '(' || around === '[';
  let depth = 0;
  for (let at = from; at < code.length; at++) {
    const char = code[at]!;
    if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char) && --depth < 0) return at;
    else if (!enclosed && depth <= 0 && (char === '\n' || char === ';')) return at;
  }
  return code.length;
}

function addFlags(
  found: FoundFlag[],
  text: string,
  tool: FoundFlag['tool'],
  { start, end }: TextPart,
  command: readonly string[],
): void {
  const part = text.slice(start, end);
  flagWord.lastIndex = 0;
  for (let match = flagWord.exec(part); match !== null; match = flagWord.exec(part)) {
    const { index, 0: word } = match;
    if (index > 0 && /[\w-]/.test(part[index - 1]!)) continue;
    const equals = word.indexOf('=');
    const flag = equals < 0 ? word : word.slice(0, equals);
    const value = equals < 0 ? null : word.slice(equals + 1);
    found.push({ tool, flag, value, command, start: start + index, end: start + index + flag.length });
  }
}

/** Text that does the same as a flag that is gone, in place of the flag and its value; null: none does. */
export function flagInstead({ tool, flag, value }: FoundFlag): string | null {
  if (tool === 'polygraphy') return null;
  if (trtexecFlags[flag] === undefined) return null;
  switch (flag) {
    case '--workspace':
      return value !== null && /^\d+$/.test(value) ? `--memPoolSize=workspace:${value}` : null;
    case '--buildOnly':
      return '--skipInference';
    case '--weightless':
      return '--stripWeights';
    case '--restricted':
      return '--safe';
    case '--heuristic':
      return '--builderOptimizationLevel=2';
    case '--explicitBatch':
    case '--explicitPrecision':
    case '--nativeInstanceNorm':
      return '';
    default:
      return null;
  }
}
