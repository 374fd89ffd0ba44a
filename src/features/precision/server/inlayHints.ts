import { InlayHintKind } from 'vscode-languageserver';
import type { InlayHint, Range } from 'vscode-languageserver';
import type { OverrideAnalysis } from './overrideAnalysis.ts';
import { counted, thousands } from '../../../kernel/base/text.ts';

/** At each rule's end: how many nodes it selects, and how many of them are inside which ForeignNode. */
export function overrideInlayHints(analysis: OverrideAnalysis, range: Range): InlayHint[] {
  const { check, build, facts } = analysis;
  if (!facts.index) return [];
  const hints: InlayHint[] = [];
  for (const { rule, line, nodes, effective, foreign, groups } of check.rules) {
    if (!rule.usable || line - 1 < range.start.line || line - 1 > range.end.line) continue;
    const parts = [counted(nodes, 'node')];
    if (effective < nodes) parts.push(`${thousands(effective)} applied here`);
    const largest = groups[0];
    if (foreign > 0 && build && largest) {
      const place = groups.length === 1 ? `ForeignNode ${largest.group}` : `${groups.length} ForeignNodes`;
      parts.push(foreign === nodes ? `in ${place}` : `${thousands(foreign)} in ${place}`);
    }
    const hint: InlayHint = {
      position: { line: line - 1, character: rule.range.endColumn - 1 },
      label: parts.join(' · '),
      kind: InlayHintKind.Type,
      paddingLeft: true,
    };
    if (largest && build)
      hint.tooltip = groups
        .slice(0, 8)
        .map(({ group, nodes: count }) => `${count} in ${group}: ${build.foreignNodes[group]?.name ?? ''}`)
        .join('\n');
    hints.push(hint);
  }
  return hints;
}
