import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';

/** What one process took: time from its start to its end, and how much memory it held at most (Linux). */
export interface Cost {
  milliseconds: number;
  mebibytes: number;
}

/**
 * Runs Node programs and measures them; `folder` is for its files. The process says itself, when it ends, how much it
 * held at most: a child's figure would include its parent's.
 */
export function measuredProcesses(folder: string): (program: string, args: string[]) => Cost {
  const peak = join(folder, 'peak.cjs');
  const figure = join(folder, 'peak');
  const status = `require('fs').readFileSync('/proc/self/status', 'utf8').match(/VmHWM:\\s+(\\d+)/)[1]`;
  writeFileSync(peak, `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(figure)}, ${status}));`);
  return (program, args) => {
    const start = performance.now();
    if (spawnSync(program, ['--require', peak, ...args], { stdio: ['ignore', 'ignore', 'inherit'] }).status !== 0)
      throw new Error(`${args.join(' ')} failed`);
    return { milliseconds: performance.now() - start, mebibytes: Number(readFileSync(figure, 'utf8')) / 1024 };
  };
}
