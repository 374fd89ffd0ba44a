import { closestWords } from './closestWords.ts';
import { lexOverrideLine } from './lexOverrideLine.ts';
import type { OverrideToken, WordToken } from './lexOverrideLine.ts';
import type { Directive, OverrideLine, Rule, Selector, TypeWord } from './overrideFile.ts';
import { problemAt, replaceRange } from './precisionProblem.ts';
import type { Fix, PrecisionProblem, TextRange } from './precisionProblem.ts';
import { precisionType, precisionTypes } from './precisionType.ts';
import { quoteName } from './quoteName.ts';
import {
  closeQuote,
  colonBeforeType,
  commentOut,
  directiveMeant,
  directiveNames,
  flawText,
  insertAt,
  mendEscapes,
  putInQuotes,
  typeFixes,
} from './readerFixes.ts';

const directiveValues: Readonly<Record<string, readonly string[]>> = {
  base: ['keep', 'fp16', 'bf16'],
  require: ['obey', 'prefer'],
};

/** Reads one line of an override file, counted from 1. Never throws. */
export function readOverrideLine(text: string, line: number): OverrideLine {
  return new LineReader(text, line).read();
}

/** Recursive descent over one line; `problems` collects what is wrong. */
class LineReader {
  private readonly problems: PrecisionProblem[] = [];
  private readonly tokens: OverrideToken[];
  private readonly comment: OverrideToken | undefined;
  private readonly text: string;
  private readonly line: number;
  private at = 0;

  constructor(text: string, line: number) {
    this.text = text;
    this.line = line;
    const all = lexOverrideLine(text);
    this.comment = all.at(-1)?.kind === 'comment' ? all.pop() : undefined;
    this.tokens = all;
  }

  read(): OverrideLine {
    const comment = this.comment && {
      text: this.text.slice(this.comment.start, this.comment.end),
      range: this.range(this.comment.start, this.comment.end),
    };
    const statement = this.statement();
    for (const { fixes } of this.problems)
      if (fixes.length === 0) fixes.push(commentOut(this.line, (this.tokens[0]?.start ?? 0) + 1));
    return { text: this.text, statement, comment: comment ?? null, problems: this.problems };
  }

  private statement(): Rule | Directive | null {
    const first = this.tokens[0];
    if (first === undefined) return null;
    if (first.kind === 'word' && isDirective(first) && this.tokens[1]?.kind !== 'comma') return this.directive(first);
    return this.rule();
  }

  private directive(first: WordToken): Directive {
    const name = first.text as Directive['name'];
    const rest = this.tokens.slice(1);
    const start = rest[0]?.start ?? first.end;
    const end = this.end();
    const range = this.range(first.start, end);
    const valueRange = this.range(start, end);
    const one = rest.length === 1 && rest[0]?.kind === 'word' ? rest[0] : null;
    const value = one?.quoted ? one.text : this.text.slice(start, end).trim();
    const directive: Directive = { kind: 'directive', name, value, valueRange, range, usable: true };
    const wrong = (message: string, fixes: Fix[] = []) => {
      directive.usable = false;
      this.problems.push(problemAt(rest.length ? valueRange : range, 'error', 'bad-directive', message, fixes));
    };
    if (value === '') {
      directive.value = null;
      const what = name === 'model' ? 'the path of the model' : list(name);
      const values = (directiveValues[name] ?? []).map((word) => ` ${word}`);
      wrong(`Write ${what} after "${name}".`, insertAt(this.line, first.end + 1, values, 'Write'));
    } else if (one?.flaw) {
      wrong(flawText(one), this.flawFixes(one));
    } else if (name !== 'model' && !directiveValues[name]?.includes(value)) {
      wrong(
        `"${name}" expects ${list(name)}. If a node is named "${name}", put the name in double quotes.`,
        this.valueFixes(first, value, valueRange),
      );
    }
    return directive;
  }

  /** The value that is meant, by its spelling or as a type by another name, and the name of a node in quotes. */
  private valueFixes(first: WordToken, value: string, range: TextRange): Fix[] {
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
        edits: [replaceRange(this.range(first.start, first.end), quoted)],
      });
    }
    return fixes;
  }

  private rule(): Rule {
    const selectors = this.selectors();
    const typeStart = this.at;
    const words = this.tokens.slice(typeStart).filter((token) => token.kind === 'word');
    const start = this.tokens[0]?.start ?? 0;
    const rule: Rule = {
      kind: 'rule',
      text: this.text.slice(start, this.end()),
      range: this.range(start, this.end()),
      selectors,
      type: null,
      outputs: [],
      usable: true,
    };
    const next = this.tokens[this.at];
    const unclosed = this.tokens.find((token) => token.kind === 'word' && token.flaw === 'unclosed');
    if (unclosed?.kind === 'word') {
      this.flaw(unclosed);
      return { ...rule, usable: false };
    }
    if (next?.kind === 'word' && words.length > 1 && !isType(next) && this.unquotedName(words)) {
      return { ...rule, usable: false };
    }
    this.types(rule);
    this.checkSelectors(rule);
    rule.usable = !this.problems.some((problem) => problem.severity === 'error');
    return rule;
  }

  private selectors(): Selector[] {
    const selectors: Selector[] = [];
    for (;;) {
      const token = this.tokens[this.at];
      if (token?.kind !== 'word') {
        const at = token ?? { start: this.end(), end: this.end() };
        this.error(
          at.start,
          at.end,
          'missing-selector',
          'Expected a name, a pattern, "op:", "group:" or "not:" here.',
          this.commaFixes(),
        );
      } else {
        selectors.push(this.selector(token));
        this.at++;
      }
      if (this.tokens[this.at]?.kind !== 'comma') return selectors;
      this.at++;
    }
  }

  /** A comma with nothing before or after it goes. */
  private commaFixes(): Fix[] {
    const here = this.tokens[this.at];
    const comma = here?.kind === 'comma' ? here : this.tokens[this.at - 1];
    if (comma?.kind !== 'comma') return [];
    const gap = this.range(comma.start, comma.end);
    return [{ title: 'Remove the comma', edits: [replaceRange(gap, '')], preferred: true }];
  }

  private selector(word: WordToken): Selector {
    const { prefix, quoted } = word;
    const colons = prefix === 'op' ? word.text.lastIndexOf('::') : -1;
    return {
      kind: prefix ?? (!quoted && /[*?[]/.test(word.text) ? 'glob' : 'name'),
      negated: word.negations > 0,
      quoted,
      text: colons < 0 ? word.text : word.text.slice(colons + 2),
      domain: colons < 0 ? null : word.text.slice(0, colons),
      range: this.range(word.start, word.end),
      textRange: this.range(word.textStart, word.end),
    };
  }

  private checkSelectors(rule: Rule): void {
    const words = this.tokens.filter((token) => token.kind === 'word').slice(0, rule.selectors.length);
    this.pointwise(words);
    for (const [i, selector] of rule.selectors.entries()) {
      const word = words[i];
      if (word?.flaw) this.flaw(word);
      const negations = word?.negations ?? 0;
      if (negations > 1) {
        this.problems.push(
          problemAt(selector.range, 'error', 'double-not', '"not:" is repeated. Write it once.', [
            {
              title: 'Write "not:" once',
              edits: [replaceRange({ ...selector.range, endColumn: selector.range.column + 4 * (negations - 1) }, '')],
              preferred: true,
            },
          ]),
        );
      } else if (selector.negated && i === 0) {
        const message = '"not:" has nothing to exclude from. Put a selector before it, such as "**".';
        const fix = {
          title: 'Put "**" first',
          edits: [replaceRange({ ...selector.range, endColumn: selector.range.column }, '**, ')],
        };
        this.problems.push(problemAt(selector.range, 'error', 'not-without-selector', message, [fix]));
      }
      if (selector.text !== '') continue;
      const what = {
        op: 'an operator type, such as op:Softmax',
        group: "a ForeignNode's name",
        name: 'a name',
        glob: 'a name',
      };
      this.problems.push(problemAt(selector.range, 'error', 'empty-selector', `Write ${what[selector.kind]} here.`));
    }
  }

  /** `PWN(a, b)`: a fused layer's name, cut at its commas. */
  private pointwise(words: WordToken[]): void {
    let open = 0;
    let start = -1;
    for (const word of words) {
      if (start < 0 && (word.quoted || word.prefix !== null || !word.text.startsWith('PWN('))) continue;
      open += word.text.split('(').length - word.text.split(')').length;
      if (start < 0 && open > 0) start = word.textStart;
      if (start < 0 || open > 0) continue;
      const range = this.range(start, word.end);
      const fix = putInQuotes(this.text.slice(start, word.end), range);
      this.problems.push(
        problemAt(range, 'error', 'unquoted-name', 'Put a name that contains commas in double quotes.', [fix]),
      );
      start = -1;
    }
  }

  private types(rule: Rule): void {
    const first = this.tokens[this.at];
    if (first?.kind === 'word') {
      rule.type = this.type(first);
      this.at++;
    } else {
      this.missingType(rule);
    }
    const arrow = this.tokens[this.at];
    if (arrow?.kind === 'arrow') {
      this.at++;
      this.outputTypes(rule, arrow.end);
    }
    const rest = this.tokens[this.at];
    if (rest) {
      const column = rest.start + 1;
      const output = rule.outputs.length === 0 && rest === this.tokens.at(-1) && rest.kind === 'word' && isType(rest);
      const fixes = [
        ...(output ? insertAt(this.line, column, ['-> '], 'Make it the output type:') : []),
        {
          title: 'Make it a comment',
          edits: [replaceRange(this.range(rest.start, rest.start), `${this.gap(rest.start)}# `)],
        },
      ];
      const message = 'Unexpected text at the end of the line. A comment starts with a space and "#".';
      this.error(rest.start, this.end(), 'unexpected-text', message, fixes);
    }
  }

  private outputTypes(rule: Rule, arrowEnd: number): void {
    for (;;) {
      const token = this.tokens[this.at];
      if (token?.kind !== 'word') {
        const column = (token?.start ?? this.end()) + 1;
        const fixes = insertAt(this.line, column, [' fp32', ' fp16'], 'Write');
        this.error(arrowEnd - 2, this.end(), 'missing-type', 'Write an output type here, such as fp32.', fixes);
        return;
      }
      rule.outputs.push(this.type(token));
      this.at++;
      if (this.tokens[this.at]?.kind !== 'comma') return;
      this.at++;
    }
  }

  private type(word: WordToken): TypeWord {
    const range = this.range(word.start, word.end);
    const text = this.text.slice(word.start, word.end);
    const type = isType(word) ? precisionType(word.text) : null;
    if (type === null) {
      const message = `"${text}" is not a type. Types are ${precisionTypes.join(', ')}.`;
      this.problems.push(problemAt(range, 'error', 'unknown-type', message, typeFixes(text, range, this.meant())));
    }
    return { type, text, range };
  }

  /** `mdoel ./net.onnx`, `fp32 /a`: what is meant by a line of two words of which the second is not a type. */
  private meant(): Fix[] {
    const [first, second] = this.tokens;
    if (this.tokens.length > 2 || first?.kind !== 'word' || first.quoted || first.prefix !== null) return [];
    if (!isType(first) || !second) return directiveMeant(first.text, this.range(first.start, first.end), false);
    const turned = replaceRange(
      this.range(first.start, second.end),
      `${this.text.slice(second.start, second.end)} ${first.text}`,
    );
    return [{ title: `Add ${first.text} after it`, edits: [turned], preferred: true }];
  }

  /** `a, fp32`: the comma made the type a selector. */
  private missingType(rule: Rule): void {
    // The comma with nothing after it is told already.
    if (this.tokens.at(-1)?.kind === 'comma') return;
    const last = rule.selectors.at(-1);
    const before = rule.selectors.at(-2);
    const end = this.tokens[this.at]?.start ?? this.end();
    if (last && before && last.kind === 'name' && !last.quoted && !last.negated && precisionType(last.text) !== null) {
      const gap = { line: this.line, column: before.range.endColumn, endColumn: last.range.column };
      const fix = { title: `Make ${last.text} the type`, edits: [replaceRange(gap, ' ')], preferred: true };
      const message = `The type is missing: because of the comma, "${last.text}" is read as a name. Remove the comma.`;
      this.problems.push(problemAt(last.range, 'error', 'missing-type', message, [fix]));
      return;
    }
    if (last && this.typeBehindColon(last)) return;
    const arrow = this.tokens[this.at]?.kind === 'arrow';
    const gap = this.gap(end);
    const types = arrow ? [`${gap}fp32 `, `${gap}fp16 `] : [' fp32', ' fp16'];
    const fixes = insertAt(this.line, end + 1, types, 'Write');
    const message = arrow
      ? 'Expected a compute type before the arrow, such as fp32.'
      : 'Expected a type at the end of the rule, such as fp32.';
    this.error(this.tokens[0]?.start ?? 0, end, 'missing-type', message, fixes);
  }

  /** `/a:fp32`, as trtexec writes it. */
  private typeBehindColon(last: Selector): boolean {
    const colon = last.quoted || last.kind === 'group' ? null : colonBeforeType(last.text);
    if (colon === null) return false;
    const at = last.textRange.endColumn - (last.text.length - colon);
    const fix = {
      title: `Make ${last.text.slice(colon + 1)} the type`,
      edits: [replaceRange({ ...last.textRange, column: at, endColumn: at + 1 }, ' ')],
      preferred: true,
    };
    const message = 'Write the type after a space, not after a colon as in trtexec.';
    this.problems.push(problemAt(last.range, 'error', 'missing-type', message, [fix]));
    return true;
  }

  /** `A + B fp32`: a name with spaces that is not in quotes. `op: Softmax fp32`: a space behind a prefix. */
  private unquotedName(words: WordToken[]): boolean {
    const stop = this.tokens.findIndex((token, i) => i >= this.at && token.kind === 'arrow');
    const before = this.tokens.slice(0, stop < 0 ? undefined : stop).filter((token) => token.kind === 'word');
    const last = before.at(-1);
    const first = this.tokens[this.at - 1];
    if (last === undefined || first?.kind !== 'word' || !isType(last) || !words.includes(last)) return false;
    const name = this.text.slice(first.start, last.start).trimEnd();
    const range = this.range(first.start, first.start + name.length);
    const prefix = first.text === '' && !first.quoted ? this.text.slice(first.start, first.end) : '';
    const blank = this.range(first.end, this.tokens[this.at]?.start ?? first.end);
    const [message, fix]: [string, Fix] =
      prefix === ''
        ? ['Put a name that contains spaces in double quotes.', putInQuotes(name, range)]
        : [
            `Remove the space after "${prefix}".`,
            { title: 'Remove the space', edits: [replaceRange(blank, '')], preferred: true },
          ];
    this.problems.push(problemAt(range, 'error', 'unquoted-name', message, [fix]));
    return true;
  }

  private flaw(word: WordToken): void {
    const range = this.range(word.textStart, word.end);
    const code = word.flaw === 'unclosed' ? 'unclosed-quote' : word.flaw === 'escape' ? 'bad-escape' : 'unquoted-name';
    this.problems.push(problemAt(range, 'error', code, flawText(word), this.flawFixes(word)));
  }

  private flawFixes(word: WordToken): Fix[] {
    const range = this.range(word.textStart, word.end);
    if (word.flaw === 'unclosed') return [closeQuote(this.text, range)];
    if (word.flaw === 'escape') return [mendEscapes(this.text, range)];
    return [putInQuotes(word.text, range)];
  }

  private error(start: number, end: number, code: string, message: string, fixes: Fix[] = []): void {
    this.problems.push(problemAt(this.range(start, Math.max(start, end)), 'error', code, message, fixes));
  }

  /** The blank to write at a place that has none before it, such as at the arrow of `/a->fp16`. */
  private gap(at: number): '' | ' ' {
    return at === 0 || /\s/.test(this.text.charAt(at - 1)) ? '' : ' ';
  }

  private range(start: number, end: number): TextRange {
    return { line: this.line, column: start + 1, endColumn: end + 1 };
  }

  /** Where the statement ends, without the comment. */
  private end(): number {
    return this.tokens.at(-1)?.end ?? 0;
  }
}

function isDirective(word: WordToken): boolean {
  return !word.quoted && word.prefix === null && word.negations === 0 && directiveNames.includes(word.text);
}

function isType(word: WordToken): boolean {
  return !word.quoted && word.prefix === null && word.negations === 0 && precisionType(word.text) !== null;
}

function list(name: string): string {
  return (directiveValues[name] ?? []).map((word) => `"${word}"`).join(' or ');
}
