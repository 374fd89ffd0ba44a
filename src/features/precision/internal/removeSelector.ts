import { type Fix, removeLine, replaceRange, type Rule } from '../../../kernel/rules/overrideFile.ts';

/** Takes one selector out of its rule, or the whole line where nothing would be left to select. */
export function removeSelector(rule: Rule, position: number, preferred = false): Fix {
  const { selectors } = rule;
  const own = selectors[position];
  const before = selectors[position - 1];
  const after = selectors[position + 1];
  const more = preferred ? { preferred } : {};
  if (own && before) {
    const gap = { ...own.range, column: before.range.endColumn };
    return { title: 'Remove it from the rule', edits: [replaceRange(gap, '')], ...more };
  }
  if (own && after && !after.negated) {
    const gap = { ...own.range, endColumn: after.range.column };
    return { title: 'Remove it from the rule', edits: [replaceRange(gap, '')], ...more };
  }
  return { title: 'Remove this line', edits: [removeLine(rule.range.line)], ...more };
}
