import { addProblem, type FileContext } from '../../../kernel/rules/precisionPlan.ts';
import { type Fix, removeLine, replaceRange, type Rule, type Selector } from '../../../kernel/rules/overrideFile.ts';

/** Rules without effect because of later ones, the same rule twice, the same selector twice in one rule. */
export function checkRepeats(context: FileContext): void {
  const { matches, winner } = context.resolution;
  const last = new Map<string, number>();
  const twin = matches.map(() => -1);
  for (let r = matches.length - 1; r >= 0; r--) {
    const match = matches[r];
    if (!match?.rule.usable) continue;
    const key = ruleKey(match.rule);
    twin[r] = last.get(key) ?? -1;
    last.set(key, r);
  }
  for (const [r, match] of matches.entries()) {
    if (!match.rule.usable) continue;
    repeatedSelectors(context, match.rule);
    const later = matches[twin[r] ?? -1]?.rule;
    if (later) {
      const problem = addProblem(
        context,
        match.rule.range,
        'warning',
        'duplicate',
        `Line ${later.range.line} repeats this rule, and only the later one applies.`,
        [{ title: 'Remove this line', edits: [removeLine(match.rule.range.line)], preferred: true }],
      );
      problem.related.push({ range: later.range, message: 'the same rule' });
      problem.unnecessary = true;
    } else if (match.nodes.length > 0 && match.effective === 0) {
      shadowed(context, match.rule, match.nodes, winner);
    }
  }
}

function shadowed(context: FileContext, rule: Rule, nodes: Int32Array, winner: Int32Array): void {
  const found = new Set<number>();
  let last = -1;
  for (const node of nodes) {
    const one = winner[node] ?? -1;
    if (one !== last) found.add(one);
    last = one;
  }
  const deciding = [...found].sort((a, b) => a - b);
  const rules = deciding.map((r) => context.resolution.matches[r]?.rule).filter((other) => other !== undefined);
  const lines = rules.slice(0, 3).map((other) => other.range.line);
  const where = `line${lines.length > 1 ? 's' : ''} ${lines.join(', ')}${rules.length > 3 ? ' and others' : ''}`;
  const message = `This rule has no effect: later rules (${where}) cover all its nodes, and a later rule wins. Move it below them or remove it.`;
  const problem = addProblem(context, rule.range, 'warning', 'shadowed', message, [
    ...moveBelow(context, rule, rules.at(-1)?.range.line ?? rule.range.line),
    { title: 'Remove this line', edits: [removeLine(rule.range.line)] },
  ]);
  problem.unnecessary = true;
  problem.related = rules.slice(0, 3).map((other) => ({ range: other.range, message: 'this later rule applies' }));
}

/** The rule's line below another, where it decides. */
function moveBelow({ file }: FileContext, rule: Rule, line: number): Fix[] {
  const own = file.lines[rule.range.line - 1]?.text ?? '';
  const column = (file.lines[line - 1]?.text.length ?? 0) + 1;
  const insert = { line, column, endLine: line, endColumn: column, text: `\n${own}` };
  return [{ title: `Move it below line ${line}`, edits: [removeLine(rule.range.line), insert] }];
}

function repeatedSelectors(context: FileContext, rule: Rule): void {
  if (rule.selectors.length < 2) return;
  const seen = new Set<string>();
  for (const [s, selector] of rule.selectors.entries()) {
    // What was taken away may be wanted again, and the other way round.
    if (selector.negated !== rule.selectors[s - 1]?.negated) seen.clear();
    const key = selectorKey(selector);
    const before = rule.selectors[s - 1];
    if (seen.has(key) && before) {
      const gap = { line: selector.range.line, column: before.range.endColumn, endColumn: selector.range.endColumn };
      addProblem(context, selector.range, 'warning', 'duplicate', 'The rule already contains this selector.', [
        { title: 'Remove it', edits: [replaceRange(gap, '')], preferred: true },
      ]).unnecessary = true;
    }
    seen.add(key);
  }
}

function ruleKey(rule: Rule): string {
  const types = [rule.type, ...rule.outputs].map((word) => word?.type ?? '').join(' ');
  return `${rule.selectors.map(selectorKey).join('\n')}\n${types}`;
}

function selectorKey({ kind, negated, text, domain }: Selector): string {
  return `${negated ? '-' : '+'}${kind}:${domain ?? ''}:${text}`;
}
