import { isAbsolute, resolve } from 'node:path';
import * as vscode from 'vscode';
import { fitsKind, kindText } from '../../build/buildManifest.ts';
import { taskOptions, type TaskOptions } from './taskProperties.ts';

/**
 * Reads a definition that the user wrote, which may hold anything: known properties of the right type go on, with
 * paths made absolute; what else is there does not reach the build.
 * @returns the options, or what is wrong with the definition, for the user
 */
export function toEngineOptions(definition: vscode.TaskDefinition, folder: string | undefined): TaskOptions | string {
  const absolute = (path: string): string | undefined =>
    isAbsolute(path) ? path : folder === undefined ? undefined : resolve(folder, path);
  const model: unknown = definition['model'];
  if (typeof model !== 'string' || model.trim() === '') {
    return 'The task has no "model". Add the ONNX file to build.';
  }
  const modelPath = absolute(model);
  if (modelPath === undefined) {
    return `"model": ${JSON.stringify(model)} is a relative path, but no folder is open. Use an absolute path.`;
  }
  const options: Record<string, unknown> = { model: modelPath, backend: 'auto' };
  for (const [name, kind] of taskOptions) {
    const value: unknown = definition[name];
    if (value === undefined) continue;
    const good = kind === 'path' ? (typeof value === 'string' ? absolute(value) : undefined) : value;
    if (good === undefined || !fitsKind(good, kind)) {
      return `"${name}": ${JSON.stringify(value)} is invalid; expected ${kindText(kind)}.`;
    }
    options[name] = good;
  }
  return options as unknown as TaskOptions;
}
