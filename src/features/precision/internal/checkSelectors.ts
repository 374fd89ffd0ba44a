import { closestWords, counted, shorten, thousands } from '../../../kernel/base/text.ts';
import { addProblem, type CheckContext, someNames } from '../../../kernel/rules/precisionPlan.ts';
import { explainEngineName, explainUnknownName } from './explainUnknownName.ts';
import { nearPattern } from './nearPattern.ts';
import {
  type Fix,
  type PrecisionProblem,
  quoteName,
  removeLine,
  replaceRange,
  type Selector,
} from '../../../kernel/rules/overrideFile.ts';
import { directiveMeant, putInQuotes } from '../../../kernel/rules/readerFixes.ts';
import { removeSelector } from './removeSelector.ts';
import { groupsNamed, type RuleMatch } from '../../../kernel/rules/resolveOverrides.ts';
import { hasLayerFlags } from '../../../kernel/rules/buildFacts.ts';

/**
 * Selectors that select nothing, less or more than the user means. `unread`: what the reader said of the rule's line.
 */
export function checkSelectors(context: CheckContext, match: RuleMatch, unread: readonly PrecisionProblem[]): void {
  const { rule } = match;
  for (const [s, selector] of rule.selectors.entries()) {
    if (selector.text === '' || isUnread(unread, selector)) continue;
    const selected = match.selected[s] ?? new Int32Array(0);
    if (selected.length === 0) {
      const problem = explainNothing(context, selector);
      if (problem.fixes.length === 0 && selector.kind === 'name' && !selector.quoted && rule.selectors.length === 1)
        problem.fixes.push(...directiveMeant(selector.text, selector.range, rule.usable));
      if (problem.fixes.length === 0 && problem.code !== 'group-needs-build')
        problem.fixes.push(removeSelector(rule, s));
      continue;
    }
    if (selector.negated) checkTakenAway(context, match, s);
    else checkReach(context, selector, selected);
  }
  if (rule.usable && match.nodes.length === 0 && match.selected.some((selected) => selected.length > 0)) {
    const message = 'The "not:" selectors exclude everything that this rule selects.';
    const fixes = [{ title: 'Remove this line', edits: [removeLine(rule.range.line)] }];
    addProblem(context, rule.range, 'warning', 'matches-nothing', message, fixes).unnecessary = true;
  }
}

/** The reader has found something wrong with this very text already. */
function isUnread(problems: readonly PrecisionProblem[], { range }: Selector): boolean {
  return problems.some(({ column, endColumn }) => column < range.endColumn && endColumn > range.column);
}

function explainNothing(context: CheckContext, selector: Selector): PrecisionProblem {
  if (selector.kind === 'group') return explainGroup(context, selector);
  if (selector.kind === 'op') return explainOp(context, selector);
  // The brackets in an engine layer's name read like a pattern.
  const { kind } = selector;
  const found = kind === 'name' ? explainUnknownName(context, selector) : explainEngineName(context, selector);
  if (!found) return explainGlob(context, selector);
  return addProblem(context, selector.range, 'warning', found.code, found.message, found.fixes);
}

function explainGlob(context: CheckContext, selector: Selector): PrecisionProblem {
  const { index } = context;
  const fixes: Fix[] = [];
  let hint = '';
  if (index.named(selector.text).length > 0) {
    hint = ' A node has exactly this name: put names with pattern characters in double quotes.';
    fixes.push(putInQuotes(selector.text, selector.textRange));
  }
  for (const pattern of widerPatterns(selector.text)) {
    const found = index.matching(pattern).length;
    if (found === 0) continue;
    hint ||= ` "*" matches within one path segment, "**" across segments: "${pattern}" selects ${counted(found, 'node')}.`;
    fixes.push({
      title: `Change to ${pattern} (${counted(found, 'node')})`,
      edits: [replaceRange(selector.textRange, pattern)],
    });
    break;
  }
  const near = fixes.length === 0 ? nearPattern(selector.text, index) : null;
  if (near !== null) {
    const count = counted(index.matching(near).length, 'node');
    hint = ` Closest match: "${near}" selects ${count}.`;
    fixes.push({
      title: `Change to ${near} (${count})`,
      edits: [replaceRange(selector.textRange, near)],
      preferred: true,
    });
  }
  const message = `No node name matches "${shorten(selector.text, 200)}".${hint}`;
  return addProblem(context, selector.range, 'warning', 'matches-nothing', message, fixes);
}

/** The same pattern reaching further: across segments, from anywhere, into the module that it names. */
function widerPatterns(pattern: string): string[] {
  const crossing = pattern.replace(/\*+/g, '**');
  const anywhere = `**/${pattern.replace(/^(?:\*\*)?\/+/, '')}`;
  const inside = `${pattern.replace(/[/*]+$/, '')}/**`;
  const all = [inside, crossing, anywhere, `**/${crossing.replace(/^(?:\*\*)?\/+/, '')}`];
  return all.filter((wider) => wider !== pattern);
}

function explainOp(context: CheckContext, selector: Selector): PrecisionProblem {
  const { index } = context;
  const written = selector.domain === null ? selector.text : `${selector.domain}::${selector.text}`;
  const elsewhere = selector.domain === null ? 0 : index.ofOp(selector.text, null).length;
  const fixes: Fix[] = [];
  let hint = '';
  if (elsewhere > 0) {
    hint = ` The model has ${counted(elsewhere, 'node')} of this type in another domain.`;
    fixes.push({
      title: `Change to op:${selector.text}`,
      edits: [replaceRange(selector.textRange, selector.text)],
      preferred: true,
    });
  } else {
    const ops = similarOps(
      selector.text,
      index.ops().map(({ op }) => op),
    );
    if (ops.length > 0) hint = ` Similar: ${ops.join(', ')}.`;
    for (const [i, op] of ops.entries()) {
      fixes.push({ title: `Change to op:${op}`, edits: [replaceRange(selector.textRange, op)], preferred: i === 0 });
    }
  }
  const message = `The model has no node of type ${shorten(written, 200)}.${hint}`;
  return addProblem(context, selector.range, 'warning', 'matches-nothing', message, fixes);
}

/** Operators that are spelled nearly so, and those of which one is the other's beginning (Convolution, Conv). */
function similarOps(text: string, ops: readonly string[]): string[] {
  const lower = text.toLowerCase();
  const byLower = new Map(ops.map((op) => [op.toLowerCase(), op]));
  const near = closestWords(lower, [...byLower.keys()], 3);
  const begun = [...byLower.keys()].filter(
    (op) => Math.min(op.length, lower.length) > 2 && (op.startsWith(lower) || lower.startsWith(op)),
  );
  return [...new Set([...near, ...begun.sort((a, b) => b.length - a.length)])]
    .slice(0, 3)
    .map((op) => byLower.get(op) ?? op);
}

function explainGroup(context: CheckContext, selector: Selector): PrecisionProblem {
  const { build } = context;
  if (!build) {
    const message =
      '"group:" needs a ForeignNode of the last build, but this model has no build yet. Build it once, or open a build log.';
    return addProblem(context, selector.range, 'warning', 'group-needs-build', message);
  }
  const found = groupsNamed(selector.text, build);
  if (found.length === 1) {
    const message =
      'The nodes inside this ForeignNode are unknown: neither the log nor the layers of the last build name them. Build with a verbose log and detailed profiling verbosity.';
    return addProblem(context, selector.range, 'warning', 'matches-nothing', message);
  }
  const names = (found.length > 0 ? found : build.foreignNodes.map((_, i) => i)).map(
    (i) => build.foreignNodes[i]?.name ?? '',
  );
  const fixes = names.slice(0, 5).map((name) => ({
    title: `Change to group:${quoteName(name)}`,
    edits: [replaceRange(selector.textRange, quoteName(name))],
  }));
  if (found.length > 1) {
    const message = `${counted(found.length, 'ForeignNode')} start with "${selector.text}": ${someNames(names)}. Write more of the name.`;
    return addProblem(context, selector.range, 'error', 'group-ambiguous', message, fixes);
  }
  const message =
    names.length > 0
      ? `The last build has no ForeignNode "${selector.text}". It has ${someNames(names)}.`
      : 'The last build has no ForeignNodes.';
  return addProblem(context, selector.range, 'warning', 'group-unknown', message, fixes);
}

function checkTakenAway(context: CheckContext, match: RuleMatch, position: number): void {
  const taken = match.selected[position];
  if (!taken) return;
  const first = match.selected[0];
  // Mostly there is one selector before it, and many nodes.
  if (position === 1 && first && !match.rule.selectors[0]?.negated) {
    if (first.length === 0 || intersect(first, taken)) return;
  } else {
    const before = new Set<number>();
    for (const [s, selector] of match.rule.selectors.slice(0, position).entries()) {
      for (const node of match.selected[s] ?? []) {
        if (selector.negated) before.delete(node);
        else before.add(node);
      }
    }
    if (before.size === 0 || taken.some((node) => before.has(node))) return;
  }
  const selector = match.rule.selectors[position];
  if (!selector) return;
  const message = `This "not:" has no effect: the selectors before it select ${taken.length === 1 ? 'no such node' : `none of these ${counted(taken.length, 'node')}`}.`;
  const fixes = [removeSelector(match.rule, position, true)];
  addProblem(context, selector.range, 'warning', 'takes-nothing', message, fixes).unnecessary = true;
}

/** Whether two ascending lists have a number in common. */
function intersect(a: Int32Array, b: Int32Array): boolean {
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const difference = (a[i] ?? 0) - (b[j] ?? 0);
    if (difference === 0) return true;
    if (difference < 0) i++;
    else j++;
  }
  return false;
}

function checkReach(context: CheckContext, selector: Selector, selected: Int32Array): void {
  const { index } = context;
  if (selector.kind === 'name' && selected.length > 1) {
    const flags =
      hasLayerFlags(context.target) === false
        ? ''
        : ' TensorRT renames the others (_1, _2, …), so flags apply only to the first.';
    const message = `${counted(selected.length, 'node')} have this name; the rule applies to all of them.${flags}`;
    addProblem(context, selector.range, 'info', 'matches-more', message);
    return;
  }
  if (selector.kind !== 'glob') return;
  if (checkDigits(context, selector)) return;
  let own = 0;
  for (const node of selected) own += index.computes[node] ?? 0;
  if (selector.text !== '**' && own > 20 && own * 2 > index.computing) {
    const message = `This pattern selects ${thousands(own)} of the ${counted(index.computing, 'node')} that compute. Write "**" to select all of them.`;
    const fix = {
      title: `Change to ** (${counted(index.nodes.length, 'node')})`,
      edits: [replaceRange(selector.textRange, '**')],
    };
    addProblem(context, selector.range, 'info', 'matches-more', message, [fix]);
  }
}

/** `/layers.1*` also takes layers.10, layers.11, … */
function checkDigits(context: CheckContext, selector: Selector): boolean {
  const { index } = context;
  const found = /^(.*?\d)(\*+)((?:\/.*)?)$/s.exec(selector.text);
  if (!found) return false;
  const [, head = '', stars = '', tail = ''] = found;
  const longer = index.matching(`${head}[0-9]${stars}${tail}`);
  if (longer.length === 0) return false;
  const narrower = (tail === '' ? [head, `${head}/**`] : [head + tail]).find(
    (pattern) => index.matching(pattern).length > 0,
  );
  if (narrower === undefined) return false;
  const fix = {
    title: `Change to ${narrower} (${counted(index.matching(narrower).length, 'node')})`,
    edits: [replaceRange(selector.textRange, narrower)],
    preferred: true,
  };
  const names = Array.from(longer.subarray(0, 2), (i) => index.names[i] ?? '');
  const rest = longer.length > 2 ? ` and ${thousands(longer.length - 2)} more` : '';
  const message = `The "*" after a digit also matches longer numbers: ${someNames(names)}${rest}.`;
  addProblem(context, selector.range, 'warning', 'matches-more', message, [fix]);
  return true;
}
