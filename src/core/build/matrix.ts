import { buildOptions, type OptionName, optionRows } from './buildOptions.ts';
import type { EngineOptions } from './engineOptions.ts';
import { type Launcher, readLauncher } from './launcher.ts';
import { fitsKind, kindText } from './optionKind.ts';

/** Options that each build of a matrix may have: those of a build, but what the matrix itself gives. */
export type MatrixOptions = Omit<
  Partial<EngineOptions>,
  'model' | 'engine' | 'precision' | 'backend' | 'recordChoices'
>;

/** A place and a version to build with. */
export interface MatrixTarget {
  name: string;
  backend?: NonNullable<EngineOptions['backend']>;
  /** The program there; for the Python backends the interpreter. */
  program?: string;
  /** Version of TensorRT there: a cluster's jobs are written without asking the program. */
  tensorrt?: string;
  launcher?: Launcher;
  options?: MatrixOptions;
  /** Arguments of `sbatch`, such as `--gres=gpu:h100:1`. */
  sbatch?: string[];
  /** Container image of a Kubernetes job. */
  image?: string;
}

/** What to do with a Kubernetes cluster. */
export interface MatrixKubernetes {
  /** Persistent volume claim, and where it is mounted. */
  claim: string;
  mount: string;
  namespace?: string;
  /** GPUs of each pod. Default: 1. */
  gpus?: number;
}

/** Models × precisions × targets, as the user wrote them. */
export interface Matrix {
  models: string[];
  precisions: NonNullable<EngineOptions['precision']>[];
  targets: MatrixTarget[];
  options: MatrixOptions;
  /** Combinations to leave out; what a rule does not name, it takes any of. */
  exclude: { model?: string; precision?: string; target?: string }[];
  /** How many builds at a time. Default: 1. */
  concurrency: number;
  /** Folders here, and what the cluster's nodes call them. */
  paths: { here: string; there: string }[];
  kubernetes?: MatrixKubernetes;
}

/** One build of a matrix. */
export interface MatrixJob {
  /** `vit_tiny-fp16-h100`; unique. */
  name: string;
  /** As the matrix names it. */
  model: string;
  precision: NonNullable<EngineOptions['precision']>;
  target: MatrixTarget;
  options: MatrixOptions;
}

/** Reads a matrix, which may be anything: the matrix with every default in it, or in a sentence what is wrong. */
export function readMatrix(value: unknown): Matrix | string {
  const wrong =
    shapeOf(value, 'The matrix', {
      models: isNames,
      precisions: (list) => isNames(list) && list.every((one) => isWord('precision', one)),
      targets: (list) => Array.isArray(list) && list.length > 0,
      options: isObject,
      exclude: (list) => Array.isArray(list) && list.every((one) => isObject(one) && Object.values(one).every(isName)),
      concurrency: (count) => Number.isInteger(count) && (count as number) > 0,
      paths: isPaths,
      kubernetes: isObject,
    }) ??
    (isObject(value) && value['models'] === undefined ? 'The matrix has no "models". Add a list of ONNX files.' : null);
  if (wrong !== null) return wrong;
  const given = value as Partial<Matrix>;
  const targets = given.targets ?? [{ name: 'here' }];
  for (const target of targets) {
    const trouble = targetTrouble(target);
    if (trouble !== null) return trouble;
  }
  const names = targets.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `Two targets are named "${twice}". Use unique names.`;
  const trouble =
    optionsTrouble(given.options, 'The matrix') ??
    (given.kubernetes === undefined ? null : kubernetesTrouble(given.kubernetes));
  if (trouble !== null) return trouble;
  return {
    precisions: ['fp32'],
    options: {},
    exclude: [],
    concurrency: 1,
    paths: [],
    ...(given as Pick<Matrix, 'models'>),
    targets,
  };
}

/** Every build that the matrix asks for, in the order of targets, models, precisions. */
export function matrixJobs({ models, precisions: wanted, targets, options, exclude }: Matrix): MatrixJob[] {
  const all = targets.flatMap((target) =>
    models.flatMap((model) =>
      wanted.map((precision) => ({ model, precision, target, options: { ...options, ...target.options } })),
    ),
  );
  const jobs = all.filter(
    ({ model, precision, target }) =>
      !exclude.some(
        (rule) =>
          (rule.model ?? model) === model &&
          (rule.precision ?? precision) === precision &&
          (rule.target ?? target.name) === target.name,
      ),
  );
  const taken = new Set<string>();
  return jobs.map((job) => {
    const stem = job.model
      .split(/[\\/]/)
      .at(-1)!
      .replace(/(\.onnx)?(\.gz)?$/i, '')
      .replaceAll(/[^\w.-]/g, '_');
    const plain = `${stem}-${job.precision}-${job.target.name}`;
    let name = plain;
    for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
    taken.add(name);
    return { name, ...job };
  });
}

function targetTrouble(target: unknown): string | null {
  const name = isObject(target) ? target['name'] : undefined;
  if (typeof name !== 'string' || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(name))
    return `A target's "name": ${JSON.stringify(name)} must consist of lower-case letters, digits and dashes.`;
  const what = `The target "${name}"`;
  const wrong = shapeOf(target, what, {
    name: isName,
    backend: (backend) => isWord('backend', backend),
    program: isName,
    tensorrt: (version) => isName(version) && /^\d+\.\d+(\.\d+)*$/.test(version),
    launcher: isObject,
    options: isObject,
    sbatch: (list) => isNames(list) && list.every((one) => /^-[^\n\r]*$/.test(one)),
    image: isName,
  });
  if (wrong !== null) return wrong;
  const { launcher, options } = target as MatrixTarget;
  const read = launcher === undefined ? null : readLauncher(launcher);
  return typeof read === 'string' ? `${what}: ${read}` : optionsTrouble(options, what);
}

const kubernetesTrouble = (kubernetes: unknown): string | null => {
  const wrong = shapeOf(kubernetes, '"kubernetes"', {
    claim: isName,
    mount: (path) => isName(path) && path.startsWith('/'),
    namespace: isName,
    gpus: (count) => Number.isInteger(count) && (count as number) >= 0,
  });
  if (wrong !== null) return wrong;
  const { claim, mount } = kubernetes as Partial<MatrixKubernetes>;
  return claim === undefined || mount === undefined ? '"kubernetes" needs a "claim" and its "mount".' : null;
};

const known = new Map(optionRows.filter(([, { except }]) => !except?.includes('matrix')));

function optionsTrouble(options: unknown, what: string): string | null {
  for (const [name, value] of Object.entries(options ?? {})) {
    const row = known.get(name as OptionName);
    if (row === undefined) return `${what}: unknown option "${name}"; options are ${[...known.keys()].join(', ')}.`;
    if (!fitsKind(value, row.kind))
      return `${what}: the option "${name}" is ${JSON.stringify(value)}, expected ${kindText(row.kind)}.`;
  }
  return null;
}

const isWord = (name: 'backend' | 'precision', value: unknown): boolean => fitsKind(value, buildOptions[name].kind);

/** What is wrong with an object's names and values; null: nothing. A value that is missing is right. */
function shapeOf(value: unknown, what: string, fits: Record<string, (value: unknown) => boolean>): string | null {
  if (!isObject(value)) return `${what} must be an object, not ${JSON.stringify(value) ?? 'empty'}.`;
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(fits, name)) return `${what}: unknown key "${name}"; keys are ${Object.keys(fits).join(', ')}.`;
    if (!fits[name]!(given)) return `${what}: "${name}" cannot be ${JSON.stringify(given)}.`;
  }
  return null;
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !/[\0\r\n]/.test(value);
const isNames = (value: unknown): value is string[] => Array.isArray(value) && value.length > 0 && value.every(isName);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isPaths = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && isName(one['here']) && isName(one['there']));
