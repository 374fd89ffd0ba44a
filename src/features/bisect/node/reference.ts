import type { DeclaredInput } from '../../../kernel/build/randomInputs.ts';
import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { resolve } from 'node:path';
import type { CheckedOutput } from '../bisectReport.ts';
import { PythonSession } from '../../../kernel/node/tools/pythonSession.ts';

/** How outputs are compared: by a tolerance for each, or as Polygraphy does. */
export interface OutputComparison {
  tolerances: Record<string, number>;
  atol?: number | undefined;
  rtol?: number | undefined;
}

/** ONNX Runtime on the CPU, in FP32 and without optimizations, in a process of its own; tensors stay in files. */
export class Reference {
  readonly #session: PythonSession;
  /** Operators that it cannot compute in double, or that it expands to such ones (1.19 to 1.31, CPU); others are learned. */
  readonly inFloat = new Set(
    'AveragePool Conv ConvTranspose Erf GRU Gelu GlobalAveragePool GroupNormalization HardSwish LSTM Mish PRelu RNN'.split(
      ' ',
    ),
  );

  /** `script`: path of `bisect_reference.py`. */
  constructor({ python, environment }: PythonWithRuntime, script: string, signal?: AbortSignal) {
    this.#session = new PythonSession({ python, script, signal, ...(environment && { environment }) });
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  /** Reads input files; none: makes random inputs with this seed. @returns paths, one a sample */
  async inputs(
    files: readonly string[],
    declared: readonly DeclaredInput[],
    seed: number,
    out: string,
  ): Promise<string[]> {
    const inputs = declared.map(({ name, type, shape, random }) => ({ name, type, shape, random }));
    return (await this.#session.ask<{ samples: string[] }>({ do: 'inputs', files, inputs, seed, out })).samples;
  }

  /** The model whose tensors `tensors` gives: those that it declares as outputs. */
  open(model: string): Promise<unknown> {
    return this.#session.ask({ do: 'open', model });
  }

  /** Stores tensors of the opened model. @returns names of those that it does not give */
  async tensors(inputs: string, names: readonly string[], out: string): Promise<string[]> {
    return (await this.#session.ask<{ missing: string[] }>({ do: 'tensors', inputs, names, out })).missing;
  }

  /** Runs a model and stores its outputs. */
  run(model: string, inputs: string, out: string, optimized = false): Promise<unknown> {
    return this.#session.ask({ do: 'run', model, inputs, out, optimized });
  }

  /** How far apart the tensors of two files are, by name; null: not finite. */
  noise(a: string, b: string): Promise<Record<string, number | null>> {
    return this.#session.ask({ do: 'noise', a, b });
  }

  async compare(
    reference: string,
    value: string,
    comparison: OutputComparison,
    more: { details?: boolean; previous?: string | null } = {},
  ): Promise<CheckedOutput[]> {
    const request = { do: 'compare', reference, value, ...comparison, ...more };
    return (await this.#session.ask<{ outputs: CheckedOutput[] }>(request)).outputs;
  }

  /** Copies tensors of a file into another one, under other names where `renamed` has them. */
  pick(from: string, names: readonly string[], out: string, renamed: ReadonlyMap<string, string>): Promise<unknown> {
    return this.#session.ask({
      do: 'pick',
      path: resolve(from),
      names,
      out: resolve(out),
      renamed: Object.fromEntries(renamed),
    });
  }

  /** Copies the tensors of a file without what is behind a size; null: all of an axis. */
  slice(path: string, sizes: Record<string, (number | null)[]>, out: string): Promise<unknown> {
    return this.#session.ask({ do: 'slice', path, sizes, out });
  }

  /** Shapes of the tensors in a file, by name. */
  shapes(path: string): Promise<Record<string, number[]>> {
    return this.#session.ask({ do: 'shapes', path });
  }

  /** Whether two files hold the same bytes. */
  async same(a: string, b: string): Promise<boolean> {
    return (await this.#session.ask<{ equal: boolean }>({ do: 'same', a, b })).equal;
  }
}
