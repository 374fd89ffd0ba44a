import { join } from 'node:path';
import type { TriedChange, Workaround } from '../bisectReport.ts';
import type { ModelChange } from '../../surgery/changeModel.ts';
import type { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { writeChanged } from '../../surgery/node/writeChanged.ts';
import { isPossible, type Pieces, type TriedPiece } from './pieces.ts';
import type { WholeEngine } from './wholeEngine.ts';
import { type WorkaroundCandidate, workaroundsFor } from './workarounds.ts';

export interface WorkaroundRequest {
  whole: WholeEngine;
  files: ParsedFiles;
  linked: string;
  folder: string;
  /** Milliseconds of a run before. */
  before: number | null;
  /** Whatever was tried is added. */
  tried: TriedChange[];
  isOver: () => unknown;
  report: (title: string) => void;
}

/** The first change that makes the piece right and then the whole; the cheapest kinds come first. */
export async function tryWorkarounds(
  pieces: Pieces,
  piece: TriedPiece,
  request: WorkaroundRequest,
): Promise<Workaround | null> {
  const { tried, isOver, report } = request;
  for (const candidate of workaroundsFor(pieces.graph, piece.nodes)) {
    if (isOver() !== null) return null;
    report(candidate.title);
    const changed = await pieces.vary(piece, { change: candidate.onPiece, flags: candidate.flags });
    tried.push({ change: candidate.title, error: changed?.worst?.error ?? null, ms: null });
    const mends = changed !== null && !changed.wrong;
    if (changed !== null) await pieces.discard(changed);
    const fix = mends ? await tryOnWhole(candidate, request) : null;
    if (fix !== null) return fix;
  }
  return null;
}

/** Proves a change on the whole model; null: it is not possible there, or does not help. */
export async function tryOnWhole(
  { title, flags, onWhole }: Pick<WorkaroundCandidate, 'title' | 'flags' | 'onWhole'>,
  { whole, files, linked, folder, before, tried }: WorkaroundRequest,
): Promise<Workaround | null> {
  let model = linked;
  for (const [step, change] of onWhole.entries()) {
    const out = join(folder, `trtlens-fixed-${tried.length}-${step}.onnx`);
    const from = model;
    if (!(await isPossible(() => writeChanged(from, change, out, files)))) return null;
    model = out;
  }
  const result = await whole.try([...whole.flags, ...flags], model);
  if (result === null) return null;
  const ms = result.runs[0]!.ms;
  tried.push({ change: `${title} (whole model)`, error: result.error, ms });
  if (result.wrong) return null;
  const costMs = ms === null || before === null ? null : ms - before;
  return { model: model === linked ? null : model, change: title, error: result.error, costMs };
}

/** An output that makes the whole model right. */
export const markAt = (name: string): { title: string; flags: string[]; onWhole: ModelChange[] } => ({
  title: `make ${name} an output`,
  flags: [],
  onWhole: [{ outputs: [name] }],
});
