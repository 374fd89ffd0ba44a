// How a program frames its log: its start, its end, its command.
import { type BuildLog, decodeVersion, type LogRun } from '../buildOutput.ts';
import type { LogCursor } from './logCursor.ts';
import { addMessage } from './logMessages.ts';
import { enterStage, keep, kept, type LogState, own, type PhraseHandler } from './logState.ts';

/** What only Polygraphy says; a log of it need not hold a build. */
const TOOL_PHRASES: [string, PhraseHandler][] = [
  "'colored' module is not installed",
  'TF32 is disabled by default',
  'Loading tactic replay file',
  'Loading model: ',
  'Loading bytes from ',
  '==== TensorRT Engine ====',
  '==== ONNX Model ====',
  '==== Data (',
  'Accuracy Comparison | ',
  'Saving input file',
  'the following plugins matched',
  'Will generate inference input data',
].map((text): [string, PhraseHandler] => [text, onTool]);

function onTool(state: LogState): void {
  state.evidence.tools++;
  state.log.writer ??= 'polygraphy';
}

function onBuilding(state: LogState, cursor: LogCursor): void {
  onTool(state);
  state.begun = true;
  state.verdict = null;
  enterStage(state, 'optimize', cursor.line);
}

/** Lines about the program that writes, its versions and the device. */
export const FRAME_PHRASES: [string, PhraseHandler][] = [
  ['&&&& ', onFrame],
  ['RUNNING | Command: ', (state, cursor, at) => startRunOf(state, cursor, 'polygraphy', kept(state, cursor, at))],
  ['PASSED | Runtime: ', (state, cursor, at) => onRuntime(state, cursor, at, 'passed')],
  ['FAILED | Runtime: ', (state, cursor, at) => onRuntime(state, cursor, at, 'failed')],
  ['PASSED | Iteration ', (state, cursor, at) => onIteration(state, cursor, at, 'passed')],
  ['FAILED | Iteration ', (state, cursor, at) => onIteration(state, cursor, at, 'failed')],
  ['Loaded Module: ', onModule],
  ['TensorRT version: ', (state, cursor, at) => setVersion(state, cursor.text.slice(at, cursor.to), 2)],
  ['Loaded shared library libnvinfer', onLibrary],
  ['Trying to load shared library libnvinfer', onLibrary],
  ['Selected Device: ', (state, cursor, at) => (state.log.gpu = kept(state, cursor, at).trim() || null)],
  ['Selected: Device(', onTorchDevice],
  ['=== Model Options ===', (state) => (state.log.writer ??= 'trtexec')],
  ...TOOL_PHRASES,
  ['Building engine with configuration:', onBuilding],
  ['Number of target compute capabilities: ', (state) => (state.aheadOfTime = true)],
  [
    '[MemUsageChange] TensorRT-managed allocation in IExecutionContext creation',
    (state) => void (state.log.reached = 'context'),
  ],
  ['Loading standard plugins', (state) => void (state.log.reached = 'plugins')],
  ['Applying generic optimizations to the graph', (state) => void (state.log.reached = 'optimizing')],
  ['Compiler backend is used during engine build', (state) => void (state.log.reached = 'optimizing')],
  ['Session successfully initialized', (state) => void (state.log.sessionReady = true)],
  // TF-TRT says at the level of information what it leaves to TensorFlow.
  ['Not a TF-TRT candidate', (state, cursor) => addMessage(state, cursor, 'warning')],
  ['[DlaLayer] ', (state, cursor, at) => onDevice(state, kept(state, cursor, at), true)],
  ['[GpuLayer] ', (state, cursor, at) => onDevice(state, kept(state, cursor, at), false)],
  ['Throughput: ', (state, cursor, at) => (state.log.throughput = Number.parseFloat(kept(state, cursor, at)) || null)],
];

/** Torch-TensorRT's `Selected: Device(ID: 0, Name: NVIDIA A40, SM Capability: 8.6, Type: GPU)` */
function onTorchDevice(state: LogState, cursor: LogCursor, at: number): void {
  const name = /^ID: \d+, Name: ([^,]+), /.exec(cursor.text.slice(at, cursor.to))?.[1];
  if (name !== undefined) state.log.gpu = own(state, name);
}

/** `[DlaLayer] {ForeignNode[a...b]}`: a loadable of the DLA; `[GpuLayer] SCALE: c`: a layer that runs on the GPU. */
function onDevice(state: LogState, text: string, isLoadable: boolean): void {
  const devices = (state.log.devices ??= { loadables: [], gpuLayers: 0, layers: [] });
  const name = (isLoadable ? text : text.replace(/^[A-Z][A-Z_0-9]*: /, '')).trim();
  if (!isLoadable) devices.gpuLayers++;
  else if (devices.loadables.length < MOST_LOADABLES) devices.loadables.push(name);
  if (devices.layers.length < MOST_LISTED) devices.layers.push(name);
}

/** Longer lists are no answer: without the engine's layers they stand for them. */
const MOST_LISTED = 100_000;

/** A DLA core holds 16. */
const MOST_LOADABLES = 1000;

/**
 * The product and its writer where nothing names them. TensorRT-RTX loads no builder resources, which name a version, and
 * builds for a number of compute capabilities.
 */
export function finishProduct(state: LogState): void {
  const { log } = state;
  log.writer ??= WRITERS.find(([form]) => state.writers.has(form))?.[1] ?? null;
  if (log.product !== null) return;
  if (log.host === 'nv-tensorrt-rtx') log.product = 'tensorrt-rtx';
  else if (log.version !== null) log.product = 'tensorrt';
  else if (state.aheadOfTime) log.product = 'tensorrt-rtx';
}

const WRITERS: [string, NonNullable<BuildLog['writer']>][] = [
  ['python', 'python'],
  ['onnxruntime', 'onnxruntime'],
  ['untimed', 'driver'],
];

/** `&&&& RUNNING TensorRT.trtexec [TensorRT v100600] [b26] # trtexec --onnx=…` */
function onFrame(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(RUNNING|PASSED|FAILED)(?: (\S+))?(?: \[TensorRT v(\d+)\])?(?: \[b\d+\])?(?: # ?(.*))?$/.exec(
    cursor.text.slice(at, cursor.to),
  );
  if (match === null) return;
  const [, word, program = '', version, command = ''] = match;
  state.evidence.tools++;
  if (program !== '') state.log.writer = program.endsWith('.build_engine') ? 'driver' : 'trtexec';
  state.log.product = /rtx/i.test(program) ? 'tensorrt-rtx' : (state.log.product ?? 'tensorrt');
  if (version) setVersion(state, version, 1);
  if (word === 'RUNNING') startRunOf(state, cursor, own(state, program), own(state, command));
  else end(state, cursor, word === 'PASSED' ? 'passed' : 'failed', command);
}

function startRunOf(state: LogState, cursor: LogCursor, program: string, command: string): void {
  state.evidence.tools++;
  if (program === 'polygraphy') state.log.writer = 'polygraphy';
  state.ended = null;
  state.begun = true;
  state.verdict = null;
  state.builds.frame(cursor.line);
  const run: LogRun = { program, command, line: cursor.line, outcome: 'cut-off' };
  if (keep(state.room.runs, command.length)) (state.log.runs ??= []).push(run);
}

/** `FAILED | Runtime: 13.4s | Command: polygraphy run …` */
function onRuntime(state: LogState, cursor: LogCursor, at: number, outcome: 'passed' | 'failed'): void {
  end(state, cursor, outcome, cursor.text.slice(at, cursor.to).split(' | Command: ')[1] ?? '');
}

function end(state: LogState, cursor: LogCursor, outcome: 'passed' | 'failed', command: string): void {
  if (cursor.text.startsWith('PASSED |', cursor.from) || cursor.text.startsWith('FAILED |', cursor.from))
    state.log.writer = 'polygraphy';
  state.ended = { outcome, line: cursor.line };
  const run = state.log.runs?.at(-1);
  if (run && run.outcome === 'cut-off') run.outcome = outcome;
  if (run === undefined && command !== '') state.log.endedCommand = own(state, command);
  enterStage(state, 'end', cursor.line);
  state.onEvent?.({ kind: 'outcome', outcome, line: cursor.line });
}

/** `FAILED | Iteration 3 | Duration 21.5s`: one of the builds that `polygraphy debug` tries. */
function onIteration(state: LogState, cursor: LogCursor, at: number, outcome: 'passed' | 'failed'): void {
  onTool(state);
  const number = Number.parseInt(cursor.text.slice(at, cursor.to), 10);
  if (Number.isFinite(number) && keep(state.room.runs, 20))
    (state.log.iterations ??= []).push({ number, outcome, line: cursor.line });
}

/** `Loaded Module: tensorrt | Version: 10.6.0 | Path: …` */
function onModule(state: LogState, cursor: LogCursor, at: number): void {
  const match = /^(\S+) +\| Version: (\S+)/.exec(cursor.text.slice(at, cursor.to));
  if (match === null) return;
  onTool(state);
  if (!/^tensorrt(?:_rtx)?$/.test(match[1]!)) return;
  if (match[1] === 'tensorrt_rtx') state.log.product = 'tensorrt-rtx';
  setVersion(state, match[2]!, 3);
}

/** `libnvinfer_builder_resource_sm90.so.11.2.1`: the library's own version, where trtexec may be of another. */
function onLibrary(state: LogState, cursor: LogCursor, at: number): void {
  const match = /\.so\.(\d+\.\d+\.\d+)|_(\d+)\.dll/.exec(cursor.text.slice(at, cursor.to));
  if (match?.[1]) setVersion(state, match[1], 3);
}

function setVersion(state: LogState, text: string, rank: number): void {
  const version = decodeVersion(text.trim());
  if (version === null || rank < state.versionRank) return;
  state.versionRank = rank;
  state.log.version = version;
}

/**
 * How the log ends: its last frame, otherwise what its lines say about the build. A run whose end line is missing was
 * cut off, also when the engine was built by then; a call for help has no end line.
 */
export function finishOutcome(state: LogState): void {
  const { log } = state;
  const run = log.runs?.at(-1);
  if (state.ended) log.outcome = state.ended.outcome;
  else if (state.verdict?.outcome === 'failed') log.outcome = 'failed';
  else if (run && / (?:--help|-h)\b/.test(run.command)) log.outcome = 'unknown';
  else if (run || (state.begun && state.verdict === null)) log.outcome = 'cut-off';
  else log.outcome = state.verdict?.outcome ?? 'unknown';
  if (log.outcome === 'passed') log.passed = (state.ended ?? state.verdict)!.line;
  if (run && run.outcome === 'cut-off' && log.outcome !== 'cut-off' && log.outcome !== 'unknown')
    run.outcome = log.outcome;
}
