import {
  type Directive,
  type Fix,
  type OverrideLine,
  precisionType,
  precisionTypes,
  problemAt,
  replaceRange,
  type Rule,
  type Selector,
  type TypeWord,
  type WordToken,
} from '../overrideFile.ts';
import { LineText } from './lineText.ts';
import { isDirective, readDirective } from './readDirective.ts';
import { colonBeforeType, commentOut, directiveMeant, insertAt, putInQuotes, typeFixes } from '../readerFixes.ts';

/** Reads one line of an override file, counted from 1. Never throws. */
export function readOverrideLine(text: string, line: number): OverrideLine {
  return new LineReader(new LineText(text, line)).read();
}

/** Recursive descent over one line. */
class LineReader {
  readonly #source: LineText;
  #at = 0;

  constructor(source: LineText) {
    this.#source = source;
  }

  read(): OverrideLine {
    const comment = this.#source.comment && {
      text: this.#source.text.slice(this.#source.comment.start, this.#source.comment.end),
      range: this.#source.range(this.#source.comment.start, this.#source.comment.end),
    };
    const statement = this.statement();
    for (const { fixes } of this.#source.problems)
      if (fixes.length === 0) fixes.push(commentOut(this.#source.line, (this.#source.tokens[0]?.start ?? 0) + 1));
    return { text: this.#source.text, statement, comment: comment ?? null, problems: this.#source.problems };
  }

  private statement(): Rule | Directive | null {
    const first = this.#source.tokens[0];
    if (first === undefined) return null;
    if (first.kind === 'word' && isDirective(first) && this.#source.tokens[1]?.kind !== 'comma')
      return readDirective(this.#source, first);
    return this.rule();
  }

  private rule(): Rule {
    const selectors = this.selectors();
    const typeStart = this.#at;
    const words = this.#source.tokens.slice(typeStart).filter((token) => token.kind === 'word');
    const start = this.#source.tokens[0]?.start ?? 0;
    const rule: Rule = {
      kind: 'rule',
      text: this.#source.text.slice(start, this.#source.end()),
      range: this.#source.range(start, this.#source.end()),
      selectors,
      type: null,
      outputs: [],
      usable: true,
    };
    const next = this.#source.tokens[this.#at];
    const unclosed = this.#source.tokens.find((token) => token.kind === 'word' && token.flaw === 'unclosed');
    if (unclosed?.kind === 'word') {
      this.#source.flaw(unclosed);
      return { ...rule, usable: false };
    }
    if (next?.kind === 'word' && words.length > 1 && !isType(next) && this.unquotedName(words)) {
      return { ...rule, usable: false };
    }
    this.types(rule);
    this.checkSelectors(rule);
    rule.usable = !this.#source.problems.some((problem) => problem.severity === 'error');
    return rule;
  }

  private selectors(): Selector[] {
    const selectors: Selector[] = [];
    for (;;) {
      const token = this.#source.tokens[this.#at];
      if (token?.kind !== 'word') {
        const at = token ?? { start: this.#source.end(), end: this.#source.end() };
        this.#source.error(
          at.start,
          at.end,
          'missing-selector',
          'Expected a name, a pattern, "op:", "group:" or "not:" here.',
          this.commaFixes(),
        );
      } else {
        selectors.push(this.selector(token));
        this.#at++;
      }
      if (this.#source.tokens[this.#at]?.kind !== 'comma') return selectors;
      this.#at++;
    }
  }

  /** A comma with nothing before or after it goes. */
  private commaFixes(): Fix[] {
    const here = this.#source.tokens[this.#at];
    const comma = here?.kind === 'comma' ? here : this.#source.tokens[this.#at - 1];
    if (comma?.kind !== 'comma') return [];
    const gap = this.#source.range(comma.start, comma.end);
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
      range: this.#source.range(word.start, word.end),
      textRange: this.#source.range(word.textStart, word.end),
    };
  }

  private checkSelectors(rule: Rule): void {
    const words = this.#source.tokens.filter((token) => token.kind === 'word').slice(0, rule.selectors.length);
    this.pointwise(words);
    for (const [i, selector] of rule.selectors.entries()) {
      const word = words[i];
      if (word?.flaw) this.#source.flaw(word);
      const negations = word?.negations ?? 0;
      if (negations > 1) {
        this.#source.problems.push(
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
        this.#source.problems.push(problemAt(selector.range, 'error', 'not-without-selector', message, [fix]));
      }
      if (selector.text !== '') continue;
      const what = {
        op: 'an operator type, such as op:Softmax',
        group: "a ForeignNode's name",
        name: 'a name',
        glob: 'a name',
      };
      this.#source.problems.push(
        problemAt(selector.range, 'error', 'empty-selector', `Write ${what[selector.kind]} here.`),
      );
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
      const range = this.#source.range(start, word.end);
      const fix = putInQuotes(this.#source.text.slice(start, word.end), range);
      this.#source.problems.push(
        problemAt(range, 'error', 'unquoted-name', 'Put a name that contains commas in double quotes.', [fix]),
      );
      start = -1;
    }
  }

  private types(rule: Rule): void {
    const first = this.#source.tokens[this.#at];
    if (first?.kind === 'word') {
      rule.type = this.type(first);
      this.#at++;
    } else {
      this.missingType(rule);
    }
    const arrow = this.#source.tokens[this.#at];
    if (arrow?.kind === 'arrow') {
      this.#at++;
      this.outputTypes(rule, arrow.end);
    }
    const rest = this.#source.tokens[this.#at];
    if (rest) {
      const column = rest.start + 1;
      const output =
        rule.outputs.length === 0 && rest === this.#source.tokens.at(-1) && rest.kind === 'word' && isType(rest);
      const fixes = [
        ...(output ? insertAt(this.#source.line, column, ['-> '], 'Make it the output type:') : []),
        {
          title: 'Make it a comment',
          edits: [replaceRange(this.#source.range(rest.start, rest.start), `${this.#source.gap(rest.start)}# `)],
        },
      ];
      const message = 'Unexpected text at the end of the line. A comment starts with a space and "#".';
      this.#source.error(rest.start, this.#source.end(), 'unexpected-text', message, fixes);
    }
  }

  private outputTypes(rule: Rule, arrowEnd: number): void {
    for (;;) {
      const token = this.#source.tokens[this.#at];
      if (token?.kind !== 'word') {
        const column = (token?.start ?? this.#source.end()) + 1;
        const fixes = insertAt(this.#source.line, column, [' fp32', ' fp16'], 'Write');
        this.#source.error(
          arrowEnd - 2,
          this.#source.end(),
          'missing-type',
          'Write an output type here, such as fp32.',
          fixes,
        );
        return;
      }
      rule.outputs.push(this.type(token));
      this.#at++;
      if (this.#source.tokens[this.#at]?.kind !== 'comma') return;
      this.#at++;
    }
  }

  private type(word: WordToken): TypeWord {
    const range = this.#source.range(word.start, word.end);
    const text = this.#source.text.slice(word.start, word.end);
    const type = isType(word) ? precisionType(word.text) : null;
    if (type === null) {
      const message = `"${text}" is not a type. Types are ${precisionTypes.join(', ')}.`;
      this.#source.problems.push(
        problemAt(range, 'error', 'unknown-type', message, typeFixes(text, range, this.meant())),
      );
    }
    return { type, text, range };
  }

  /** `mdoel ./net.onnx`, `fp32 /a`: what is meant by a line of two words of which the second is not a type. */
  private meant(): Fix[] {
    const [first, second] = this.#source.tokens;
    if (this.#source.tokens.length > 2 || first?.kind !== 'word' || first.quoted || first.prefix !== null) return [];
    if (!isType(first) || !second) return directiveMeant(first.text, this.#source.range(first.start, first.end), false);
    const turned = replaceRange(
      this.#source.range(first.start, second.end),
      `${this.#source.text.slice(second.start, second.end)} ${first.text}`,
    );
    return [{ title: `Add ${first.text} after it`, edits: [turned], preferred: true }];
  }

  /** `a, fp32`: the comma made the type a selector. */
  private missingType(rule: Rule): void {
    // The comma with nothing after it is told already.
    if (this.#source.tokens.at(-1)?.kind === 'comma') return;
    const last = rule.selectors.at(-1);
    const before = rule.selectors.at(-2);
    const end = this.#source.tokens[this.#at]?.start ?? this.#source.end();
    if (last && before && last.kind === 'name' && !last.quoted && !last.negated && precisionType(last.text) !== null) {
      const gap = { line: this.#source.line, column: before.range.endColumn, endColumn: last.range.column };
      const fix = { title: `Make ${last.text} the type`, edits: [replaceRange(gap, ' ')], preferred: true };
      const message = `The type is missing: because of the comma, "${last.text}" is read as a name. Remove the comma.`;
      this.#source.problems.push(problemAt(last.range, 'error', 'missing-type', message, [fix]));
      return;
    }
    if (last && this.typeBehindColon(last)) return;
    const arrow = this.#source.tokens[this.#at]?.kind === 'arrow';
    const gap = this.#source.gap(end);
    const types = arrow ? [`${gap}fp32 `, `${gap}fp16 `] : [' fp32', ' fp16'];
    const fixes = insertAt(this.#source.line, end + 1, types, 'Write');
    const message = arrow
      ? 'Expected a compute type before the arrow, such as fp32.'
      : 'Expected a type at the end of the rule, such as fp32.';
    this.#source.error(this.#source.tokens[0]?.start ?? 0, end, 'missing-type', message, fixes);
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
    this.#source.problems.push(problemAt(last.range, 'error', 'missing-type', message, [fix]));
    return true;
  }

  /** `A + B fp32`: a name with spaces that is not in quotes. `op: Softmax fp32`: a space behind a prefix. */
  private unquotedName(words: WordToken[]): boolean {
    const stop = this.#source.tokens.findIndex((token, i) => i >= this.#at && token.kind === 'arrow');
    const before = this.#source.tokens.slice(0, stop < 0 ? undefined : stop).filter((token) => token.kind === 'word');
    const last = before.at(-1);
    const first = this.#source.tokens[this.#at - 1];
    if (last === undefined || first?.kind !== 'word' || !isType(last) || !words.includes(last)) return false;
    const name = this.#source.text.slice(first.start, last.start).trimEnd();
    const range = this.#source.range(first.start, first.start + name.length);
    const prefix = first.text === '' && !first.quoted ? this.#source.text.slice(first.start, first.end) : '';
    const blank = this.#source.range(first.end, this.#source.tokens[this.#at]?.start ?? first.end);
    const [message, fix]: [string, Fix] =
      prefix === ''
        ? ['Put a name that contains spaces in double quotes.', putInQuotes(name, range)]
        : [
            `Remove the space after "${prefix}".`,
            { title: 'Remove the space', edits: [replaceRange(blank, '')], preferred: true },
          ];
    this.#source.problems.push(problemAt(range, 'error', 'unquoted-name', message, [fix]));
    return true;
  }
}

function isType(word: WordToken): boolean {
  return !word.quoted && word.prefix === null && word.negations === 0 && precisionType(word.text) !== null;
}
