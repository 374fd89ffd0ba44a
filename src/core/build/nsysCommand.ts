import type { BuiltShape } from './builtShapes.ts';

/** Flags that a `--help` lists, with their dashes. */
export const flagsIn = (help: string): Set<string> => new Set(help.match(/--[a-z][\w-]*/gi));

/**
 * Arguments of nsys that record CUDA and NVTX of a program, each kernel of a CUDA graph on its own, and nothing that
 * makes the program slower.
 * @param known flags of this nsys
 * @param output path of the report without its extension
 */
export function nsysArguments(known: ReadonlySet<string>, output: string, command: readonly string[]): string[] {
  const wanted = ['--trace=cuda,nvtx', '--cuda-graph-trace=node', '--sample=none', '--cpuctxsw=none'];
  return [
    'profile',
    ...wanted.filter((flag) => known.has(flag.slice(0, flag.indexOf('=')))),
    '--force-overwrite=true',
    // nsys replaces %h, %p and the like in it.
    `--output=${output.replaceAll('%', '%%')}`,
    ...command,
  ];
}

/**
 * Arguments of trtexec that run an engine a few times, with NVTX ranges for its layers.
 * @param known flags of this trtexec, without dashes
 * @param tracesGraphs nsys lists the kernels of CUDA graphs
 * @param shapes of each input in the first optimization profile
 */
export function tracedRun(
  known: ReadonlySet<string>,
  engine: string,
  { tracesGraphs, shapes }: { tracesGraphs: boolean; shapes: readonly BuiltShape[] },
): string[] {
  const open = shapes.filter(({ min, max }) => min !== max);
  return [
    `--loadEngine=${engine}`,
    ...(known.has('profilingVerbosity') ? ['--profilingVerbosity=detailed'] : []),
    ...(open.length > 0 ? [`--shapes=${open.map(({ input, opt }) => `${input}:${opt}`).join(',')}`] : []),
    '--iterations=50',
    '--duration=0',
    '--warmUp=0',
    ...(!tracesGraphs && known.has('noCudaGraph') ? ['--noCudaGraph'] : []),
  ];
}
