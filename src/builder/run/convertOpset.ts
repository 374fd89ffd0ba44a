import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { findPython } from '../tools/findPython.ts';
import { runPythonJob } from '../tools/runPythonJob.ts';

export interface OpsetChange {
  opset: number;
  /** The user's own interpreter; otherwise the first on the PATH that has the package onnx. */
  python?: string | undefined;
  environment?: Record<string, string>;
  /** Path of `convert_opset.py`. */
  script: string;
}

/**
 * Writes a copy of a model in another version of ONNX's operator set.
 * @throws {UserError} if no interpreter has the package onnx, or it cannot convert the model
 */
export async function convertOpset(
  model: string,
  { opset, python, environment, script }: OpsetChange,
  out: string,
  signal?: AbortSignal,
): Promise<void> {
  const found =
    python ??
    (
      await findPython({
        reject: ({ modules }) => (modules.includes('onnx') ? undefined : 'it has no package onnx'),
        advice: 'Install it with `pip install onnx`, or pass --python.',
      })
    ).path;
  await mkdir(dirname(out), { recursive: true });
  const request = { model: resolve(model), out: resolve(out), opset };
  await runPythonJob({ python: found, ...(environment && { environment }), script, request, signal });
}
