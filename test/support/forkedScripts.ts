import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const scripts = fileURLToPath(new URL('../../src/driver', import.meta.url));

const servers = new Map<string, Promise<string>>();

/**
 * A folder with a stand-in for each script of `src/driver`. Run by the same interpreter, it does the same in a fork of a
 * process that has imported the modules already: that takes most of the time of a small build or run. The process ends
 * with this one, and removes the folder.
 */
export function forkedScripts(
  { python, environment }: { python: string; environment?: Record<string, string> },
  modules: readonly string[],
): Promise<string> {
  const known = servers.get(python) ?? start(python, environment ?? {}, modules);
  servers.set(python, known);
  return known;
}

async function start(python: string, environment: Record<string, string>, modules: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-forked-'));
  for (const name of readdirSync(scripts).filter((one) => one.endsWith('.py')))
    copyFileSync(join(here, 'fork_client.py'), join(folder, name));
  const args = ['-B', join(here, 'fork_server.py'), join(folder, 'socket'), scripts, ...modules];
  const server = spawn(python, args, {
    env: { ...process.env, ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  server.unref();
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stdout }).once('line', () => resolve());
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`fork_server.py ended with ${code}`)));
  });
  return folder;
}
