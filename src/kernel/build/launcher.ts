// Launchers, matrices and their cluster scripts.
import { quoteCommand } from '../base/text.ts';
import { fitsKind, kindText } from './buildManifest.ts';
import { buildOptions, type EngineOptions, type OptionName, optionRows } from './buildOptions.ts';

/**
 * A template that runs a build's command elsewhere: in a container, on another host, by a cluster. Texts may hold
 * `{name}`s, see `LaunchPlaces`.
 */
export interface Launcher {
  /**
   * The command line. One element is `{command}`, for the build's program and arguments, one element each; or holds
   * `{shell}`, for the same as one text, quoted for a POSIX shell: what ssh needs.
   */
  command: string[];
  /** Folders here, and what they are called there: the mounts of a container, a shared file system. */
  paths?: { here: string; there: string }[];
  /**
   * Folder there for files that no path covers: they are copied to and from it. Made before the build, removed after,
   * so its name has to hold `{id}`.
   */
  folder?: string;
  /** Copies one file: `{here}` and `{there}` are its paths. Needed with `folder`. */
  copyTo?: string[];
  copyBack?: string[];
  /** The program there. Default: the backend's own name, found by the PATH of that place. */
  program?: string;
  /** Whether a small shell script watches the program there, so that a cancel reaches it. Default: true. */
  guard?: boolean;
}

/** What the names in a launcher's texts stand for. */
export interface LaunchPlaces {
  /** Unique to the build. */
  id: string;
  /** Folder of the build, of its model, and of `build_engine.py`, here. */
  folder: string;
  modelFolder: string;
  driverFolder: string;
}

const launcherKeys: Record<keyof Launcher, (value: unknown) => boolean> = {
  command: (value) => isTexts(value) && value.length > 0,
  paths: (value) =>
    Array.isArray(value) &&
    value.every(
      (one: unknown) =>
        isObject(one) &&
        typeof one['here'] === 'string' &&
        typeof one['there'] === 'string' &&
        Object.keys(one).length === 2,
    ),
  // It is removed afterwards: it must be one that no one else has.
  folder: (value) => typeof value === 'string' && /^\/(?!.*\.\.).*\{id\}[^/]*$/.test(value),
  copyTo: isTexts,
  copyBack: isTexts,
  program: (value) => typeof value === 'string' && value !== '',
  guard: (value) => typeof value === 'boolean',
};

/**
 * Reads a launcher that the user wrote, which may be anything: the launcher, or in a sentence what is wrong with it.
 */
export function readLauncher(value: unknown): Launcher | string {
  if (!isObject(value)) return 'A launcher must be an object with a "command".';
  for (const [name, given] of Object.entries(value)) {
    if (!Object.hasOwn(launcherKeys, name))
      return `Unknown launcher key "${name}"; keys are ${Object.keys(launcherKeys).join(', ')}.`;
    if (!launcherKeys[name as keyof Launcher](given))
      return `"${name}" of the launcher: ${JSON.stringify(given)} is not ${expected[name as keyof Launcher]}.`;
  }
  const launcher = value as unknown as Launcher;
  if (!Array.isArray(launcher.command)) return 'The launcher has no "command".';
  const places = launcher.command.filter((one) => one === '{command}' || one.includes('{shell}'));
  if (places.length !== 1)
    return 'Exactly one element of the launcher\'s "command" must be {command} or contain {shell}, the command of the build.';
  if (launcher.folder !== undefined && !(launcher.copyTo && launcher.copyBack))
    return 'A launcher with a "folder" needs "copyTo" and "copyBack".';
  for (const copy of [launcher.copyTo, launcher.copyBack])
    if (copy && !(copy.join('\n').includes('{here}') && copy.join('\n').includes('{there}')))
      return '"copyTo" and "copyBack" of a launcher must contain {here} and {there}, the two paths of a file.';
  return launcher;
}

const expected: Record<keyof Launcher, string> = {
  command: 'a list of strings',
  paths: 'a list of { "here", "there" }',
  folder: 'an absolute path whose last component contains {id}',
  copyTo: 'a list of strings',
  copyBack: 'a list of strings',
  program: 'a string',
  guard: 'true or false',
};

/** Fills `{name}`s; names that are not given stay as they are. */
export const fill = (text: string, names: Record<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole);

/**
 * The command line that runs `command` there.
 * @param environment variables that it needs there
 * @param remove a folder there that goes when the program is ended because no one is left who wants it
 */
export function launchedCommand(
  launcher: Launcher,
  places: LaunchPlaces,
  command: string[],
  environment: Record<string, string> = {},
  remove = 'tensorrt-lens',
): string[] {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const needed = variables.length > 0 ? ['env', ...variables, ...command] : command;
  const guarded = launcher.guard === false ? needed : ['sh', '-c', guard, remove, ...needed];
  return launcher.command.flatMap((one) =>
    one === '{command}' ? guarded : [fill(one, { ...places, shell: quoteCommand(guarded) })],
  );
}

/** A file's path there: by the longest of the launcher's paths that covers it; undefined: none does. */
export function pathThere(launcher: Launcher, places: LaunchPlaces, path: string): string | undefined {
  const covering = (launcher.paths ?? [])
    .map(({ here, there }) => ({
      here: trimmed(fill(here, { ...places })),
      there: trimmed(fill(there, { ...places })),
    }))
    .filter(({ here }) => path === here || path.startsWith(`${here}/`) || path.startsWith(`${here}\\`))
    .toSorted((a, b) => b.here.length - a.here.length)[0];
  return covering && covering.there + path.slice(covering.here.length).replaceAll('\\', '/');
}

/**
 * Runs there, as `sh -c guard name program arguments`. The program gets a process group of its own, which ends when
 * this script is asked to, or when its stdin closes: then no one is left who wants the program to run. Job control
 * would give it that group, too, but not in every shell without a terminal; so only where `setsid` is missing. A name
 * that is a path is a folder to remove if no one is left.
 */
const guard = `g=setsid
command -v setsid >/dev/null 2>&1 || { g=; set -m 2>/dev/null; }
k() { kill "-$1" "-$2" 2>/dev/null || kill "-$1" "$2" 2>/dev/null; }
gone=
trap 'k TERM $p' TERM INT HUP
trap 'gone=1' USR1
trap : PIPE
exec 3<&0
$g "$@" <&3 & p=$!
{ cat <&3; kill -USR1 $$; k TERM $p; sleep 1; k KILL $p; } >/dev/null 2>&1 & w=$!
while :; do wait $p; s=$?; kill -0 $p 2>/dev/null || break; done
k KILL $p; k KILL $w
[ "$gone" ] || [ $s = 141 ] && case $0 in /*) rm -rf "$0";; esac
exit $s`;

const trimmed = (path: string): string => (path.length > 1 ? path.replace(/[\\/]+$/, '') : path);

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && !one.includes('\0'));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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

const matrixOptions = new Map(optionRows.filter(([, { except }]) => !except?.includes('matrix')));

function optionsTrouble(options: unknown, what: string): string | null {
  for (const [name, value] of Object.entries(options ?? {})) {
    const row = matrixOptions.get(name as OptionName);
    if (row === undefined)
      return `${what}: unknown option "${name}"; options are ${[...matrixOptions.keys()].join(', ')}.`;
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
const isPaths = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && isName(one['here']) && isName(one['there']));

/**
 * A POSIX shell script that runs the n-th command of a list, as a cluster's array task tells: its output goes to
 * `<n>/build.log`, its exit status to `<n>/exit` once it has ended. Any shell there can run it; nothing else is needed.
 */
export function arrayScript(commands: string[][]): string {
  const cases = commands.map((command, index) => `${index}) set -- ${quoteCommand(command)} ;;`);
  return `#!/bin/sh
# Written by trtlens build. Runs one build: sh run.sh NUMBER, or as a task of an array.
n=\${1:-\${SLURM_ARRAY_TASK_ID:-$JOB_COMPLETION_INDEX}}
case $n in
${cases.join('\n')}
*) echo "run.sh: unknown build '$n'" >&2; exit 2 ;;
esac
here=$(cd "$(dirname "$0")" && pwd)/$n
mkdir -p "$here" && rm -f "$here/exit" "$here/collected.json" || exit 2
date +%s >"$here/started"
"$@" >"$here/build.log" 2>&1 </dev/null
code=$?
date +%s >"$here/ended"
echo $code >"$here/exit.tmp" && mv "$here/exit.tmp" "$here/exit"
# A failed build is a result. Otherwise Kubernetes would retry it or abandon the others.
[ -n "$JOB_COMPLETION_INDEX" ] && exit 0
exit $code
`;
}

/** What to give to `sbatch` from inside the folder that holds run.sh. */
export function slurmScript({ name, sbatch = [] }: MatrixTarget, count: number, concurrency: number): string {
  const lines = [
    `--job-name=trtlens-${name}`,
    `--array=0-${count - 1}%${concurrency}`,
    '--output=slurm-%A_%a.txt',
    ...sbatch,
  ];
  // SLURM runs a copy of this file elsewhere; run.sh is in the folder that it was submitted from.
  return `#!/bin/sh\n${lines.map((line) => `#SBATCH ${line}\n`).join('')}exec sh ./run.sh\n`;
}

/**
 * The name of a Kubernetes Indexed Job: its pods are called after it and their index, in 63 characters at most.
 * @param id tells apart the jobs of all matrices in a namespace
 */
export function kubernetesName(target: string, id: string, count: number): string {
  const most = 63 - `-${count - 1}`.length - `-${id}`.length;
  return `${`trtlens-${target}`.slice(0, most).replace(/-+$/, '')}-${id}`;
}

/**
 * A Kubernetes Indexed Job as an object.
 * @param name see `kubernetesName`
 * @param script path of run.sh in the pod
 */
export function kubernetesJob(
  name: string,
  { image }: MatrixTarget,
  { claim, mount, namespace, gpus = 1 }: MatrixKubernetes,
  script: string,
  count: number,
  concurrency: number,
): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, ...(namespace && { namespace }) },
    spec: {
      completionMode: 'Indexed',
      completions: count,
      parallelism: Math.min(count, concurrency),
      backoffLimit: count,
      template: {
        spec: {
          restartPolicy: 'Never',
          containers: [
            {
              name: 'build',
              image,
              command: ['sh', script],
              ...(gpus > 0 && { resources: { limits: { 'nvidia.com/gpu': gpus } } }),
              volumeMounts: [{ name: 'builds', mountPath: mount }],
            },
          ],
          volumes: [{ name: 'builds', persistentVolumeClaim: { claimName: claim } }],
        },
      },
    },
  };
}
