import type { Python } from './findPython.ts';

/**
 * How packages get to a machine without network: by wheels from another one.
 * @param python the interpreter here that they are for; undefined: pure Python, for any
 * @param use `pip`: an interpreter of the user's does as well, with these installed; `again`: only a private copy does
 */
export function offlineAdvice(packages: readonly string[], python?: Python, use: 'pip' | 'again' = 'pip'): string {
  const list = packages.join(' ');
  const download = ['pip download --no-deps', ...(python ? fitting(python) : []), '-d wheels', list].join(' ');
  const program = python?.path ?? 'python3';
  const then =
    use === 'again'
      ? 'and try again with PIP_NO_INDEX=1 and PIP_FIND_LINKS=wheels in the environment'
      : `and run "${program} -m pip install --no-deps --no-index --find-links wheels ${list}", in a virtual environment where the system's Python takes no packages, and pass its interpreter with --python`;
  return `Without a network, run "${download}" on a machine that has one, copy the folder wheels here, ${then}.`;
}

/** pip's options for wheels of an interpreter on another machine. */
function fitting({ version: [major, minor], platform }: Python): string[] {
  const [system, ...processor] = platform.split('-');
  const tags =
    system === 'linux'
      ? // pip takes them literally, and some wheels are only named after the older one.
        [`manylinux_2_28_${processor.join('_')}`, `manylinux2014_${processor.join('_')}`]
      : system === 'win'
        ? [platform.replaceAll('-', '_')]
        : [];
  return ['--only-binary=:all:', `--python-version ${major}.${minor}`, ...tags.map((tag) => `--platform ${tag}`)];
}
