import { inputsOf } from '../../../kernel/build/randomInputs.ts';
import type { PythonWithRuntime } from '../../../kernel/node/tools/pythonWithRuntime.ts';
import { absoluteInput } from '../../../kernel/node/files/inputFile.ts';
import { basename, dirname, join, resolve } from 'node:path';
import { checkOutput, filesOfModel, moveResult } from '../../../kernel/node/files/writeResult.ts';
import { ParsedFiles } from '../../../kernel/node/files/parsedFiles.ts';
import { refuseErrors } from '../../../kernel/node/files/refuseErrors.ts';
import { refuseOldOpset } from './migrateCalibration.ts';
import { findPackages } from '../../../kernel/node/tools/ensurePackages.ts';
import { findPython, programOf, type Python } from '../../../kernel/node/tools/findPython.ts';
import { askModules, modulesOf } from '../../../kernel/node/tools/ownPackages.ts';
import { runPythonJob } from '../../../kernel/node/tools/runPythonJob.ts';
import { fileTrouble, UserError } from '../../../kernel/node/files/userError.ts';
import { temporaryFolder } from '../../../kernel/node/files/writeWhole.ts';
import { removeTree } from '../../../kernel/node/files/persist.ts';

/** NVIDIA's ModelOpt, or ONNX Runtime's quantize_static. */
export const calibrationTools = ['modelopt', 'onnxruntime'] as const;
export type CalibrationTool = (typeof calibrationTools)[number];

/** An interpreter with what a tool needs. */
export interface Calibrator extends PythonWithRuntime {
  tool: CalibrationTool;
}

/** What has to be importable for a tool. */
const needed: Readonly<Record<CalibrationTool, readonly string[]>> = {
  modelopt: ['modelopt', 'onnx'],
  onnxruntime: modulesOf.calibration,
};

/**
 * The first interpreter that has a tool: the chosen one, one on the PATH, or the private one of `trtlens setup
 * calibration`. Of both tools, ModelOpt.
 * @throws {UserError} if there is none, with what to install
 */
export async function findCalibrator(chosen?: string, wanted?: CalibrationTool): Promise<Calibrator> {
  try {
    return await installedCalibrator(chosen, wanted);
  } catch (error) {
    const own = wanted === 'modelopt' ? undefined : await findPackages('calibration').catch(() => undefined);
    if (own === undefined) throw error;
    return { tool: 'onnxruntime', python: own.python, environment: own.environment };
  }
}

async function installedCalibrator(chosen?: string, wanted?: CalibrationTool): Promise<Calibrator> {
  const tools = wanted === undefined ? calibrationTools : [wanted];
  const toolOf = ({ modules }: Python): CalibrationTool | undefined =>
    tools.find((tool) => needed[tool].every((name) => modules.includes(name)));
  const python = await findPython({
    chosen,
    reject: async (found) => {
      const tool = toolOf(found);
      if (tool === undefined) return `it has none of ${tools.map((one) => needed[one].join(' and ')).join(', ')}`;
      const answer = tool === 'onnxruntime' ? await askModules(found, modulesOf.calibration) : {};
      return typeof answer === 'string' ? answer : undefined;
    },
    advice:
      'Run trtlens setup calibration, or install nvidia-modelopt[onnx], or onnxruntime and onnx, with pip, and name that interpreter (--python, or the setting tensorrtLens.python.path).',
  });
  return { tool: toolOf(python)!, python: programOf(python) };
}

export interface CalibrateRequest {
  /** Path of the model. */
  model: string;
  /** Files or folders with samples. */
  inputs: string[];
  /** Path of the Q/DQ model to write; a file of this name is replaced. */
  out: string;
  calibrator: Calibrator;
  /** Path of `quantize.py`. */
  script: string;
  /** Called with each line that the tool prints. */
  output?: ((line: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Writes an INT8 model with Q/DQ nodes whose scales are from samples.
 * @returns the tool with its version
 * @throws {UserError} if the model is quantized already, the samples do not fit it, or the tool fails
 */
export async function calibrate(request: CalibrateRequest): Promise<{ by: string; model: string }> {
  const { model: path, inputs, out, calibrator, script, output, signal } = request;
  if (inputs.length === 0) throw new UserError('no samples: calibration needs real inputs of the model');
  await checkOutput(out, [...(await filesOfModel(path)), ...inputs], 'model');
  const { value: model, problems } = await new ParsedFiles().model(path);
  refuseErrors(path, problems);
  if (model.nodes.some(({ op }) => op === 'QuantizeLinear' || op === 'DequantizeLinear'))
    throw new UserError(`${basename(path)} has Q/DQ nodes already. Pass the model in floating point`);
  refuseOldOpset(path, model);
  const folder = await temporaryIn(dirname(out), out);
  try {
    const made = join(folder, basename(out));
    const files = inputs.map(absoluteInput);
    const job = { model: resolve(path), out: resolve(made), files, inputs: inputsOf(model), tool: calibrator.tool };
    const { by } = await runPythonJob<{ by: string }>({
      ...calibrator,
      script,
      request: job,
      ...(output && { output }),
      signal,
    });
    await moveResult(made, out, 'model');
    return { by, model: out };
  } finally {
    await removeTree(folder);
  }
}

/** On the same disk as the result, which is then moved there whole. */
async function temporaryIn(folder: string, out: string): Promise<string> {
  try {
    return await temporaryFolder(folder, '.calibrating-');
  } catch (error) {
    throw fileTrouble(out, error);
  }
}
