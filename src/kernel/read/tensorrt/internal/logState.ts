import type { ParsedNode } from '../../../network/nodeNames.ts';
import type {
  BuildEvent,
  BuildLog,
  BuildPhase,
  BuildStage,
  LogEvidence,
  LoggedForeignNode,
  LoggedGraphNode,
  LogMessage,
  StrayLine,
  TimedCombination,
  TimedLayer,
  TimedOperation,
} from '../buildOutput.ts';
import { BrokenNames, type HeldLine } from './brokenNames.ts';
import type { LogCursor } from './logCursor.ts';
import { LogBuilds } from './logBuilds.ts';
import { ownText } from '../../../base/text.ts';

/** Where in a build the log is: lines without a keyword at their start mean something in one section only. */
export type LogSection = 'start' | 'parse' | 'optimize' | 'tactics' | 'finalize' | 'run';

/** What lines without a prefix continue. */
export type OpenBlock = 'none' | 'message' | 'foreign-node' | 'layers' | 'bindings' | 'io-tensors' | 'profile';

/** Raw lines of one list of engine layers; they are read when the log is over, since only the last list counts. */
export interface LayerList {
  source: 'builder' | 'inspector';
  line: number;
  run: number;
  lines: { text: string; line: number }[];
  bindings: string[];
}

/** Everything that the handlers of single lines know and gather. */
export interface LogState {
  log: BuildLog;
  onEvent: ((event: BuildEvent) => void) | undefined;
  section: LogSection;
  stage: BuildStage;
  block: OpenBlock;
  room: Record<KeptKind, Room>;
  /** Copy what is kept: the text that it is in must not live on after it. */
  copies: boolean;
  /** Texts that many lines repeat. */
  shared: Map<string, string>;
  /** Keep what each tactic took and what the optimizer did; a diagnosis needs only which layers were timed. */
  times: boolean;
  /** Keep the layers that the parser makes of each node. */
  registered: boolean;
  evidence: LogEvidence;
  /** Parser */
  node: ParsedNode | null;
  nodesByName: Map<string, ParsedNode> | null;
  /**
   * Without `registered`, what is kept of nodes but the last is their names: those of the piece at hand, those of each
   * piece before it as one text, and those that were looked through for a name.
   */
  freshNames: string[];
  nodeNames: string[];
  askedNames: Set<string>;
  restartNodes: boolean;
  builds: LogBuilds;
  broken: BrokenNames;
  /** A line that may go on in the next one. */
  held: (HeldLine & { cursor: LogCursor }) | null;
  /** Optimizer */
  phase: BuildPhase | null;
  calibrating: boolean;
  /** The list under `GRAPH NODES`, while the log is in it. */
  graphNodes: LoggedGraphNode[] | null;
  pass: string;
  /** Tactics */
  layer: TimedLayer | null;
  /** The layer was named, or left without a name, where its costs begin: all runners up to the next one are its own. */
  costed: boolean;
  combination: TimedCombination | null;
  /** No tactic of the combination was timed yet. */
  fresh: boolean;
  runner: { name: string; id: string | null };
  tacticName: string | null;
  /** All tactics of the combination, also those that are not kept. */
  tried: Pick<TimedCombination['tactics'][number], 'runner' | 'tactic' | 'ms'>[];
  operation: TimedOperation | null;
  layersTimed: number;
  /** Engine */
  list: LayerList | null;
  /** The list that was closed last, which goes on where another thread's line is in its middle. */
  lastList: LayerList | null;
  builderList: LayerList | null;
  inspectorList: LayerList | null;
  foreignNode: LoggedForeignNode | null;
  /** ForeignNodes of the phase at hand. */
  foreignByName: Map<string, LoggedForeignNode>;
  restartFinalLayers: boolean;
  profileColumns: string[] | null;
  /** Messages */
  message: LogMessage | null;
  /** The message is one behind an unknown prefix, or behind none. */
  stray: boolean;
  /** Lines that are no part of anything known. */
  strays: StrayLine[];
  /** The lines of a Python traceback are being read. */
  traceback: boolean;
  /** `NAME [OP] inputs: […]` of the node that is being parsed. */
  nodeInputs: string;
  parserErrors: { messages: LogMessage[]; indent: number | null; named: boolean } | null;
  /** Frame */
  versionRank: number;
  ended: { outcome: 'passed' | 'failed'; line: number } | null;
  begun: boolean;
  /** What the last line that says anything says about the build, where no frame closes it. */
  verdict: LogState['ended'];
  writers: Map<string, number>;
  /** The engine is built for a number of compute capabilities, not for the GPU at hand. */
  aheadOfTime: boolean;
}

/** Most that is kept of each kind, in entries and in characters. A model of 100,000 nodes fits; a log of gigabytes is counted. */
const LIMITS = {
  parsedNodes: { items: 400_000, chars: 40_000_000 },
  registeredLayers: { items: 1_000_000, chars: 60_000_000 },
  events: { items: 400_000, chars: 60_000_000 },
  foreignNodes: { items: 20_000, chars: 64_000_000 },
  graphNodes: { items: 400_000, chars: 60_000_000 },
  phases: { items: 2000, chars: 1_000_000 },
  funnel: { items: 20_000, chars: 2_000_000 },
  timedLayers: { items: 100_000, chars: 20_000_000 },
  combinations: { items: 200_000, chars: 30_000_000 },
  tactics: { items: 400_000, chars: 40_000_000 },
  skipped: { items: 50_000, chars: 8_000_000 },
  operations: { items: 100_000, chars: 20_000_000 },
  reformats: { items: 50_000, chars: 20_000_000 },
  engineLayers: { items: 300_000, chars: 160_000_000 },
  inspectorLayers: { items: 300_000, chars: 80_000_000 },
  finalLayers: { items: 100_000, chars: 20_000_000 },
  bindings: { items: 20_000, chars: 2_000_000 },
  profile: { items: 200_000, chars: 20_000_000 },
  precision: { items: 200_000, chars: 20_000_000 },
  messages: { items: 5000, chars: 8_000_000 },
  errors: { items: 30_000, chars: 24_000_000 },
  runs: { items: 2000, chars: 4_000_000 },
};

type KeptKind = keyof typeof LIMITS;

/** Room for one kind of entries: what is in it, and how much did not fit. */
export interface Room {
  items: number;
  chars: number;
  readonly maxItems: number;
  readonly maxChars: number;
  dropped: number;
}

function newRooms(): Record<KeptKind, Room> {
  const entries = Object.entries(LIMITS).map(([kind, { items, chars }]): [string, Room] => [
    kind,
    { items: 0, chars: 0, maxItems: items, maxChars: chars, dropped: 0 },
  ]);
  return Object.fromEntries(entries) as Record<KeptKind, Room>;
}

/** Whether there is room for one more entry with `chars` characters; counts it either way. */
export function keep(room: Room, chars: number): boolean {
  if (room.items >= room.maxItems || room.chars + chars > room.maxChars) {
    room.dropped++;
    return false;
  }
  room.items++;
  room.chars += chars;
  return true;
}

/** Whether there is room for `chars` more characters of an entry that is counted already. */
export function keepPart(room: Room, chars: number): boolean {
  if (room.chars + chars > room.maxChars) return false;
  room.chars += chars;
  return true;
}

/** Empties a room whose entries are being replaced. */
export function forget(room: Room): void {
  room.items = 0;
  room.chars = 0;
}

/** Numbers of entries that did not fit, by kind. */
export function droppedOf(state: LogState): Record<string, number> {
  const dropped: Record<string, number> = {};
  for (const [kind, room] of Object.entries(state.room)) if (room.dropped > 0) dropped[kind] = room.dropped;
  return dropped;
}

export function emptyBuildLog(): BuildLog {
  return {
    product: null,
    version: null,
    writer: null,
    gpu: null,
    outcome: 'unknown',
    lines: 0,
    parsedNodes: [],
    phases: [],
    engineLayers: [],
    bindings: [],
    finalLayers: [],
    profile: [],
    precision: [],
    messages: [],
    memory: { workspace: null, activation: null, weights: null, scratch: null },
    timingCacheHits: 0,
    seconds: { parse: null, build: null },
    runs: [],
    model: null,
    dropped: {},
    timingCache: { mode: null, loadedBytes: null, savedBytes: null, entries: null, served: null },
  };
}

export function newLogState(
  onEvent: ((event: BuildEvent) => void) | undefined,
  { copies, times, registered }: Pick<LogState, 'copies' | 'times' | 'registered'>,
): LogState {
  return {
    log: emptyBuildLog(),
    onEvent,
    section: 'start',
    stage: 'start',
    block: 'none',
    room: newRooms(),
    copies,
    shared: new Map(),
    times,
    registered,
    evidence: { library: 0, prefixed: 0, phrases: 0, tools: 0 },
    node: null,
    nodesByName: null,
    freshNames: [],
    nodeNames: [],
    askedNames: new Set(),
    restartNodes: false,
    builds: new LogBuilds(),
    broken: new BrokenNames(),
    held: null,
    phase: null,
    calibrating: false,
    graphNodes: null,
    pass: '',
    layer: null,
    costed: false,
    combination: null,
    fresh: false,
    runner: { name: '', id: null },
    tacticName: null,
    tried: [],
    operation: null,
    layersTimed: 0,
    list: null,
    lastList: null,
    builderList: null,
    inspectorList: null,
    foreignNode: null,
    foreignByName: new Map(),
    restartFinalLayers: false,
    profileColumns: null,
    message: null,
    stray: false,
    strays: [],
    traceback: false,
    nodeInputs: '',
    parserErrors: null,
    versionRank: 0,
    ended: null,
    begun: false,
    verdict: null,
    writers: new Map(),
    aheadOfTime: false,
  };
}

/** Tells the listener that the build has come to another stage. */
export function enterStage(state: LogState, stage: BuildStage, line: number): void {
  if (state.stage === stage) return;
  state.stage = stage;
  state.onEvent?.({ kind: 'stage', stage, line });
}

/** The build that the log is in; a log that starts in the middle has one, too. */
export function currentPhase(state: LogState, line: number): BuildPhase {
  return state.phase ?? startPhase(state, line);
}

export function startPhase(state: LogState, line: number): BuildPhase {
  if (state.phase?.calibration) forgetEngine(state);
  const phase: BuildPhase = {
    line,
    calibration: state.calibrating,
    funnel: [],
    events: [],
    foreignNodes: [],
    tactics: [],
    reformats: [],
    operations: [],
    strategy: null,
    removedCombinations: 0,
  };
  if (keep(state.room.phases, 0)) state.log.phases.push(phase);
  state.phase = phase;
  state.layer = null;
  state.combination = null;
  state.operation = null;
  state.foreignByName = new Map();
  state.restartFinalLayers = true;
  return phase;
}

/** What was listed is the engine of the network that the calibration built. */
function forgetEngine(state: LogState): void {
  state.log.finalLayers = [];
  delete state.log.memory.layerScratch;
  forget(state.room.finalLayers);
  state.builderList = null;
  state.inspectorList = null;
}

/** Handles a message that starts with a known phrase; `at` is the first character after it. */
export type PhraseHandler = (state: LogState, cursor: LogCursor, at: number) => void;

/** A stretch of the line to keep. */
export function kept(state: LogState, cursor: LogCursor, from: number, to: number = cursor.to): string {
  const text = cursor.text.slice(from, to);
  return state.copies ? ownText(text) : text;
}

/** A part of a line to keep. */
export function own(state: LogState, text: string): string {
  return state.copies ? ownText(text) : text;
}

/** A part of a line to keep that other lines repeat: all of them keep one text. */
export function shared(state: LogState, text: string): string {
  const known = state.shared.get(text);
  if (known !== undefined) return known;
  const first = own(state, text);
  state.shared.set(first, first);
  return first;
}
