import { runtimeFor, type RuntimeValues } from './runtimeFor.ts';
import type { Terminal } from './terminal.ts';
import { namedShapes, wholeNumber } from './arguments.ts';
import { Usage } from './command.ts';
import { driverScript } from './driverScript.ts';

/** Options of every command that compares values with the help of ONNX Runtime or NumPy. */
export const comparisonOptions = {
  tolerance: { type: 'string' },
  python: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  json: { type: 'boolean' },
} as const;

/** Options of every command that judges a model by simulation. */
export const simulationOptions = {
  ...comparisonOptions,
  inputs: { type: 'string', multiple: true },
  shapes: { type: 'string' },
  aim: { type: 'string' },
  'max-runs': { type: 'string' },
  'max-seconds': { type: 'string' },
} as const;

interface SimulationValues extends RuntimeValues {
  inputs?: string[] | undefined;
  shapes?: string | undefined;
  tolerance?: string | undefined;
  aim?: string | undefined;
  'max-runs'?: string | undefined;
  'max-seconds'?: string | undefined;
}

/** What these options ask for; checks them all before it sets up ONNX Runtime after consent. */
export async function simulationRequest(model: string, values: SimulationValues, terminal: Terminal) {
  const request = {
    model,
    inputs: values.inputs ?? [],
    shapes: new Map(
      namedShapes('--shapes', values.shapes).map(([name, shape]) => [name, shape.split('x').map(Number)]),
    ),
    tolerance: toleranceOf(values.tolerance),
    aim: shareOf('--aim', values.aim),
    maxRuns: wholeNumber('--max-runs', values['max-runs']) ?? 1000,
    maxSeconds: wholeNumber('--max-seconds', values['max-seconds']) ?? 300,
    script: driverScript('simulate.py'),
    signal: terminal.signal,
  };
  return { ...request, runtime: await runtimeFor(values, terminal) };
}

/** A tolerance, or a Usage error. */
export function toleranceOf(text: string | undefined): number {
  const value = text === undefined ? 0.01 : Number(text);
  if (text?.trim() === '' || !Number.isFinite(value) || value < 0)
    throw new Usage(`--tolerance: '${text}' is not a number greater than or equal to 0`);
  return value;
}

/** A number above 0 and up to 1, or a Usage error; undefined: not passed. */
function shareOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === '' || !(value > 0 && value <= 1))
    throw new Usage(`${option}: '${text}' is not a number above 0 and up to 1`);
  return value;
}
