// The stages of a log.
import { stageWords } from '../../../build/buildManifest.ts';
import type { BuildEvent, BuildStage } from '../../../read/tensorrt/buildOutput.ts';
import { BuildLogReader } from '../../../read/tensorrt/readBuildLog.ts';
import { counted, shorten } from '../../../base/text.ts';

/** A part of a build log. Lines count from 1, both are in the part. */
export interface LogPart {
  kind: 'stage' | 'step' | 'layer' | 'warning' | 'error';
  title: string;
  detail: string;
  line: number;
  end: number;
}

/** A stage of the build with what happens in it, in the order of the log. */
export interface LogStage extends LogPart {
  kind: 'stage';
  stage: BuildStage;
  parts: LogPart[];
}

/** So many parts of a stage are listed; the number in its detail is that of all. */
const mostParts = 5000;
/** Longest title. */
const longest = 120;

/**
 * The stages of the builds in a log, for an outline: passes with the layers that they left, ForeignNodes, layers that are
 * timed, the engine's layers, warnings and errors. [] for a text that is not a build log.
 */
export function logOutline(text: string): LogStage[] {
  const events: BuildEvent[] = [];
  const reader = new BuildLogReader({ onEvent: (event) => events.push(event), copies: false });
  reader.push(text);
  const { value: log } = reader.end();
  const stages: LogStage[] = [];
  for (const event of events) {
    if (event.kind !== 'stage') continue;
    const title = stageWords[event.stage];
    const last = stages.at(-1);
    if (last !== undefined) last.end = event.line - 1;
    stages.push({ kind: 'stage', stage: event.stage, title, detail: '', line: event.line, end: log.lines, parts: [] });
  }
  // A ForeignNode appears where its tactics are timed, too.
  const timed = new Set(events.flatMap((event) => (event.kind === 'timing' ? [event.line] : [])));
  const parts = [
    ...events.filter(({ kind, line }) => kind !== 'foreign-node' || !timed.has(line)).flatMap(partOf),
    ...log.engineLayers.flatMap(({ name, type, line }) =>
      line === null ? [] : [part('layer', shorten(name, longest), type, line)],
    ),
  ].toSorted((a, b) => a.line - b.line);
  let at = 0;
  for (const stage of stages) {
    // What comes before the first stage is no part of the build.
    while (at < parts.length && parts[at]!.line < stage.line) at += 1;
    const first = at;
    while (at < parts.length && parts[at]!.line <= stage.end) at += 1;
    stage.parts = parts.slice(first, Math.min(at, first + mostParts));
    // A pass, or a layer that is timed, goes on until the next one begins; messages within do not end it.
    let next = stage.end + 1;
    for (const own of stage.parts.toReversed()) {
      if (!goesOn(own)) continue;
      own.end = Math.max(own.line, next - 1);
      next = own.line;
    }
    stage.detail = detailOf(stage.stage, events, stage);
  }
  return stages;
}

/** What the detail of a layer whose tactics are timed is. */
const timing = 'timing tactics';

const goesOn = ({ kind, detail }: LogPart): boolean => kind === 'step' || detail === timing;

const part = (kind: LogPart['kind'], title: string, detail: string, line: number): LogPart => ({
  kind,
  title,
  detail,
  line,
  end: line,
});

function partOf(event: BuildEvent): LogPart[] {
  switch (event.kind) {
    case 'funnel':
      return [part('step', event.stage, counted(event.layers, 'layer'), event.line)];
    case 'foreign-node':
      return [part('step', shorten(event.name, longest), 'ForeignNode', event.line)];
    case 'timing':
      return [part('layer', shorten(event.name, longest), timing, event.line)];
    case 'message':
      return [part(event.severity, shorten(event.text, longest), event.severity, event.line)];
    default:
      return [];
  }
}

/** What came of a stage: `120 nodes`, `24 layers`, `20 layers timed`. */
function detailOf(stage: BuildStage, events: readonly BuildEvent[], { line, end }: LogPart): string {
  const inside = events.filter((event) => event.line >= line && event.line <= end);
  const count = (kind: BuildEvent['kind']) => inside.filter((event) => event.kind === kind).length;
  if (stage === 'parse') return counted(count('node'), 'node');
  if (stage === 'tactics' || stage === 'calibrate') return `${counted(count('timing'), 'layer')} timed`;
  const left = inside.findLast((event) => event.kind === 'funnel');
  if (stage === 'optimize' && left !== undefined) return counted(left.layers, 'layer');
  const ended = inside.find((event) => event.kind === 'outcome');
  return ended === undefined ? '' : ended.outcome;
}
