// What a build records; its shapes and its progress.
import { counted, durationText, releaseName, shapeArgument, shorten, thousands } from '../base/text.ts';
import type { OnnxModel } from '../formats/onnx/onnxModel.ts';
import type { BuildEvent, BuildStage } from '../formats/tensorrt/buildOutput.ts';
import type { ReportShape } from '../fusion/fusionReport.ts';

/** The shapes of one input in an optimization profile: `1x3x224x224`; empty for a scalar. */
export interface ShapeRange {
  min: string;
  opt: string;
  max: string;
}

/** A type that TensorRT 10 and earlier use only after a switch of that name: `--fp16`. */
export type TypeSwitch = 'fp16' | 'bf16' | 'int8' | 'fp8' | 'int4';

/**
 * The modes of the option `precision`: the types that each allows in addition to FP32, the same in every program. INT8
 * and FP8 alone leave FP32 for everything that they cannot compute; people who ask for them expect FP16 there.
 */
export const precisionModes = {
  fp32: [],
  fp16: ['fp16'],
  bf16: ['bf16'],
  int8: ['int8', 'fp16'],
  fp8: ['fp8', 'fp16'],
  // Not trtexec's own --best, which adds BF16 on some GPUs and not on others.
  best: ['fp16', 'int8'],
} as const satisfies Record<string, readonly TypeSwitch[]>;

/** What the value of an option is, by the name of its kind. */
export interface OptionValues {
  text: string;
  /** Of a file: relative ones are relative to whatever names the option. */
  path: string;
  flag: boolean;
  number: number;
  integer: number;
  texts: string[];
  textsOrAll: 'all' | string[];
  numbersByName: Record<string, number>;
  textsByName: Record<string, string>;
  /** One entry an optimization profile: input name → shapes. */
  profiles: Record<string, ShapeRange>[];
  /** Layer name and type. */
  layerTypes: { name: string; type: string }[];
  layerOutputTypes: { name: string; types: string[] }[];
}

/** The kind of an option's value: a name of `OptionValues`, or the words that it may be. */
export type OptionKind = keyof OptionValues | readonly string[];

/** Whether a value, which may be anything, is of a kind. */
export function fitsKind(value: unknown, kind: OptionKind): boolean {
  if (typeof kind !== 'string') return kind.some((word) => word === value);
  return fits[kind](value);
}

/** The kind as text, for a message: `expected a number`. */
export const kindText = (kind: OptionKind): string =>
  typeof kind === 'string' ? words[kind] : `one of ${kind.join(', ')}`;

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\u0000');
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const byName = (value: unknown, fit: (one: unknown) => boolean): boolean =>
  isObject(value) && Object.values(value).every(fit);
const isRange = (value: unknown): boolean =>
  byName(value, isText) && ['min', 'opt', 'max'].every((name) => Object.hasOwn(value as object, name));

const fits: Record<keyof OptionValues, (value: unknown) => boolean> = {
  text: isText,
  path: isText,
  flag: (value) => typeof value === 'boolean',
  number: isNumber,
  integer: (value) => Number.isInteger(value),
  texts: isTexts,
  textsOrAll: (value) => value === 'all' || isTexts(value),
  numbersByName: (value) => byName(value, isNumber),
  textsByName: (value) => byName(value, isText),
  profiles: (value) => Array.isArray(value) && value.every((profile) => byName(profile, isRange)),
  layerTypes: (value) =>
    Array.isArray(value) && value.every((one) => isObject(one) && isText(one['name']) && isText(one['type'])),
  layerOutputTypes: (value) =>
    Array.isArray(value) && value.every((one) => isObject(one) && isText(one['name']) && isTexts(one['types'])),
};

const words: Record<keyof OptionValues, string> = {
  text: 'a string',
  path: 'a path',
  flag: 'true or false',
  number: 'a number',
  integer: 'an integer',
  texts: 'a list of strings',
  textsOrAll: 'a list of tensor names, or "all"',
  numbersByName: 'an object with a number for each name',
  textsByName: 'an object with a string for each name',
  profiles: 'a list of objects with min, opt and max for each input, such as "1x3x224x224"',
  layerTypes: 'a list of objects with name and type',
  layerOutputTypes: 'a list of objects with name and types',
};

/** Shapes of one input for which an engine is built; `min`, `opt` and `max` are equal where nothing may change. */
export interface BuiltShape {
  /** Name of the input. */
  input: string;
  /** Smallest shape, as `1x3x224x224`; '' for a scalar. */
  min: string;
  /** Shape that the engine is tuned for. */
  opt: string;
  /** Largest shape. */
  max: string;
  /** Axes that the model leaves open and for which no size was given: TensorRT's tools build them as 1. */
  defaulted?: number[];
}

/**
 * The shapes for which a build makes its engine: one list an optimization profile, of every input of the model. Inputs
 * of unknown rank are omitted.
 */
export function builtShapes(
  { graph }: OnnxModel,
  profiles: readonly Record<string, ShapeRange>[] = [],
): BuiltShape[][] {
  const weights = new Set(graph.initializers.map(({ name }) => name));
  const inputs = graph.inputs.filter(({ name, shape }) => shape !== null && !weights.has(name));
  return (profiles.length > 0 ? profiles : [{}]).map((profile) =>
    inputs.map(({ name, shape }): BuiltShape => {
      const given = profile[name];
      if (given) return { input: name, ...given };
      const open = shape!.flatMap((size, axis) => (isSize(size) ? [] : [axis]));
      const text = shapeArgument(shape!.map((size) => (isSize(size) ? size : 1)));
      return { input: name, min: text, opt: text, max: text, ...(open.length > 0 && { defaulted: open }) };
    }),
  );
}

/** The same as numbers, the number of its optimization profile with each. */
export function sizesOf(shapes: readonly (readonly BuiltShape[])[]): ReportShape[] {
  const sizes = (text: string) => (text === '' ? [] : text.split('x').map(Number));
  return shapes.flatMap((inputs, profile) =>
    inputs.map(({ input, min, opt, max }) => ({ input, profile, min: sizes(min), opt: sizes(opt), max: sizes(max) })),
  );
}

const isSize = (size: number | string | null): size is number => typeof size === 'number' && size >= 0;

/** `x 1×3×224×224`, `ids 1×8 to 8×256 (optimum 4×64)`; several profiles are numbered. */
export function shapesText(shapes: readonly (readonly BuiltShape[])[]): string {
  const texts = shapes.map((profile) => profile.map(shapeText).join(', '));
  return texts.length === 1 ? texts[0]! : texts.map((text, i) => `profile ${i}: ${text}`).join('; ');
}

function shapeText({ input, min, opt, max }: BuiltShape): string {
  const times = (text: string) => (text === '' ? 'scalar' : text.replaceAll('x', '×'));
  if (min === max) return `${input} ${times(opt)}`;
  return `${input} ${times(min)} to ${times(max)}${opt === min || opt === max ? '' : ` (optimum ${times(opt)})`}`;
}

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
  foreignNodes: number;
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
        this.#foreignNodes += 1;
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

/** `manifest.json` of a build folder: everything that says what this build was. Times are ISO 8601 and seconds. */
export interface BuildManifest {
  /** Version of this contract. */
  schema: 1;
  /** Folder name; unique, sorts by time. */
  id: string;
  /** Path of the model (relative: to the folder), the SHA-256 of its content (null: not computed), and its size. */
  model: { file: string; sha256: string | null; bytes: number };
  /** What ran the build. */
  backend: 'trtexec' | 'polygraphy' | 'python' | 'rtx';
  /** `recorded`: not built here, a shipped or imported build, and labeled so everywhere. */
  origin: 'built' | 'recorded' | 'imported';
  /** What built the engine; null: not known. */
  tensorrt: { product: 'tensorrt' | 'tensorrt-rtx' | null; version: string | null };
  /** Name of the GPU; null: not known, or built without one. */
  gpu: string | null;
  /** Version of the GPU's driver; null: not known. */
  driver: string | null;
  /** The command as run, one argument per element. */
  command: string[];
  /** Options that the user chose, for comparing two builds. */
  options: Record<string, string | number | boolean | string[]>;
  /** When it started, in ISO 8601. */
  started: string;
  /** How long it took; null: it has not ended. */
  seconds: number | null;
  /** How it ended. */
  result: 'passed' | 'failed' | 'cancelled' | 'running';
  /** One line for the user when it failed. */
  error: string | null;
  /** The same as data, by which programs tell one failure from another; absent: it passed, or an earlier version wrote it. */
  failure?: BuildFailure;
  /** File names inside the folder (the engine may be a path elsewhere); `counters`: the output of `ncu --csv`. */
  files: {
    log: string | null;
    layers: string | null;
    profile: string | null;
    engine: string | null;
    choices?: string;
    counters?: string;
  };
  /** Where the time went; not in manifests of imported builds. */
  timeLine?: TimeLine;
  /** For which shapes it was built: of every input, a list per optimization profile; absent: the model could not be read. */
  shapes?: BuiltShape[][];
  /** SHA-256 of the text of the override rules that it was made with; absent: with none, or not known. */
  rulesSha256?: string;
  /** SHA-256 and size of the engine's content, by which its file is known wherever it is; absent: not computed. */
  engine?: { sha256: string; bytes: number };
  /** What the user calls this build; absent: it has no name. */
  name?: string;
  /** Kept when older builds are deleted, and compared with by one click. */
  pinned?: boolean;
  /** What went wrong next to a build that passed, one sentence each. */
  warnings?: string[];
  /** While it runs: the process that runs it. A build that runs under a process that is gone was cut off. */
  pid?: number;
}

/** Stable codes of `trtlens diagnose` (docs/command-line.md). */
export type DiagnosisCode =
  | 'unsupported-op'
  | 'unsupported-form'
  | 'unsupported-type'
  | 'plugin-missing'
  | 'no-implementation'
  | 'profile-missing'
  | 'profile-inconsistent'
  | 'shape-values-missing'
  | 'unknown-input'
  | 'unknown-flag'
  | 'bad-flag-value'
  | 'flag-conflict'
  | 'workspace-too-small'
  | 'out-of-memory'
  | 'engine-invalid'
  | 'engine-other-version'
  | 'engine-other-device'
  | 'gpu-unsupported'
  | 'replay-mismatch'
  | 'weights-missing'
  | 'model-unreadable'
  | 'model-invalid'
  | 'model-missing'
  | 'library-missing'
  | 'library-mismatch'
  | 'calibration-missing'
  | 'calibration-failed'
  | 'quantization'
  | 'precision-overflow'
  | 'precision-underflow'
  | 'precision-ignored'
  | 'control-flow'
  | 'shape-mismatch'
  | 'type-mismatch'
  | 'file-missing'
  | 'dla-fallback'
  | 'dla-failed'
  | 'runtime-shape'
  | 'runtime-failed'
  | 'killed'
  | 'crashed'
  | 'iteration-failed'
  | 'cut-off'
  | 'failed'
  | 'internal'
  | 'name-too-long';

/** Why a build did not pass. */
export interface BuildFailure {
  /** A code of `trtlens diagnose`, or what happened to the program that built. */
  code: DiagnosisCode | ProgramFailure;
  /** What went wrong, one sentence. */
  message: string;
  /** What to do next; '' if there is nothing that fits every case. */
  advice: string;
  /** Ids of the ONNX nodes concerned, the most likely first. */
  nodes: string[];
  /** Lines of the log that say it, from 1. */
  lines: number[];
}

/**
 * `cancelled`: someone stopped it. `interrupted`: the program that ran it is gone. `stopped`: the program gave a reason of
 * its own before TensorRT built. `exited`, `killed`, `no-program`, `no-engine`: how the program ended, without a reason
 * that is known. `engine-not-moved`: it was built, but could not be put where it should go.
 */
type ProgramFailure =
  'cancelled' | 'interrupted' | 'stopped' | 'exited' | 'killed' | 'no-program' | 'no-engine' | 'engine-not-moved';

/** A failure that no log explains. */
export const programFailure = (code: ProgramFailure, message: string): BuildFailure => ({
  code,
  message,
  advice: '',
  nodes: [],
  lines: [],
});

/** Whether all networks of a product, and of a major version where it is known, are strongly typed. */
export const buildsOnlyTyped = (product: BuildManifest['tensorrt']['product'], major: number | undefined): boolean =>
  product === 'tensorrt-rtx' || (major ?? 0) >= 11;

/** The precision that a build was requested, as text: `FP16`; '' where only its log may say it. */
function precisionOf({ options, origin, tensorrt: { product, version } }: BuildManifest): string {
  const { precision, stronglyTyped, overrides } = options;
  if (typeof precision === 'string') return precision === 'best' ? precision : precision.toUpperCase();
  if (overrides !== undefined || origin !== 'built') return '';
  const isTyped = stronglyTyped === true || buildsOnlyTyped(product, Number.parseInt(version ?? '', 10));
  return isTyped ? 'strongly typed' : 'FP32';
}

const baseName = (path: string): string => path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);

/** Options that say where something is, and nothing about the engine. */
const places: ReadonlySet<string> = new Set(['engine', 'launcher', 'timingCache', 'python', 'trtexec', 'polygraphy']);

/**
 * What was requested of a build, by what it is about: `precision` and `FP16`, `overrides` and `model.trtprec`. What is not
 * known is absent.
 */
function requestOf(manifest: BuildManifest): Map<string, string> {
  const { model, backend, tensorrt, gpu, driver, options, shapes, rulesSha256 } = manifest;
  const parts = new Map<string, string>([['precision', precisionOf(manifest)]]);
  const { precision: _, overrides, ...others } = options;
  if (typeof overrides === 'string') parts.set('overrides', baseName(overrides));
  for (const [name, value] of Object.entries(others))
    if (!places.has(name) && name !== 'profiles' && !(name === 'stronglyTyped' && parts.get('precision') !== ''))
      parts.set(
        `option ${name}`,
        value === true ? 'on' : Array.isArray(value) ? value.join(', ') : baseName(String(value)),
      );
  if (shapes !== undefined) parts.set('shapes', shapesText(shapes));
  parts
    .set('TensorRT', tensorrt.version === null ? '' : releaseName(tensorrt))
    .set('gpu', gpu ?? '')
    .set('driver', driver ?? '')
    .set('backend', backend)
    .set('model', baseName(model.file))
    .set('content', model.sha256 ?? '')
    .set('rules', rulesSha256 ?? '');
  return parts;
}

/** Parts that a build has or lacks; of all others, '' means that it is not known. */
const hasOrLacks = (part: string): boolean => part === 'overrides' || part.startsWith('option ');

function requestChanges(a: BuildManifest, b: BuildManifest): Map<string, [string, string]> {
  const [before, after] = [requestOf(a), requestOf(b)];
  const changes = new Map<string, [string, string]>();
  for (const part of new Set([...before.keys(), ...after.keys()])) {
    const pair: [string, string] = [before.get(part) ?? '', after.get(part) ?? ''];
    if (pair[0] !== pair[1] && (hasOrLacks(part) || !pair.includes(''))) changes.set(part, pair);
  }
  // A renamed file with the same content is the same model.
  if (!changes.has('content') && a.model.sha256 !== null && b.model.sha256 !== null) changes.delete('model');
  // Another product has another back-end.
  if (changes.has('TensorRT') && a.tensorrt.product !== b.tensorrt.product) changes.delete('backend');
  return changes;
}

type Release = BuildManifest['tensorrt'];

/** `TensorRT 8.6.1 → 10.6.0`; '' where both are the same, or one is not known. */
export function releaseChange(a: Release, b: Release): string {
  const [before, after] = [releaseName(a), releaseName(b)];
  if (a.version === null || b.version === null || before === after) return '';
  return `${before} → ${a.product === b.product ? b.version : after}`;
}

/** What differs in what two builds were requested, in one line: `FP32 → FP16 by model.trtprec`; '' for nothing. */
export function requestText(a: BuildManifest, b: BuildManifest): string {
  const changes = requestChanges(a, b);
  const arrow = (part: string): string => {
    const [before = '', after = ''] = changes.get(part) ?? [];
    return before === after ? '' : `${before || 'none'} → ${after || 'none'}`;
  };
  const [without, with_] = changes.get('overrides') ?? ['', ''];
  const rules =
    without === '' && with_ !== ''
      ? `by ${with_}`
      : without !== '' && with_ === ''
        ? `without ${without}`
        : arrow('overrides') ||
          (changes.has('rules') ? `other rules in ${requestOf(b).get('overrides') ?? 'the file'}` : '');
  const precision = arrow('precision');
  const words = [
    changes.has('model') ? arrow('model') : changes.has('content') ? `${baseName(b.model.file)} has changed` : '',
    [precision, rules].filter((text) => text !== '').join(precision !== '' && changes.has('overrides') ? ' ' : ', '),
    releaseChange(a.tensorrt, b.tensorrt),
    ...[...changes].flatMap(([part, [before, after]]) => {
      if (!part.startsWith('option ')) return [];
      const name = part.slice('option '.length);
      if (before === 'on' || after === 'on') return [`${after === 'on' ? 'with' : 'without'} ${name}`];
      return [`${name} ${before || 'default'} → ${after || 'default'}`];
    }),
    changes.has('shapes') ? `shapes ${arrow('shapes')}` : '',
    arrow('gpu'),
    changes.has('driver') ? `driver ${arrow('driver')}` : '',
    arrow('backend'),
  ];
  const said = words.filter((text) => text !== '');
  const most = 4;
  return [...said.slice(0, most), ...(said.length > most ? [`${said.length - most} more`] : [])].join('; ');
}

/** What two builds are called next to each other, by what differs: `FP32` and `FP16`, `no overrides` and `vit.trtprec`. */
export function differingNames(a: BuildManifest, b: BuildManifest): [string, string] {
  if (a.name !== undefined && b.name !== undefined) return [a.name, b.name];
  const all = [...requestChanges(a, b)].filter(([part]) => !['content', 'rules', 'driver', 'shapes'].includes(part));
  // Precision comes with options of its own, such as noTF32: it says enough.
  const main = all.filter(([part]) => !part.startsWith('option '));
  const changes = main.length > 0 ? main : all;
  const named = (side: 0 | 1) =>
    changes
      .slice(0, 2)
      .map(([part, pair]) => {
        const name = part.startsWith('option ') ? part.slice('option '.length) : null;
        if (name === null) return pair[side] || `no ${part}`;
        if (pair.includes('on')) return `${pair[side] === 'on' ? 'with' : 'without'} ${name}`;
        return `${name} ${pair[side] || 'default'}`;
      })
      .join(' · ');
  return [a.name ?? named(0), b.name ?? named(1)];
}

/** What a build is, in few words: `FP16 · 10.6`, `vit.trtprec · RTX 1.7`. */
export function buildWords(manifest: BuildManifest): string[] {
  const { options, tensorrt } = manifest;
  const { product, version } = tensorrt;
  const { overrides } = options;
  const short = version?.split('.').slice(0, 2).join('.');
  return [
    precisionOf(manifest),
    typeof overrides === 'string' ? baseName(overrides) : '',
    options['outputs'] === 'all' ? 'unfused' : '',
    short === undefined ? '' : product === 'tensorrt-rtx' ? `RTX ${short}` : short,
  ].filter((word) => word !== '');
}

/** What the user must know about a build before believing its pictures, one sentence each; often nothing. */
export function buildHints({ origin, tensorrt, gpu, options, name, warnings = [] }: BuildManifest): string[] {
  const hints = [...(name === undefined ? [] : [`Build “${name}”.`]), ...warnings];
  if (origin === 'recorded') hints.push('This is a recorded build. It did not run on this machine.');
  if (tensorrt.product === 'tensorrt-rtx' && gpu === null && origin !== 'imported')
    hints.push(
      'Built without a GPU: these kernels were compiled ahead of time. The kernels that the JIT compiler runs on your GPU may differ.',
    );
  if (options['randomWeights'] === true)
    hints.push('The weights are random: fusion depends on structure, shapes and types, not on values.');
  return hints;
}

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
