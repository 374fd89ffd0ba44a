// What a running build is doing.
import { counted, durationText, shorten, thousands } from '../../base/text.ts';
import type { BuildEvent, BuildStage } from '../../read/tensorrt/buildOutput.ts';

/** A step that TensorRT's progress monitor reports; `step` of `steps` are done. */
export interface ReportedStep {
  phase: string;
  parent?: string | null;
  step?: number | null;
  steps?: number | null;
  finished?: boolean;
}

/** What a running build is doing. Times in milliseconds since it began. */
export interface ProgressState {
  stage: BuildStage;
  /** As text: the monitor's phase if there is one, otherwise the stage. */
  phase: string;
  /** What of this phase is done, and of how many: nodes parsed, layers timed, the monitor's steps. null: not known. */
  done: number | null;
  of: number | null;
  /** The layer whose tactics are being timed now. */
  layer: string | null;
  /** Nodes parsed so far. */
  nodes: number;
  /** Of the network being built now: calibration and backend strategies build several. */
  layersTimed: number;
  layersToTime: number | null;
  /** Layers left after each pass, of the network being built now. */
  funnel: { stage: string; layers: number }[];
  /** Regions of Myelin, and loadables of the DLA. */
  foreignNodes: number;
  loadables: number;
  cacheHits: number;
  /**
   * Tactics that were skipped, by reason; reasons that differ in their numbers only are one, recognized by its first
   * text.
   */
  skipped: { reason: string; layer: string; count: number }[];
  skippedTotal: number;
  warnings: { count: number; recent: string[] };
  errors: { count: number; recent: string[] };
  outcome: 'passed' | 'failed' | null;
  elapsedMs: number;
  /** null: nothing to estimate from. */
  remainingMs: number | null;
  /** What the estimate rests on. */
  estimate: 'earlier build' | 'layers so far' | null;
}

/** Where the time of a build went, as far as its output shows when things began. */
export interface TimeLine {
  /** The whole build in milliseconds. */
  totalMs: number;
  /** In order; a stage that came again is there again. */
  stages: { stage: BuildStage; ms: number }[];
  /** The layers whose tactics took longest to time, longest first; ten at most. */
  slowest: { layer: string; ms: number }[];
}

const KEPT = { skipped: 50, messages: 20, slowest: 10, phases: 32 };

/** What each stage does, as text. */
export const stageWords: Record<BuildStage, string> = {
  start: 'starting',
  parse: 'parsing the model',
  optimize: 'fusing layers',
  calibrate: 'calibrating',
  tactics: 'timing tactics',
  finalize: 'finishing the engine',
  run: 'running the engine',
  end: 'done',
};

/**
 * Follows one build by the events of its log and the steps of TensorRT's progress monitor, each with its time in
 * milliseconds since the build began. Its memory does not grow with the log.
 */
export class BuildProgress {
  readonly #expected: { nodes: number | null; ms: number | null };
  #stage: BuildStage = 'start';
  readonly #stages: { stage: BuildStage; from: number }[] = [{ stage: 'start', from: 0 }];
  #nodes = 0;
  #funnel: { stage: string; layers: number }[] = [];
  #timed = { all: 0, before: 0, from: 0 };
  #layer: { name: string; from: number } | null = null;
  #slowest: { layer: string; ms: number }[] = [];
  #foreignNodes = 0;
  #loadables = 0;
  #cacheHits = 0;
  readonly #skipped = new Map<string, { reason: string; layer: string; count: number }>();
  #skippedTotal = 0;
  readonly #messages = { warning: noMessages(), error: noMessages() };
  #outcome: ProgressState['outcome'] = null;
  /** The monitor's phases that are not finished, outermost first. */
  #phases: ReportedStep[] = [];

  /**
   * @param expected.nodes nodes of the model
   * @param expected.ms how long the same build took before
   */
  constructor(expected: { nodes?: number | null; ms?: number | null } = {}) {
    this.#expected = { nodes: expected.nodes ?? null, ms: expected.ms ?? null };
  }

  /** Takes what the log says. */
  event(event: BuildEvent, ms: number): void {
    switch (event.kind) {
      case 'stage':
        return this.#enter(event.stage, ms);
      case 'node':
        this.#nodes = event.parsed;
        return;
      case 'funnel':
        return this.#narrow(event.stage, event.layers);
      case 'foreign-node':
        if (event.device === 'dla') this.#loadables += 1;
        else this.#foreignNodes += 1;
        return;
      case 'timing':
        this.#leaveLayer(ms);
        if (event.layer === this.#timed.before + 1) this.#timed.from = ms;
        this.#timed.all = event.layer;
        this.#layer = { name: event.name, from: ms };
        return;
      case 'cache-hit':
        this.#cacheHits = event.hits;
        return;
      case 'skipped':
        return this.#skip(event.name, event.reason);
      case 'message':
        return this.#say(this.#messages[event.severity], event.text);
      case 'outcome':
        this.#outcome = event.outcome;
        return;
      case 'combination':
      case 'chosen':
    }
  }

  /** Takes what the progress monitor says. */
  step(step: ReportedStep): void {
    const others = this.#phases.filter(({ phase }) => phase !== step.phase);
    if (step.finished) this.#phases = others.filter(({ parent }) => parent !== step.phase);
    else if (others.length < this.#phases.length)
      this.#phases = this.#phases.map((one) => (one.phase === step.phase ? step : one));
    else if (others.length < KEPT.phases) this.#phases = [...others, step];
  }

  /** What the build is doing at that time. */
  state(ms: number): ProgressState {
    const monitored = this.#phases.at(-1);
    const layersTimed = this.#timed.all - this.#timed.before;
    const layersToTime = this.#funnel.at(-1)?.layers ?? null;
    const [done, of] = monitored
      ? [monitored.step ?? null, monitored.steps ?? null]
      : this.#stage === 'parse'
        ? [this.#nodes, this.#expected.nodes]
        : this.#stage === 'tactics'
          ? [layersTimed, layersToTime]
          : [null, null];
    return {
      stage: this.#stage,
      phase: monitored?.phase ?? stageWords[this.#stage],
      done,
      of,
      layer: this.#layer?.name ?? null,
      nodes: this.#nodes,
      layersTimed,
      layersToTime,
      funnel: [...this.#funnel],
      foreignNodes: this.#foreignNodes,
      loadables: this.#loadables,
      cacheHits: this.#cacheHits,
      skipped: [...this.#skipped.values()],
      skippedTotal: this.#skippedTotal,
      warnings: { ...this.#messages.warning },
      errors: { ...this.#messages.error },
      outcome: this.#outcome,
      elapsedMs: ms,
      ...this.#remaining(ms, layersTimed, layersToTime),
    };
  }

  /** Where the time went, once the build has ended. */
  timeLine(ms: number): TimeLine {
    this.#leaveLayer(ms);
    const stages = this.#stages.map(({ stage, from }, index) => ({
      stage,
      ms: Math.max(0, (this.#stages[index + 1]?.from ?? ms) - from),
    }));
    return { totalMs: ms, stages: stages.filter((one) => one.ms > 0), slowest: [...this.#slowest] };
  }

  #enter(stage: BuildStage, ms: number): void {
    this.#leaveLayer(ms);
    if (stage === this.#stage) return;
    this.#stage = stage;
    // A log that goes on forever may go back and forth forever, too.
    if (this.#stages.length < 1000) this.#stages.push({ stage, from: ms });
  }

  #narrow(stage: string, layers: number): void {
    if (stage === 'Original') {
      this.#funnel = [];
      this.#timed.before = this.#timed.all;
    }
    // Layers that are added after the choice of tactics are not timed as these were.
    if (this.#stage !== 'finalize' && this.#funnel.length < 100) this.#funnel.push({ stage, layers });
  }

  #leaveLayer(ms: number): void {
    const layer = this.#layer;
    this.#layer = null;
    if (layer === null || ms <= layer.from) return;
    const same = this.#slowest.find((one) => one.layer === layer.name);
    if (same) same.ms += ms - layer.from;
    else this.#slowest.push({ layer: layer.name, ms: ms - layer.from });
    this.#slowest = this.#slowest.sort((a, b) => b.ms - a.ms).slice(0, KEPT.slowest);
  }

  #skip(layer: string, reason: string): void {
    this.#skippedTotal += 1;
    const key = reason.replaceAll(/0x[\da-f]+|\d+/gi, '#').slice(0, 500);
    const known = this.#skipped.get(key);
    if (known) known.count += 1;
    else if (this.#skipped.size < KEPT.skipped) this.#skipped.set(key, { reason, layer, count: 1 });
  }

  #say(messages: { count: number; recent: string[] }, text: string): void {
    messages.count += 1;
    messages.recent = [...messages.recent, text].slice(-KEPT.messages);
  }

  #remaining(ms: number, timed: number, toTime: number | null): Pick<ProgressState, 'remainingMs' | 'estimate'> {
    const none = { remainingMs: null, estimate: null };
    if (this.#outcome !== null || this.#stage === 'end') return none;
    // A build that takes longer than the earlier one says nothing about when it ends.
    if (this.#expected.ms !== null)
      return this.#expected.ms > ms ? { remainingMs: this.#expected.ms - ms, estimate: 'earlier build' } : none;
    // The layer being timed has an unknown rest, and the first ones fill the cache for those like them.
    if (this.#stage !== 'tactics' || toTime === null || timed < 4 || timed > toTime) return none;
    const each = (ms - this.#timed.from) / (timed - 1);
    return { remainingMs: Math.round(each * (toTime - timed + 1)), estimate: 'layers so far' };
  }
}

const noMessages = (): { count: number; recent: string[] } => ({ count: 0, recent: [] });

/**
 * A running build in one line, for a terminal or a status bar:
 * `timing tactics: 12 of 23, layer conv1 + relu, 172 from the timing cache, 13 tactics skipped, 34 s, about 20 s left`.
 */
export function progressLine(state: ProgressState): string {
  const { phase, done, of, layer, stage, cacheHits, skippedTotal, warnings, elapsedMs, remainingMs } = state;
  const share =
    of !== null && of > 1
      ? `: ${thousands(done ?? 0)} of ${thousands(of)}`
      : done !== null && of === null
        ? `: ${thousands(done)}`
        : '';
  const parts = [`${phase}${share}`];
  if (layer !== null && stage === 'tactics') parts.push(`layer ${shorten(layer)}`);
  if (cacheHits > 0) parts.push(`${thousands(cacheHits)} from the timing cache`);
  if (skippedTotal > 0) parts.push(`${thousands(skippedTotal)} tactics skipped`);
  if (warnings.count > 0) parts.push(counted(warnings.count, 'warning'));
  parts.push(durationText(elapsedMs));
  if (remainingMs !== null) parts.push(`about ${durationText(remainingMs)} left`);
  return parts.join(', ');
}
