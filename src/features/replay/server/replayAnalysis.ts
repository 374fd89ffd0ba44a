import type { Position } from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { checkReplay, type ReplayHint, replayHints } from '../checkReplay.ts';
import { readReplay, type ReplayRead, sniffReplay } from '../../../kernel/read/replay/readReplay.ts';
import type { ReplayEntry, ReplayProblem } from '../../../kernel/read/replay/replayFile.ts';
import type { DocumentFacts } from '../../../kernel/server/facts.ts';
import { counted, timeText } from '../../../kernel/base/text.ts';

/** A replay in its current state, checked against what is known. Every feature starts from it. */
export interface ReplayAnalysis {
  document: TextDocument;
  facts: DocumentFacts;
  read: ReplayRead;
  problems: ReplayProblem[];
  /** One entry of the file each, in its order. */
  hints: ReplayHint[];
}

/** Largest JSON text that is looked into while the user edits; replays have about 1 KB a layer. */
const largest = 64 * 1024 * 1024;

/** Analyses a JSON document that is a replay; null for any other JSON. */
export function analyzeReplay(document: TextDocument, facts: DocumentFacts): ReplayAnalysis | null {
  const text = document.getText();
  if (text.length > largest || sniffReplay(text) === null) return null;
  const read = readReplay(text);
  const { index, build, target, choices, mismatches, recorded } = facts;
  const fitting = build && index && build.nodes.length !== index.nodes.length ? null : build;
  // While the JSON is broken, as in the middle of an edit, what else seems wrong may follow from that alone.
  const isBroken = read.problems.some(({ code }) => code === 'json-syntax' || code === 'json-end');
  const problems = isBroken
    ? read.problems.filter(({ code }) => code.startsWith('json-'))
    : checkReplay(text, read, { index, build: fitting, target, choices, mismatches, recorded });
  return { document, facts, read, problems, hints: read.value ? replayHints(read.value, index, fitting) : [] };
}

/** The entry around a place, from its key to its end. */
export function entryAt({ document, read }: ReplayAnalysis, place: Position): ReplayEntry | null {
  const offset = document.offsetAt(place);
  return read.value?.entries.find(({ span }) => span.start <= offset && offset <= span.end) ?? null;
}

/** `ForeignNode 0 · 453 nodes · 0.35 ms`; '' if nothing is known. */
export function hintText({ kind, nodes, source, exact, foreign, averageMs }: ReplayHint): string {
  const parts: string[] = [];
  if (kind === 'foreign') parts.push(foreign >= 0 ? `ForeignNode ${foreign}` : 'ForeignNode');
  if (nodes.length > 0)
    parts.push(`${counted(nodes.length, 'node')}${source === 'build' && !exact ? ' (derived)' : ''}`);
  if (kind === 'fused' && source === 'build') parts.push('fused');
  if (averageMs !== null) parts.push(timeText(averageMs));
  return parts.join(' · ');
}

/** Ids of an entry's nodes, as in the fusion report. */
export function idsOf({ facts }: ReplayAnalysis, hint: ReplayHint): string[] {
  return hint.nodes.map((i) => facts.index?.nodes[i]?.id).filter((id) => id !== undefined);
}
