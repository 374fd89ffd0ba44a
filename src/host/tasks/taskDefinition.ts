import { isAbsolute, resolve } from 'node:path';
import * as vscode from 'vscode';
import { optionKinds } from '../builds/taskProperties.ts';
import type { OptionKind, TaskOptions } from '../builds/taskProperties.ts';

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
  for (const [name, kind] of Object.entries(optionKinds)) {
    const value: unknown = definition[name];
    if (value === undefined) continue;
    const good = kind === 'path' ? (typeof value === 'string' ? absolute(value) : undefined) : value;
    if (good === undefined || !fits(good, kind)) {
      return `"${name}": ${JSON.stringify(value)} is invalid; expected ${expected(kind)}.`;
    }
    options[name] = good;
  }
  return options as unknown as TaskOptions;
}

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\u0000');
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

function byName(value: unknown, fit: (one: unknown) => boolean): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(fit);
}

function fits(value: unknown, kind: OptionKind): boolean {
  if (typeof kind !== 'string') return kind.some((word) => word === value);
  switch (kind) {
    case 'text':
    case 'path':
      return isText(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'number':
      return isNumber(value);
    case 'texts':
      return isTexts(value);
    case 'textsOrAll':
      return value === 'all' || isTexts(value);
    case 'numbersByName':
      return byName(value, isNumber);
    case 'textsByName':
      return byName(value, isText);
    case 'profiles':
      return Array.isArray(value) && value.every((profile) => byName(profile, isRange));
  }
}

const isRange = (value: unknown): boolean =>
  byName(value, isText) && ['min', 'opt', 'max'].every((name) => Object.hasOwn(value as object, name));

function expected(kind: OptionKind): string {
  if (typeof kind !== 'string') return `one of ${kind.join(', ')}`;
  const texts: Record<typeof kind, string> = {
    text: 'a string',
    path: 'a path',
    flag: 'true or false',
    number: 'a number',
    texts: 'a list of strings',
    textsOrAll: 'a list of tensor names, or "all"',
    numbersByName: 'an object with a number for each name',
    textsByName: 'an object with a string for each name',
    profiles: 'a list of objects with min, opt and max for each input, such as "1x3x224x224"',
  };
  return texts[kind];
}
