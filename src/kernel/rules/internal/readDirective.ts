import { closestWords } from '../../base/text.ts';
import {
  type Directive,
  directiveNames,
  type Fix,
  precisionType,
  problemAt,
  quoteName,
  replaceRange,
  type TextRange,
  type WordToken,
} from '../overrideFile.ts';
import type { LineText } from './lineText.ts';
import { flawText, insertAt } from '../readerFixes.ts';

const directiveValues: Readonly<Record<string, readonly string[]>> = {
  base: ['keep', 'fp16', 'bf16'],
  require: ['obey', 'prefer'],
};

/** Directives whose value is a path: what it is the path of. */
const paths: Readonly<Partial<Record<Directive['name'], string>>> = {
  model: 'the path of the model',
  scales: 'the path of a calibration cache or of samples',
};

export function isDirective(word: WordToken): boolean {
  return !word.quoted && word.prefix === null && word.negations === 0 && directiveNames.includes(word.text);
}

/** `base fp16`: a directive and its value. What is wrong goes to the line's problems; `usable` is then false. */
export function readDirective(source: LineText, first: WordToken): Directive {
  const name = first.text as Directive['name'];
  const rest = source.tokens.slice(1);
  const start = rest[0]?.start ?? first.end;
  const end = source.end();
  const range = source.range(first.start, end);
  const valueRange = source.range(start, end);
  const one = rest.length === 1 && rest[0]?.kind === 'word' ? rest[0] : null;
  const value = one?.quoted ? one.text : source.text.slice(start, end).trim();
  const directive: Directive = { kind: 'directive', name, value, valueRange, range, usable: true };
  const wrong = (message: string, fixes: Fix[] = []) => {
    directive.usable = false;
    source.problems.push(problemAt(rest.length ? valueRange : range, 'error', 'bad-directive', message, fixes));
  };
  if (value === '') {
    directive.value = null;
    const what = paths[name] ?? list(name);
    const values = (directiveValues[name] ?? []).map((word) => ` ${word}`);
    wrong(`Write ${what} after "${name}".`, insertAt(source.line, first.end + 1, values, 'Write'));
  } else if (one?.flaw) {
    wrong(flawText(one), source.flawFixes(one));
  } else if (paths[name] === undefined && !directiveValues[name]?.includes(value)) {
    wrong(
      `"${name}" expects ${list(name)}. If a node is named "${name}", put the name in double quotes.`,
      valueFixes(source, first, value, valueRange),
    );
  }
  return directive;
}

/** The value that is meant, by its spelling or as a type by another name, and the name of a node in quotes. */
function valueFixes(source: LineText, first: WordToken, value: string, range: TextRange): Fix[] {
  const values = directiveValues[first.text] ?? [];
  const type = precisionType(value);
  const meant = type !== null && values.includes(type) ? [type] : type === 'fp32' ? ['keep'] : [];
  const near = meant.length > 0 ? meant : closestWords(value.toLowerCase(), values, 1);
  const fixes: Fix[] = (near.length > 0 ? near : values).map((word) => ({
    title: `Change to "${word}"`,
    edits: [replaceRange(range, word)],
  }));
  if (type !== null) {
    const quoted = quoteName(first.text);
    fixes.push({
      title: `Change to the node name ${quoted}`,
      edits: [replaceRange(source.range(first.start, first.end), quoted)],
    });
  }
  return fixes;
}

function list(name: string): string {
  return (directiveValues[name] ?? []).map((word) => `"${word}"`).join(' or ');
}
