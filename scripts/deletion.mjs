// `npm run deletion -- [--types] [FEATURE…]`: what stays of the project without a feature, for each or for those that are named.
// In a copy, the folder of the feature goes, with those that src/features/arrows.json lets depend on it and with the tests
// that import them. What the shell registers of it becomes empty. The rest has to compile, to keep the rules of imports and
// to pass its unit tests; with `--types`, these do not run.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { localNode } from './install.mjs';

// The test runner needs Node 22 or later, which the development dependencies bring along.
const node = localNode();

const { arrows } = JSON.parse(readFileSync('src/features/arrows.json', 'utf8'));
const features = readdirSync('src/features', { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);
const onlyTypes = process.argv.includes('--types');
const asked = process.argv.slice(2).filter((word) => word !== '--types');
const unknown = asked.filter((name) => !features.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown feature ${unknown.join(', ')}; features are ${features.join(', ')}`);
  process.exit(2);
}
const failed = (asked.length > 0 ? asked : features).filter((feature) => !standsWithout(feature));
console.log(failed.length === 0 ? 'Each can be taken out.' : `Cannot be taken out: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Whether everything else compiles and passes its tests. */
function standsWithout(feature) {
  const gone = dependentOn(feature);
  const folder = mkdtempSync(join(tmpdir(), 'trtlens-deletion-'));
  try {
    copyTo(folder);
    for (const name of gone)
      for (const root of ['src', 'test/unit'])
        rmSync(join(folder, root, 'features', name), { recursive: true, force: true });
    const left = Object.entries(arrows).filter(([from]) => !gone.has(from));
    writeFileSync(join(folder, 'src/features/arrows.json'), JSON.stringify({ arrows: Object.fromEntries(left) }));
    if (gone.has('diff')) rmSync(join(folder, 'webview/compare'), { recursive: true });
    const shell = [
      'src/registry.ts',
      ...filesBelow(folder, 'src/shell'),
      ...filesBelow(folder, 'webview').filter((file) => /^webview\/\w+\/main\.ts$/.test(file)),
    ];
    // Tests of the shell are about all commands at once.
    rmSync(join(folder, 'test/unit/shell'), { recursive: true });
    const tests = removeBroken(folder);
    const emptied = emptyMissing(folder, shell);
    const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--reporter', 'dot'];
    const steps = [
      ['node_modules/typescript/bin/tsc', '-b'],
      [...vitest, '--project', 'rules', 'test/rules/arrows.test.ts', 'test/rules/imports.test.ts'],
      ...(onlyTypes ? [] : [[...vitest, '--project', 'unit']]),
    ];
    let last;
    for (const step of steps) {
      last = run(folder, step);
      if (!last.ok) break;
    }
    console.log(
      `${last.ok ? 'ok  ' : 'FAIL'} without ${[...gone].join(', ')}: ${emptied} files that the shell imports, ${tests} other tests and benches that import them; ${/Tests +(.*)/.exec(last.said)?.[1] ?? 'types'}`,
    );
    if (!last.ok)
      console.log(
        last.said
          .replace(/^[^]*?Failed Tests/, '')
          .split('\n')
          .slice(0, 60)
          .join('\n'),
      );
    return last.ok;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A feature and all that depend on it. */
function dependentOn(feature) {
  const gone = new Set([feature]);
  for (const name of gone) for (const [from, targets] of Object.entries(arrows)) if (name in targets) gone.add(from);
  return gone;
}

/** What git knows; what is large and is not changed is linked. */
function copyTo(folder) {
  const linked = ['node_modules', 'test/fixtures', 'test/golden'];
  const { stdout } = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8', maxBuffer: 1e8 });
  for (const file of stdout.split('\n')) {
    if (file === '' || !existsSync(file) || linked.some((path) => file.startsWith(`${path}/`))) continue;
    cpSync(file, join(folder, file));
  }
  // What the compiler knows of the files that stay.
  cpSync('out/types', join(folder, 'out/types'), { recursive: true });
  for (const path of linked.filter((name) => existsSync(name))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(resolve(path), join(folder, path));
  }
}

function filesBelow(folder, root) {
  return readdirSync(join(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((file) => /(?<!\.d)\.(?:ts|mjs)$/.test(file))
    .map((file) => join(root, file));
}

/** What a file imports, by path: names where it lists them. */
function importsOf(folder, file) {
  return [
    ...readFileSync(join(folder, file), 'utf8').matchAll(
      /(?:(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from|import|import\()\s*'(\.[^']+)'\)?(?:\)\.(\w+)|\)?)/g,
    ),
  ].map(([, names = '', path, member = '']) => ({
    path: join(dirname(file), path),
    names: [...names.split(','), member].flatMap((name) => /(?:type\s+)?(\w+)/.exec(name)?.[1] ?? []),
  }));
}

/** Gives the shell something empty for each file that went; how many went. */
function emptyMissing(folder, shell) {
  const names = new Map();
  for (const file of shell) {
    const missing = importsOf(folder, file).filter(({ path }) => !existsSync(join(folder, path)));
    for (const { path, names: used } of missing) names.set(path, new Set([...(names.get(path) ?? []), ...used]));
    // What is empty has no types that the rest of the file could follow.
    if (missing.length > 0)
      writeFileSync(join(folder, file), `// @ts-nocheck\n${readFileSync(join(folder, file), 'utf8')}`);
  }
  for (const [path, used] of names) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const text = [...used]
      .map((name) => `export const ${name}: any = () => undefined;\nexport type ${name} = any;\n`)
      .join('');
    writeFileSync(join(folder, path), text || 'export {};\n');
  }
  return names.size;
}

/** Removes tests and benches whose imports went, and those that import these; how many. */
function removeBroken(folder) {
  let removed = 0;
  for (let more = true; more;) {
    more = false;
    for (const file of [...filesBelow(folder, 'test'), ...filesBelow(folder, 'bench')])
      if (importsOf(folder, file).some(({ path }) => !existsSync(join(folder, path)))) {
        rmSync(join(folder, file));
        removed += 1;
        more = true;
      }
  }
  return removed;
}

function run(folder, args) {
  const { status, stdout, stderr } = spawnSync(node, args, {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 1e9,
    env: { ...process.env, NO_COLOR: '1' },
  });
  return { ok: status === 0, said: `${stdout}${stderr}` };
}
