import type { BuildLog, LogMessage } from '../../formats/tensorrt/buildOutput.ts';

/** More lines than this are no message that a terminal broke. */
const MOST_JOINED = 12;

/** Lines without a prefix that follow one another. */
export function* strayBlocks({ strays = [] }: BuildLog): Generator<LogMessage[]> {
  for (let from = 0; from < strays.length;) {
    let to = from + 1;
    while (to < strays.length && to - from < MOST_JOINED && strays[to]!.line === strays[to - 1]!.line + 1) to++;
    yield strays.slice(from, to).flatMap(({ line, text }) => (isCode(text) ? [] : [strayEvent(line, text)]));
    from = to;
  }
}

/** How long a prefix may be that was taken off the first line of a text. */
const LONGEST_PREFIX = 40;

/**
 * The lines of a text by what a terminal or mail may have broken into them: one after which the next word had room, and
 * that does not announce more, was the end of what it says.
 */
export function brokenLines(text: string): string[][] {
  const [first = '', ...others] = text.split('\n');
  const width = Math.max(first.length, ...others.map((line) => line.length));
  const found = [[first]];
  let before = first;
  let end = first.length + LONGEST_PREFIX;
  for (const line of others) {
    const word = /^\s*\S*/.exec(line)![0].length;
    if (end + 1 + word > width || /[:,(=\s]$/.test(before)) found.at(-1)!.push(line);
    else found.push([line]);
    before = line;
    end = line.length;
  }
  return found;
}

/** Marks and words by which programs say that they go on after a line. */
const WARNS =
  /^\W{0,8}WARN(?:ING)?\b|^\S*:\d+: \w*Warning: |\b(?:User|Future|Runtime|Deprecation|Import)Warning: |^W\d{4} [\d:.]+ |: W tensorflow\/|\[W:onnxruntime|\b(?:continuing without|will be disabled|[Ff]alling back to)\b|[-\]] WARN(?:ING)? |GStreamer-WARNING|\b0x[\da-f]+ +WARN +nvinfer |\[(?: ?WARN\w*|warning)[:\d@. ]*\]/;

/** Source code that was pasted, or that a traceback shows: it says what may fail, not what did. */
const CODE =
  /^\s*(?:raise [\w.]+\(|raise \w+$|except\b[^\n]*:\s*(?:#.*)?$|import \w+(?:\.\w+)*(?: as \w+)?$|from [\w.]+ import \w|print\(|logg(?:er|ing)\.\w+\(|throw [\w:]+[({]|(?:if|while|for) ?\([^\n]*[{;]\s*$|signal\.signal\(|#include\b)|\bstd::c(?:out|err) ?<<|[;{]\s*$(?<=\b(?:throw|return|cudaMalloc|fprintf|printf)\b[^\n]*)/;

export const marksWarning = (text: string): boolean => WARNS.test(text);
export const isCode = (text: string): boolean => CODE.test(text);

export const strayEvent = (line: number, text: string): LogMessage => ({
  severity: marksWarning(text) ? 'warning' : 'error',
  text,
  line,
  code: null,
  subject: null,
  library: false,
});
