import type { Python } from './findPython.ts';

/** How packages get to a machine without network, with wheels that fit its Python. Nothing is asked of the other machine. */
export function offlineAdvice(packages: readonly string[], python?: Python): string {
  const list = packages.join(' ');
  const fitting = python ? `--only-binary=:all: ${fits(python)}` : '';
  const program = python?.path ?? 'python3';
  return `Without a network, run "python3 -m pip download --no-deps ${fitting}-d wheels ${list}" on a machine that has one, copy the folder wheels to this machine, run "${program} -m pip install --no-deps --no-index --find-links wheels ${list}", or install them into a virtual environment, and name its interpreter with --python.`;
}

/** pip's options for wheels of an interpreter on another machine. */
function fits({ version: [major, minor], platform }: Python): string {
  const [system, ...processor] = platform.split('-');
  const tags =
    system === 'linux'
      ? // pip takes these names literally: the older one is in the names of some wheels.
        [`manylinux_2_28_${processor.join('_')}`, `manylinux2014_${processor.join('_')}`]
      : system === 'win'
        ? [platform.replaceAll('-', '_')]
        : [];
  return [`--python-version ${major}.${minor}`, ...tags.map((tag) => `--platform ${tag}`), ''].join(' ');
}
