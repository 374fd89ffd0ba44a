import { RegExpParser, type AST } from '@eslint-community/regexpp';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'oxc-parser';

/** A pattern of the sources, and where it is. */
export interface SourcePattern {
  place: string;
  pattern: RegExp;
}

/** Every regular expression that is written in the files of a folder of src, wherever in them it is. */
export function patternsIn(folder: string): SourcePattern[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => literalsOf(join(folder, file), readFileSync(join(folder, file), 'utf8')));
}

/** The regular expressions in a source text. */
export function literalsOf(file: string, source: string): SourcePattern[] {
  const found: SourcePattern[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, regex, start } = node as { type?: string; regex?: { pattern: string; flags: string }; start: number };
    if (type === 'Literal' && regex)
      found.push({
        place: `${file}:${source.slice(0, start).split('\n').length}`,
        pattern: new RegExp(regex.pattern, regex.flags.replace('g', '')),
      });
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(file, source).program);
  return found;
}

/**
 * The longest time in milliseconds that a pattern takes for a line of a length that is made against it: what it matches up
 * to any of its elements, again and again. Static analysis finds only what repeats next to what repeats; this also finds a
 * word, anything, another word, anything (`condition: .*strlen.*4096`), which takes the third power of the line.
 * @param enough milliseconds at which it stops to look for a worse line
 */
export function slowestLine(pattern: RegExp, length: number, enough: number): { time: number; line: string } {
  const flags = { unicode: pattern.unicode, unicodeSets: pattern.flags.includes('v') };
  const { alternatives } = new RegExpParser().parsePattern(pattern.source, undefined, undefined, flags);
  let worst = { time: 0, line: '' };
  const seen = new Set<string>();
  for (const { before, repeated } of beginnings(alternatives, ''))
    for (const end of ['', '\u0001', '\n']) {
      if (repeated === '' || seen.size >= MOST_LINES || worst.time > enough) continue;
      const line = before + repeated.repeat(Math.ceil(length / repeated.length)).slice(0, length) + end;
      if (seen.has(line)) continue;
      seen.add(line);
      let time = timeOf(pattern, line);
      // The machine may have been busy.
      for (let again = 0; time > enough && again < 2; again++) time = Math.min(time, timeOf(pattern, line));
      if (time > worst.time) worst = { time, line };
    }
  return worst;
}

const MOST_LINES = 200;

/** How long it takes to look for a pattern in a line, in milliseconds. */
export function timeOf(pattern: RegExp, line: string): number {
  pattern.lastIndex = 0;
  // However busy the machine is.
  const start = process.cpuUsage();
  pattern.test(line);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** What to repeat, and what to put before it. */
function* beginnings(
  alternatives: readonly AST.Alternative[],
  start: string,
): Generator<{ before: string; repeated: string }> {
  for (const { elements } of alternatives) {
    let word = start;
    for (const element of elements) {
      if (element.type === 'Quantifier') {
        const inner = wordOf(element.element);
        if (element.max > 50) yield { before: word, repeated: inner || 'a' };
        if ('alternatives' in element.element) yield* beginnings(element.element.alternatives, word);
        yield { before: '', repeated: word + inner };
      } else if ('alternatives' in element) yield* beginnings(element.alternatives, word);
      word += wordOf(element);
      yield { before: '', repeated: word };
    }
  }
}

/** A short text that an element matches; '' for what matches a place. */
function wordOf(element: AST.Element): string {
  switch (element.type) {
    case 'Character':
      return String.fromCodePoint(element.value);
    case 'CharacterSet':
    case 'CharacterClass':
      return (
        `a1 ,:.)"'-_A\n;=/|([{}]<>@#%&*+!?\`$~^\\\t`
          .split('')
          .find((char) => new RegExp(element.raw, element.raw.includes('\\u{') ? 'u' : '').test(char)) ?? '\u00E9'
      );
    case 'Quantifier':
      return wordOf(element.element).repeat(Math.min(element.min, 3));
    case 'Group':
    case 'CapturingGroup':
      return element.alternatives[0]!.elements.map(wordOf).join('');
    default:
      return '';
  }
}
