// What the workflows name is there: a typing error in them would show only at a release.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  uses?: string;
  run?: string;
  with?: Record<string, string>;
}
interface Job {
  needs?: string | string[];
  strategy?: { matrix?: Record<string, string[]> };
  steps: Step[];
}
interface Package {
  scripts: Record<string, string>;
  engines: { node: string };
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Package;
const parts = readFileSync('scripts/test.mjs', 'utf8');
const least = manifest.engines.node.replace('>=', '').split('.').map(Number);

/** Whether a version such as `24` or `20.19` satisfies `engines`. */
function isNewEnough(version: string): boolean {
  const [major = 0, minor = Infinity] = version.split('.').map(Number);
  return major > least[0]! || (major === least[0] && minor >= least[1]!);
}

/** What is wrong in a command of a step. */
const faultsOfCommand = (run: string): string[] => [
  ...[...run.matchAll(/\bnpm run ([\w:-]+)/g)].flatMap(([, script]) =>
    script! in manifest.scripts ? [] : `no script ${script}`,
  ),
  ...[...run.matchAll(/\bnpm test -- ([a-z ]+)/g)]
    .flatMap(([, list]) => list!.trim().split(' '))
    .flatMap((part) => (new RegExp(`^  '?${part}'?: \\{`, 'm').test(parts) ? [] : `no part ${part}`)),
  ...[...run.matchAll(/(?<![\w/.-])(?:scripts|examples|test|packaging)\/[\w./-]+/g)].flatMap(([file]) =>
    existsSync(file) ? [] : `no file ${file}`,
  ),
];

/** What is wrong in a step, with the matrix of its job. */
function faultsOfStep({ uses, run = '', with: inputs }: Step, matrix: Record<string, string[]>): string[] {
  const faults = faultsOfCommand(run);
  if (uses !== undefined && !/^[\w.-]+\/[\w./-]+@\S+$/.test(uses)) faults.push(`${uses} names no version`);
  const wanted = inputs?.['node-version'];
  if (wanted === undefined) return faults;
  const key = /^\$\{\{ matrix\.(\w+) \}\}$/.exec(wanted)?.[1];
  for (const version of key === undefined ? [wanted] : (matrix[key] ?? ['none']))
    if (!isNewEnough(version)) faults.push(`Node ${version} is older than engines`);
  return faults;
}

/** What is wrong in a workflow. */
function faultsOf(text: string): string[] {
  const { jobs } = parse(text, { strict: true, uniqueKeys: true }) as { jobs: Record<string, Job> };
  return Object.entries(jobs).flatMap(([name, { needs, strategy, steps }]) => [
    ...[needs ?? []].flat().flatMap((need) => (need in jobs ? [] : `${name} needs no job ${need}`)),
    ...steps.flatMap((step) => faultsOfStep(step, strategy?.matrix ?? {})),
  ]);
}

it('names jobs, scripts, parts, files and versions of Node that there are', () => {
  const workflows = readdirSync('.github/workflows');
  expect(workflows).toEqual(['release.yml', 'test.yml']);
  const faults = workflows.flatMap((file) => faultsOf(readFileSync(`.github/workflows/${file}`, 'utf8')));
  expect(faults).toEqual([]);
});

it('finds each fault', () => {
  const planted = `
jobs:
  make:
    needs: mkae
    strategy: { matrix: { node: ['18', '20.18', '20.19'] } }
    steps:
      - uses: actions/checkout
      - { uses: actions/setup-node@v4, with: { node-version: '\${{ matrix.node }}' } }
      - run: npm run relaese
      - run: npm test -- chekc unit
      - run: node scripts/absent.mjs
`;
  expect(faultsOf(planted)).toEqual([
    'make needs no job mkae',
    'actions/checkout names no version',
    'Node 18 is older than engines',
    'Node 20.18 is older than engines',
    'no script relaese',
    'no part chekc',
    'no file scripts/absent.mjs',
  ]);
});
