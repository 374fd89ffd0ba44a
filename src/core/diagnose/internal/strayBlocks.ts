import type { BuildLog, LogMessage } from '../../formats/tensorrt/buildOutput.ts';

/** More lines than this are no message that a terminal broke. */
const MOST_JOINED = 12;

/** Lines without a prefix that follow one another. */
export function* strayBlocks({ strays = [] }: BuildLog): Generator<LogMessage[]> {
  for (let from = 0; from < strays.length;) {
    let to = from + 1;
    while (to < strays.length && to - from < MOST_JOINED && strays[to]!.line === strays[to - 1]!.line + 1) to++;
    const lines = strays.slice(from, to);
    const told = toldIn(lines.map(({ text }) => text));
    yield lines.flatMap(({ line, text }, at) => (told[at] || isCode(text) ? [] : [strayEvent(line, text)]));
    from = to;
  }
}

/** Which lines belong to one before them that says nothing of this run: the help of an option, the source of a warning. */
function toldIn(lines: readonly string[]): boolean[] {
  let within: RegExp | undefined;
  return lines.map((text) => {
    const told = within?.test(text) ?? false;
    if (OPTION.test(text)) within = IN_COLUMN;
    else if (PYTHON_WARNING.test(text)) within = INDENTED;
    else if (!told || within === INDENTED) within = undefined;
    return told || within === IN_COLUMN;
  });
}

const OPTION = /^ {1,8}--?[a-z][\w-]*(?:[ ,=[]|$)/;
const IN_COLUMN = /^(?: {12,}|\t{2,})\S/;
const PYTHON_WARNING = /^\S*:\d+: \w*Warning: /;
const INDENTED = /^ {2}\S/;

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
  /^\W{0,8}(?:WARN(?:ING)?\b|Warning: )|^\S*:\d+: \w*Warning: |\b(?:User|Future|Runtime|Deprecation|Import)Warning: |^W\d{4} [\d:.]+ |: W tensorflow\/|\[W:onnxruntime|\b(?:continuing without|will be disabled|[Ff]alling back to|[Rr]etrying|retry (?:in|with|without))\b|, using [^\n]{1,80} instead\b|[-\]] WARN(?:ING)? |GStreamer-WARNING|\b0x[\da-f]+ +WARN +nvinfer |\[(?: ?WARN\w*|warning)[:\d@. ]*\]/;

/** What is read of a line as a sentence, in characters. */
const MOST_OF_A_SENTENCE = 600;

/** Source code that was pasted, or that a traceback shows: it says what may fail, not what did. */
const CODE =
  /^\s*(?:raise [\w.]+\(|raise \w+$|except\b[^\n]*:\s*(?:#.*)?$|import \w+(?:\.\w+)*(?: as \w+)?$|from [\w.]+ import \w|print\(|echo ["']|logg(?:er|ing)\.\w+\(|throw [\w:]+[({]|(?:if|while|for) ?\([^\n]*[{;]\s*$|signal\.signal\(|#include\b)|\bstd::c(?:out|err) ?<<|[;{]\s*$(?<=\b(?:throw|return|cudaMalloc|fprintf|printf)\b[^\n]*)/;

/** More of it: a call or a string with the words of a message, a statement that prints them, a comment, a row of an enumeration. */
const WORDS_IN_CODE =
  /^(?:\S+:\d+:)?\s*(?:(?!\w*(?:Error|Exception)\()[\w.:]+(?:->\w+)*\((?!\))[^\n"']*(?<=[(, =fru])["'][^\n]*\)[;,]?$|[A-Z][A-Z_]+\([^\n]*\);$|assert [^\n]+, f?["']|\/\/ ?\S|#define )|\w << ["']|[;{]\s*\/\/ |^\s+(?:# |[fru]?(["'])(?!\w*(?:Error|Exception): )(?:(?!\1)[^\n])*\1(?:\.format\(|\)|,?$))|^\s*(?:CUDA_ERROR_|cudaError)\w+\s*=\s*\d+,?$|^\s*This indicates that /;

/** What was repaired, or what a test was named after: lines of change lists and of programs that run tests. */
const TOLD =
  /^(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,10} (?:[A-Z][a-z]+ |\[?\w+(?:\(\w+\))?(?:\]|: ))|^\s*[-*•]\s+(?:\[[\w-]+\]\s*|\w+(?:\(\w+\))?:\s*)?(?:Fix(?:e[sd])?|Revert(?:ed|s)?|Resolved?)\b|^\s*\d+\/\d+ Test +#\d+: [^\n]*Passed\b|^\[ +(?:RUN|OK) +\]|^\S+::\w+\S* PASSED(?: +\[ *\d+%\])?$/;

/** A sentence that quotes a message to speak about it in general, or as one that is over. */
const QUOTED =
  /(?:\b(?:when(?:ever)?|if|in case) (?:you|users?|anyone|someone|it|trtexec|the (?:log|program)) (?:sees?|gets?|hits?|prints?|reports?|says?|encounters?)\b|\b(?:users|people|those|anyone|someone) (?:who|that) (?:get|see|hit|encounter)s?\b|^(?:this|that|it) (?:fix|solv|resolv|avoid)\w+ |\b(?:I|we) (?:no longer|used to) (?:get|see|have) )[^\n.:;]{0,40}?["'`“‘]|^(?:(?:the|this) (?:error|message|warning) |I know (?:that )?)?["'`“‘][^\n]{4,200}?["'`”’] means (?!what)/i;

/** Marks of a line in which a program only reports its work. */
const INFORMS =
  /^(?:\[?INFO\b|I\d{4} [\d:.]+ |[^\n]{0,60}(?:- INFO -|: I tensorflow\/|\[I:onnxruntime|[-\]] INFO |\[INFO\]))[^\n]*$/;

/** Words of one who has that failure all the same. */
const STILL = /\b(?:I|we) (?:still |also |now |just )?(?:get|got|see|have|had|hit)\b|\bnow\b[^\n]*(?:fail|error|crash)/;

export const marksWarning = (text: string): boolean => WARNS.test(text);
export const isCode = (text: string): boolean =>
  CODE.test(text) || WORDS_IN_CODE.test(text) || TOLD.test(text) || onlyQuotes(text.slice(0, MOST_OF_A_SENTENCE));
const onlyQuotes = (text: string): boolean => QUOTED.test(text) && !STILL.test(text);
export const marksInfo = (text: string): boolean => INFORMS.test(text);

export const strayEvent = (line: number, text: string): LogMessage => ({
  severity: marksWarning(text) ? 'warning' : 'error',
  text,
  line,
  code: null,
  subject: null,
  library: false,
});
