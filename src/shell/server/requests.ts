import type {
  KeepInfo,
  KeepParams,
  PlaceParams,
  ReplayEntryInfo,
  RuleVerdictInfo,
} from '../../kernel/protocol/language.ts';
import { precisionType } from '../../kernel/rules/overrideFile.ts';
import { profileWords } from '../../kernel/report/words.ts';
import { selectorsForNodes } from '../../kernel/rules/resolveOverrides.ts';
import { spanRange } from '../../kernel/server/places.ts';
import { nodesAt, type OverrideAnalysis, ruleAt } from '../../features/precision/server/overrideAnalysis.ts';
import { entryAt, idsOf, type ReplayAnalysis } from '../../features/replay/server/replayAnalysis.ts';

/** Ids of the nodes that a place in an override file is about. */
export function overrideNodesAt(analysis: OverrideAnalysis, { line, character }: PlaceParams): string[] {
  const place = ruleAt(analysis, { line, character });
  if (!place) return [];
  const { index } = analysis.facts;
  return Array.from(nodesAt(analysis, place), (i) => index?.nodes[i]?.id ?? '');
}

/** Ids of the nodes of the entry around a place of a replay. */
export function replayNodesAt(analysis: ReplayAnalysis, { line, character }: PlaceParams): string[] {
  const entry = entryAt(analysis, { line, character });
  const hint = analysis.hints.find((one) => one.entry === entry);
  return hint ? idsOf(analysis, hint) : [];
}

/** What happened to each rule in the last build. */
export function verdictInfos(analysis: OverrideAnalysis): RuleVerdictInfo[] {
  const profile = analysis.build?.optimizationProfile;
  const words = profile && profileWords(profile);
  const on = words ? ` The layers are those of ${words}.` : '';
  return analysis.verdicts().map(({ line, verdict, certain, message, counts }) => ({
    line: line - 1,
    verdict,
    certain,
    message: message + on,
    ...(words && { profile: words }),
    counts,
  }));
}

/** The lines to add so that nodes get a type; nodes that a rule gives it already are omitted. */
export function keepInfo(analysis: OverrideAnalysis, { nodes, type }: KeepParams): KeepInfo {
  const { facts, check, document, build } = analysis;
  const { index } = facts;
  const wanted = precisionType(type);
  if (!index || wanted === null) return { text: '', selectors: [] };
  const ids = new Set(nodes);
  const positions: number[] = [];
  // A pattern may take along what has the type already.
  const kept = new Set<number>();
  for (const [i, node] of index.nodes.entries()) {
    if (node.exempt !== null) continue;
    const rule = check.rules[check.resolution?.winner[i] ?? -1]?.rule;
    if (rule?.type?.type !== wanted) {
      if (ids.has(node.id)) positions.push(i);
    } else if (rule.outputs.length === 0) kept.add(i);
  }
  const selectors = selectorsForNodes(positions, index, build, kept);
  const width = Math.min(64, Math.max(0, ...selectors.map(({ length }) => length)));
  const lines = selectors.map((selector) => `${selector.padEnd(width)}  ${wanted}\n`).join('');
  const text = document.getText();
  return { text: lines === '' || text === '' || text.endsWith('\n') ? lines : `\n${lines}`, selectors };
}

/** Where the entries of a replay are, and what their layers are. */
export function replayEntryInfos(analysis: ReplayAnalysis): ReplayEntryInfo[] {
  return analysis.hints.map((hint) => {
    const { start, end } = spanRange(analysis.document, hint.entry.key);
    return {
      range: { startLine: start.line, startCharacter: start.character, endLine: end.line, endCharacter: end.character },
      kind: hint.kind,
    };
  });
}
