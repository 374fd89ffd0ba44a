#!/usr/bin/env node
// A trtexec that is hard to stop: it starts a child of its own, writes half an engine, ignores SIGTERM and SIGINT and
// logs until it is killed. Beside it lie help.txt, which it prints for --help, and pids.txt, where it says who runs.
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const args = process.argv.slice(2);

if (args.includes('--help')) {
  process.stdout.write(readFileSync(beside('help.txt')));
} else {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {});
  const child = spawn('sleep', ['600'], { stdio: 'inherit' });
  appendFileSync(beside('pids.txt'), `${process.pid}\n${child.pid}\n`);
  const engine = args.find((arg) => arg.startsWith('--saveEngine='))?.slice('--saveEngine='.length);
  if (engine) writeFileSync(engine, 'half an engine');
  let line = 0;
  setInterval(() => process.stdout.write(`[V] [TRT] still building, line ${++line}\n`), 5);
}
