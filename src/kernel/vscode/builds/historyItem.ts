import { basename, isAbsolute, join } from 'node:path';
import * as vscode from 'vscode';
import { adviceFor } from '../../build/diagnosis.ts';
import {
  type BuildManifest,
  buildWords,
  differingNames,
  type ProgressState,
  shapesText,
  stageWords,
} from '../../build/buildManifest.ts';
import type { Build } from '../../node/store/buildFolder.ts';
import { durationText, releaseName, shorten, thousands, timeText } from '../../base/text.ts';
import { optionWords } from './optionWords.ts';
import type { RunningBuild } from './builds.ts';
import type { NamedDiagnosis } from './diagnoseBuild.ts';
import { commands } from '../ids.ts';
import { fileUri } from '../platform/fileUri.ts';

/** What a click on a line of the history does. */
export type HistoryTarget =
  | { kind: 'nodes'; model: vscode.Uri; ids: string[] }
  | { kind: 'layer'; model: vscode.Uri; layer: string }
  | { kind: 'file'; path: string; line: number };

/** One line of the history. */
export interface HistoryItem {
  id: string;
  label: string;
  description: string;
  tooltip: string;
  icon: vscode.ThemeIcon;
  /** For menus: `build`, `runningBuild`, or nothing. */
  context: 'build' | 'runningBuild' | '';
  /** What the icon says, for those who hear it. */
  spoken?: string;
  build: Build | null;
  parent: HistoryItem | null;
  target: HistoryTarget | null;
  expanded: boolean;
  children: (() => HistoryItem[] | Promise<HistoryItem[]>) | null;
}

export function toTreeItem(item: HistoryItem): vscode.TreeItem {
  const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  const state = item.children === null ? None : item.expanded ? Expanded : Collapsed;
  const shown = new vscode.TreeItem(item.label, state);
  shown.id = item.id;
  shown.description = item.description;
  shown.tooltip = item.tooltip;
  shown.iconPath = item.icon;
  shown.contextValue = item.context;
  const heard = [item.label, item.spoken ?? '', ...item.description.split(' · ')].filter((part) => part !== '');
  shown.accessibilityInformation = { label: heard.join(', ') };
  if (item.target !== null)
    shown.command = { command: commands.openHistoryItem, title: 'Open', arguments: [item.target] };
  return shown;
}

const line = (
  parent: HistoryItem,
  key: string,
  label: string,
  description: string,
  more: Partial<Pick<HistoryItem, 'target' | 'children' | 'tooltip' | 'icon' | 'expanded'>> = {},
): HistoryItem => ({
  id: `${parent.id}/${key}`,
  label,
  description,
  tooltip: description === '' ? label : `${label}: ${description}`,
  icon: new vscode.ThemeIcon('circle-small-filled'),
  context: '',
  build: null,
  target: null,
  children: null,
  expanded: false,
  ...more,
  parent,
});

const icons = {
  passed: new vscode.ThemeIcon('pass', new vscode.ThemeColor('testing.iconPassed')),
  failed: new vscode.ThemeIcon('error', new vscode.ThemeColor('testing.iconFailed')),
  cancelled: new vscode.ThemeIcon('circle-slash'),
  running: new vscode.ThemeIcon('sync'),
} as const;

/** What is known of a build that its manifest does not say. */
export interface ListedState {
  /** It is the one that the views show. */
  shown: boolean;
  /** Milliseconds of its engine; null: not measured. */
  ms: number | null;
  /** Why it is not up to date with what it was made from, in a sentence; null: it is, or nothing says. */
  stale: string | null;
}

/** A build that has ended: what it is, when, how long; below it what is known of it. */
export function buildItem(
  build: Build,
  { shown, ms, stale }: ListedState,
  diagnose: () => Promise<NamedDiagnosis[]>,
): HistoryItem {
  const { manifest } = build;
  const version = releaseName(manifest.tensorrt);
  const cancelled = manifest.origin === 'imported' ? 'incomplete log' : 'cancelled';
  const results = { passed: '', failed: 'failed', cancelled, running: 'running' };
  const origins = { built: '', recorded: 'recorded', imported: 'imported' };
  const own = buildLabel(manifest, ms);
  const facts = [
    stale === null ? '' : '⚠ outdated',
    results[manifest.result],
    manifest.name === undefined ? '' : unnamedLabel(manifest, ms),
    ...optionWords(manifest.options).filter((word) => !own.toLowerCase().includes(word.toLowerCase())),
    manifest.seconds === null ? '' : `built in ${timeText(manifest.seconds * 1000)}`,
    origins[manifest.origin],
  ];
  const item: HistoryItem = {
    id: manifest.id,
    label: own,
    spoken: shown ? 'shown' : '',
    description: facts.filter((fact) => fact !== '').join(' · '),
    tooltip: [version, manifest.gpu ?? '', stale ?? '', manifest.error ?? '', build.folder]
      .filter((fact) => fact !== '')
      .join('\n'),
    icon: shown && manifest.result === 'passed' ? new vscode.ThemeIcon('eye') : icons[manifest.result],
    context: 'build',
    build,
    parent: null,
    target: null,
    expanded: false,
    children: async () => detailsOf(item, build, await diagnose()),
  };
  return item;
}

function detailsOf(parent: HistoryItem, { folder, manifest }: Build, diagnoses: NamedDiagnosis[]): HistoryItem[] {
  const model = fileUri(manifest.model.file);
  const log = manifest.files.log === null ? null : join(folder, manifest.files.log);
  const causes = diagnoses.map((found, index) => {
    const target: HistoryTarget | null =
      found.nodes.length > 0
        ? { kind: 'nodes', model, ids: found.nodes }
        : log === null
          ? null
          : { kind: 'file', path: log, line: found.line };
    const icon = new vscode.ThemeIcon(found.severity === 'error' ? 'error' : 'warning');
    const advice = adviceFor(found);
    const tooltip = [found.message, advice, ...found.names.slice(0, 20)].join('\n');
    return line(parent, `cause-${index}`, found.message, advice, { target, icon, tooltip });
  });
  const options = Object.entries(manifest.options).map(([name, value]) =>
    line(parent, `option-${name}`, name, Array.isArray(value) ? value.join(', ') : String(value), {
      icon: new vscode.ThemeIcon('settings'),
    }),
  );
  const shapes = (manifest.shapes ?? []).map((inputs, index) =>
    line(parent, `shapes-${index}`, 'Built for', shapesText([inputs]), {
      icon: new vscode.ThemeIcon(inputs.some(({ defaulted }) => defaulted) ? 'warning' : 'symbol-array'),
      tooltip: inputs
        .map((one) => `${shapesText([[one]])}${one.defaulted ? ' (open dimensions are 1)' : ''}`)
        .join('\n'),
    }),
  );
  const { timeLine } = manifest;
  const stages = (timeLine?.stages ?? []).map(({ stage, ms }, index) =>
    line(parent, `stage-${index}`, stageWords[stage], timeText(ms), { icon: new vscode.ThemeIcon('clock') }),
  );
  const files = Object.entries(manifest.files).flatMap(([kind, name]) => {
    if (name === null) return [];
    const path = isAbsolute(name) ? name : join(folder, name);
    const target: HistoryTarget | null = kind === 'engine' ? null : { kind: 'file', path, line: 1 };
    return [
      line(parent, `file-${kind}`, basename(name), '', { target, tooltip: path, icon: new vscode.ThemeIcon('file') }),
    ];
  });
  return [...causes, ...shapes, ...options, ...stages, ...files];
}

/** A build that runs: what it does now, and what its log has said so far. */
export function runningItem(running: RunningBuild, build: Build | null): HistoryItem {
  const { state, uri } = running;
  const counted =
    state !== null && state.of !== null && state.of > 1
      ? ` ${thousands(state.done ?? 0)} of ${thousands(state.of)}`
      : '';
  const item: HistoryItem = {
    id: `running ${uri.toString()}`,
    label: 'Now',
    description: state === null ? running.text : `${state.phase}${counted} · ${timesOf(state)}`,
    tooltip: running.text,
    icon: new vscode.ThemeIcon('sync~spin'),
    context: 'runningBuild',
    build,
    parent: null,
    target: null,
    expanded: true,
    children: () => (state === null ? [] : liveOf(item, state, uri)),
  };
  return item;
}

const timesOf = ({ elapsedMs, remainingMs }: ProgressState): string =>
  remainingMs === null
    ? durationText(elapsedMs)
    : `${durationText(elapsedMs)}, about ${durationText(remainingMs)} left`;

function liveOf(parent: HistoryItem, state: ProgressState, model: vscode.Uri): HistoryItem[] {
  const items: HistoryItem[] = [];
  const say = (...args: Parameters<typeof line> extends [unknown, ...infer Rest] ? Rest : never) =>
    items.push(line(parent, ...args));
  if (state.layer !== null)
    say('layer', 'Timing now', shorten(state.layer, 80), {
      target: { kind: 'layer', model, layer: state.layer },
      icon: new vscode.ThemeIcon('watch'),
    });
  if (state.layersToTime !== null && state.stage !== 'optimize')
    say('layers', 'Layers timed', `${thousands(state.layersTimed)} of ${thousands(state.layersToTime)}`);
  if (state.nodes > 0) say('nodes', 'Nodes parsed', thousands(state.nodes));
  if (state.funnel.length > 0)
    say('funnel', 'Layers left', state.funnel.map(({ layers }) => thousands(layers)).join(' → '), {
      tooltip: state.funnel.map(({ stage, layers }) => `${stage}: ${thousands(layers)}`).join('\n'),
    });
  if (state.foreignNodes > 0) say('foreign', 'ForeignNodes', thousands(state.foreignNodes));
  if (state.loadables > 0) say('loadables', 'DLA loadables', thousands(state.loadables));
  if (state.cacheHits > 0) say('hits', 'From the timing cache', thousands(state.cacheHits));
  if (state.skippedTotal > 0) {
    const skipped = (owner: HistoryItem) => () =>
      state.skipped.map(({ reason, layer, count }, index) =>
        line(owner, String(index), `${count}×`, reason, { tooltip: `${reason}\n${layer}` }),
      );
    items.push(group(parent, 'skipped', 'Tactics skipped', state.skippedTotal, skipped));
  }
  for (const [key, title, { count, recent }] of [
    ['warnings', 'Warnings', state.warnings],
    ['errors', 'Errors', state.errors],
  ] as const) {
    const texts = (owner: HistoryItem) => () =>
      recent.toReversed().map((text, index) => line(owner, String(index), shorten(text, 200), '', { tooltip: text }));
    if (count > 0) items.push(group(parent, key, title, count, texts));
  }
  return items;
}

function group(
  parent: HistoryItem,
  key: string,
  label: string,
  count: number,
  children: (owner: HistoryItem) => () => HistoryItem[],
): HistoryItem {
  const item = line(parent, key, label, thousands(count), { icon: new vscode.ThemeIcon('list-unordered') });
  item.children = children(item);
  return item;
}

/** A build in lists: its name, or what it is and when it started, as `FP16 · 10.6 · 0.98 ms · 9:36 AM`. */
export const buildLabel = (manifest: BuildManifest, ms: number | null = null): string =>
  manifest.name ?? unnamedLabel(manifest, ms);

const unnamedLabel = (manifest: BuildManifest, ms: number | null): string =>
  [...buildWords(manifest), ms === null ? '' : timeText(ms), startText(manifest.started)]
    .filter((word) => word !== '')
    .join(' · ');

/** The title of two builds next to each other: what differs, or when they started, and of which model. */
export function pairTitle(older: BuildManifest, newer: BuildManifest): string {
  const [a, b] = differingNames(older, newer);
  const alike = a === '' && startText(older.started) === startText(newer.started);
  const time = ({ started }: BuildManifest) => startText(started, alike ? 'medium' : 'short');
  return `${a || time(older)} ↔ ${b || time(newer)} (${basename(newer.model.file)})`;
}

/** `2:31 PM`, or `Nov 20, 2:31 PM` of another day, in the language of the editor and the time zone of the user. */
function startText(iso: string, timeStyle: 'short' | 'medium' = 'short'): string {
  const time = new Date(iso);
  if (Number.isNaN(time.getTime())) return iso;
  if (time.toDateString() === new Date().toDateString())
    return time.toLocaleTimeString(vscode.env.language, { timeStyle });
  const day = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' } as const;
  return time.toLocaleString(vscode.env.language, day);
}
