// `npm run bench`: runs every benchmark, each in a process of its own, and writes docs/reference/benchmarks.md.
// A benchmark is bench/NAME.ts: it prints one JSON object { title, rows: [{ what, ours, peer, ratio, target, ok }], notes }.
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { cpus, platform, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const asked = process.argv.slice(2);
const names = readdirSync('bench')
  .filter((file) => /^\w+\.ts$/.test(file))
  .map((file) => file.replace('.ts', ''))
  .filter((name) => asked.length === 0 || asked.includes(name));

const sections = [];
let missed = 0;
for (const name of names) {
  console.error(`── ${name}`);
  const run = spawnSync(process.execPath, [`bench/${name}.ts`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (run.status !== 0) {
    console.error(`${name} exited with ${run.status}`);
    missed += 1;
    continue;
  }
  const { title, rows, notes = [] } = JSON.parse(run.stdout.trim().split('\n').at(-1));
  missed += rows.filter(({ ok }) => ok === false).length;
  sections.push(
    [
      `## ${title}`,
      '',
      '| what | ours | compared with | ratio | target | met |',
      '|---|---|---|---|---|---|',
      ...rows.map(
        (r) =>
          `| ${r.what} | ${r.ours} | ${r.peer ?? ''} | ${r.ratio ?? ''} | ${r.target ?? ''} | ${r.ok === undefined ? '' : r.ok ? 'yes' : '**no**'} |`,
      ),
      '',
      ...notes,
    ].join('\n'),
  );
}
const machine = `${cpus().length} × ${cpus()[0].model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, ${platform()} ${release().split('-')[0]}, Node ${process.version}`;
const head = `# Benchmarks\n\nWritten by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${machine}. Each comparison is measured in one run. Quote the ratios, not the times.\n`;
const text = [head, ...sections].join('\n\n') + '\n';
if (asked.length === 0) writeFileSync('docs/reference/benchmarks.md', text);
else console.log(text);
process.exitCode = missed > 0 ? 1 : 0;
