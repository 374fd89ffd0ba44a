// A diagnosis; the state of a build.
import { counted } from '../base/text.ts';
import type { BuildFailure, BuildManifest, DiagnosisCode } from './buildManifest.ts';
import { causeText } from './causeText.ts';

export type { DiagnosisCode };

/** How sure a diagnosis is: TensorRT's line says it, it follows in most cases, or it is what such logs often mean. */
export type Sureness = 'stated' | 'likely' | 'possible';

/** An error that followed from another. */
export interface Consequence {
  line: number;
  message: string;
}

/** What went wrong in a build, in plain words, and what to do next. */
export interface Diagnosis {
  code: DiagnosisCode;
  /** The row of the table that knew the message; null: none did. */
  rule: string | null;
  severity: 'error' | 'warning';
  message: string;
  advice: string;
  sure: Sureness;
  /** Line of the log that says it, from 1. */
  line: number;
  /** What that line says, in one line. */
  evidence: string;
  /** Ids of the ONNX nodes concerned, the most likely first; empty if the log names none or there is no model. */
  nodes: string[];
  /** The layer or node as TensorRT names it; null if it names none. */
  layer: string | null;
  /** Id of a repair of the model that removes the cause, the first thing to do. */
  repair?: string;
  /** Errors that followed from this one. */
  follows: Consequence[];
  /** Messages of the log that say this, if there are several. */
  count?: number;
}

/** What a view offers to do next. */
export type BuildStep =
  | 'randomWeights'
  | 'shapes'
  | 'buildAs'
  | 'build'
  | 'check'
  | 'profile'
  | 'attach'
  | 'attachNear'
  | 'log'
  | 'cancel'
  | 'chooseModel'
  | 'optimizationProfile'
  | 'plugin'
  | 'repair'
  | 'reduce'
  | 'memory';

/** The labels of the steps, on buttons. */
export const stepWords: Record<BuildStep, string> = {
  randomWeights: 'Build with Random Weights',
  shapes: 'Set Shapes…',
  buildAs: 'Change Build Options…',
  build: 'Build Again',
  check: 'Check Model',
  profile: 'Build and Time Layers',
  attach: 'Open Profile…',
  attachNear: 'Open as a Build',
  log: 'Open Log',
  cancel: 'Cancel Build',
  chooseModel: 'Choose the ONNX File…',
  optimizationProfile: 'Select Optimization Profile…',
  plugin: 'Replace by Plugin…',
  repair: 'Repair Model…',
  reduce: 'Reduce to a Minimal Model…',
  memory: 'Show Memory',
};

/** Something about the builds of a model that its picture alone does not show. */
export interface BuildNotice {
  kind: 'failed' | 'cancelled' | 'stale' | 'profile' | 'engine' | 'part' | 'near' | 'checked';
  /** What happened. */
  message: string;
  /** What helps; '' if the message says it. */
  advice: string;
  steps: BuildStep[];
}

/** An error or a warning of a build that did not pass, with the nodes that it names. */
export type NodeFault = Pick<Diagnosis, 'severity' | 'message' | 'advice' | 'line' | 'nodes'>;

/** How the builds of a model stand, for its views. */
export interface BuildState {
  notices: BuildNotice[];
  faults: NodeFault[];
  /** Line of the log of the build that did not pass, from 1; null: it passed, or it has no log. */
  line: number | null;
}

/** Number of an optimization profile, from 0, and how many the engine has. */
interface ShownProfile {
  shown: number;
  of: number;
}

/** What is known about the builds of a model. */
export interface StateInput {
  /** The newest build, or the one that was chosen, where it did not pass; with what its log says. */
  unsuccessful: { manifest: BuildManifest; found: readonly Diagnosis[] } | null;
  /** The build that the picture shows; null: the picture shows none. */
  pictured: BuildManifest | null;
  /** Whether the model was changed after that build. */
  changed: boolean;
  /** Which optimization profile of its engine the picture shows; omitted: the engine has one. */
  optimizationProfile?: ShownProfile | undefined;
}

/** What the views say about the builds of a model: why the last one did not pass, and whether the picture is of this file. */
export function buildState({ unsuccessful, pictured, changed, optimizationProfile }: StateInput): BuildState {
  const notices: BuildNotice[] = [];
  if (unsuccessful) notices.push(outcomeNotice(unsuccessful, pictured));
  if (changed && pictured) notices.push(staleNotice(pictured));
  if (optimizationProfile) notices.push(partNotice(optimizationProfile));
  const found = unsuccessful?.found ?? [];
  const hasLog = unsuccessful !== null && unsuccessful.manifest.files.log !== null;
  return {
    notices,
    faults: found.map((one) => ({ ...faultOf(one), advice: adviceFor(one) })),
    // Without a cause, the end of the log says most.
    line: hasLog ? (firstError(found)?.line ?? Number.MAX_SAFE_INTEGER) : null,
  };
}

/**
 * What the views say about an engine without its model; `others`: names of the files that were read with it. `failure`:
 * what the log of a build says that failed before there was an engine. `profile`: as `StateInput.optimizationProfile`.
 */
export function engineState(
  others: readonly string[],
  failure?: readonly Diagnosis[],
  profile?: ShownProfile,
): BuildState {
  if (failure !== undefined) return failureState(failure);
  const more =
    others.length === 0
      ? ''
      : ` It also shows what ${others.join(' and ')} in the same folder ${others.length === 1 ? 'says' : 'say'}.`;
  const notice: BuildNotice = {
    kind: 'engine',
    message: `This is the graph of the engine: its nodes are layers.${more}`,
    advice: 'Choose the ONNX file to see what happened to its nodes.',
    steps: ['chooseModel'],
  };
  return { notices: [notice, ...(profile ? [partNotice(profile)] : [])], faults: [], line: null };
}

/** What the views say about a model without builds that has files of one next to it; `names`: of these files. */
export const nearNotice = (names: readonly string[]): BuildNotice => ({
  kind: 'near',
  message: `${names.join(' and ')} next to this model ${names.length === 1 ? 'is' : 'are'} from a build of it.`,
  advice: '',
  steps: ['attachNear'],
});

const faultOf = ({ severity, message, line, nodes }: Diagnosis): Omit<NodeFault, 'advice'> => ({
  severity,
  message,
  line,
  nodes,
});

function failureState(found: readonly Diagnosis[]): BuildState {
  const cause = firstError(found);
  const notice: BuildNotice = {
    kind: 'failed',
    message: `Build failed. ${cause?.message ?? noCause}`,
    advice: [cause === undefined ? '' : adviceFor(cause), 'Choose the ONNX file to see the nodes that the log names.']
      .filter((part) => part !== '')
      .join(' '),
    steps: ['chooseModel', 'log'],
  };
  return { notices: [notice], faults: [], line: cause?.line ?? Number.MAX_SAFE_INTEGER };
}

/** What may help after a build that did not pass, the most likely first. */
export function stepsAfter(manifest: BuildManifest, cause: Diagnosis | undefined): BuildStep[] {
  const log: BuildStep[] = manifest.files.log === null ? [] : ['log'];
  if (manifest.result === 'cancelled') return ['build', ...log];
  if (lacksWeights(cause, manifest.failure)) return ['randomWeights', ...log];
  return [...(cause ? stepsOf(manifest, cause) : []), ...log];
}

/** What may help against an error of a build that failed, the most likely first; a known repair before all others. */
export function stepsOf(
  manifest: BuildManifest,
  { code, nodes, repair }: Pick<Diagnosis, 'code' | 'nodes' | 'repair'>,
): BuildStep[] {
  const possible: Partial<Record<BuildStep, boolean>> = { shapes: mayBeOpen(manifest), plugin: nodes.length > 0 };
  const steps = (stepsFor[code] ?? []).filter((step) => possible[step] ?? true);
  return repair === undefined ? steps : ['repair', ...steps.filter((step) => step !== 'repair')];
}

/** How to get times for a build without a profile. */
export function profileNotice({ backend, origin, tensorrt }: BuildManifest): BuildNotice {
  const times = backend === 'trtexec' && origin === 'built';
  const product =
    tensorrt.product === 'tensorrt-rtx' ? 'TensorRT-RTX' : backend === 'polygraphy' ? 'Polygraphy' : 'Python';
  return {
    kind: 'profile',
    message: 'No profile, so the times of nodes are unknown.',
    advice: times
      ? 'Build again and time each layer on the GPU, or open a profile of this build.'
      : origin === 'built'
        ? `A build with ${product} does not time layers. Open a profile with the log or layer info of its build, or build with trtexec.`
        : 'Open the profile together with the log or layer info of this build.',
    steps: times ? ['profile', 'attach'] : ['attach'],
  };
}

const firstError = (found: readonly Diagnosis[]): Diagnosis | undefined =>
  found.find(({ severity }) => severity === 'error');

/** Whether the model may leave sizes of its inputs open. */
const mayBeOpen = ({ shapes, options }: BuildManifest): boolean =>
  shapes === undefined || options['profiles'] !== undefined || shapes.flat().some(({ defaulted }) => defaulted);

/** The program may have stopped at a missing file before TensorRT did. */
const lacksWeights = (cause: Diagnosis | undefined, failure: BuildFailure | undefined): boolean =>
  cause?.code === 'weights-missing' || failure?.code === 'weights-missing';

/** A repair is last where none is known: trying the catalogue may still find one. */
const stepsFor: Partial<Record<DiagnosisCode, BuildStep[]>> = {
  'profile-missing': ['shapes'],
  'profile-inconsistent': ['shapes'],
  'unknown-input': ['shapes'],
  'shape-mismatch': ['shapes', 'reduce', 'repair'],
  'type-mismatch': ['reduce', 'repair'],
  'shape-values-missing': ['shapes'],
  'unsupported-op': ['plugin', 'reduce', 'repair'],
  'unsupported-form': ['reduce', 'repair'],
  'unsupported-type': ['reduce', 'repair'],
  'control-flow': ['reduce', 'repair'],
  quantization: ['reduce', 'repair'],
  'flag-conflict': ['buildAs'],
  killed: ['buildAs', 'reduce'],
  crashed: ['reduce'],
  failed: ['buildAs'],
  'precision-ignored': ['buildAs'],
  'calibration-failed': ['buildAs'],
  'plugin-missing': ['plugin', 'reduce', 'repair'],
  internal: ['reduce', 'repair'],
  'workspace-too-small': ['buildAs', 'memory'],
  'out-of-memory': ['buildAs', 'memory'],
  'no-implementation': ['buildAs', 'reduce', 'repair'],
  'calibration-missing': ['buildAs'],
  'unknown-flag': ['buildAs'],
  'bad-flag-value': ['buildAs'],
  'cut-off': ['build'],
};

/** Where a button does what the command line would: its advice names no flags. */
const buttonAdvice: Partial<Record<BuildFailure['code'], string>> = {
  'profile-missing': 'Set the shapes of the dynamic inputs.',
  'shape-values-missing': 'Set the values of this input in place of its shape.',
  'flag-conflict': 'Build without a precision option: the types come from the model.',
  'profile-inconsistent': 'Set the shapes again: minimum ≤ optimum ≤ maximum along each open dimension.',
  'workspace-too-small': 'Increase the workspace, or leave it unlimited.',
  'weights-missing':
    'Put the external weights next to the model. Fusion depends on structure, shapes and types, so a build with random weights shows the same groups.',
};

/** What helps against an error, for readers who have buttons instead of a command line. */
export const adviceFor = ({ code, advice }: Pick<BuildFailure, 'code' | 'advice'>): string =>
  buttonAdvice[code] ?? advice;

/** Why a build failed, as its manifest says, with advice for those readers; null: it does not say. */
export const failureReason = ({ failure, error }: Pick<BuildManifest, 'failure' | 'error'>): string | null =>
  failure === undefined ? error : [sentence(failure.message), adviceFor(failure)].join(' ').trim();

const noCause = 'The log has the reason.';

function outcomeNotice(
  { manifest, found }: NonNullable<StateInput['unsuccessful']>,
  pictured: BuildManifest | null,
): BuildNotice {
  const cause = firstError(found);
  const errors = found.filter(({ severity }) => severity === 'error').length;
  const earlier =
    pictured !== null && pictured.id !== manifest.id ? 'The picture shows the newest successful build.' : '';
  const cancelled = manifest.result === 'cancelled';
  const message = cancelled
    ? cancelledText(manifest)
    : `Build failed. ${cause?.message ?? sentence(causeText(manifest.failure?.message ?? manifest.error ?? noCause))}`;
  const more = errors > 1 ? `${counted(errors - 1, 'more error')} in the Problems panel.` : '';
  const lacks = lacksWeights(cause, manifest.failure);
  const advice = cancelled ? '' : lacks ? buttonAdvice['weights-missing']! : cause ? adviceFor(cause) : '';
  return {
    kind: cancelled ? 'cancelled' : 'failed',
    message,
    advice: [advice, more, earlier].filter((part) => part !== '').join(' '),
    steps: stepsAfter(manifest, cause),
  };
}

/** A log that just ends may be a part of the log of a build that went on. */
function cancelledText({ failure, origin }: BuildManifest): string {
  if (failure?.code === 'interrupted') return 'Build interrupted: the program that ran it is gone.';
  return origin === 'imported' ? 'The log ends before the build does.' : 'Build cancelled.';
}

const staleNotice = ({ origin }: BuildManifest): BuildNotice => ({
  kind: 'stale',
  message:
    origin === 'built'
      ? 'The model changed after this build, so groups, layers and times may not match it.'
      : 'The model changed after this build was opened, so groups, layers and times may not match it.',
  advice: '',
  steps: ['build'],
});

const partNotice = ({ shown, of }: ShownProfile): BuildNotice => ({
  kind: 'part',
  message: `The engine has ${of} optimization profiles, each with layers of its own. This is profile ${shown}.`,
  advice: '',
  steps: ['optimizationProfile'],
});

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** Something that decides, or may decide, whether the build is refused. */
export interface CheckFinding {
  /** `error`: will be refused; `warning`: builds, but not as meant; `unknown`: the tables do not say. */
  severity: 'error' | 'warning' | 'unknown';
  code: string;
  message: string;
  advice: string;
  /** Ids of the nodes concerned. */
  nodes: string[];
  /** Inputs and outputs concerned. */
  tensors: string[];
  /** Id of a repair of the model that removes it. */
  repair?: string;
}
