import { createHash } from 'node:crypto';
import * as vscode from 'vscode';
import { listBuilds } from '../../../../kernel/node/store/buildHistory.ts';
import { releaseName } from '../../../../kernel/base/text.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { stampOf } from '../../../../kernel/vscode/workspace/stampOf.ts';
import { isFileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** What a result depends on, as it was when the result was found. */
export interface Circumstances {
  /** Of the model's file; see `stampOf`. */
  stamp: string;
  /** The override file and the hash of its text; null: the result is about the model alone. */
  rules: { uri: string; sha256: string } | null;
  /** With what the newest build was made; null: there was none. */
  tensorrt: string | null;
  driver: string | null;
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** @throws if the model's file is gone */
export async function circumstancesOf(
  model: vscode.Uri,
  rules: vscode.TextDocument | undefined,
): Promise<Circumstances> {
  const [stamp, built] = await Promise.all([stampOf(model), newestBuild(model)]);
  return { stamp, rules: rules ? { uri: rules.uri.toString(), sha256: hashOf(rules.getText()) } : null, ...built };
}

/** What has changed since, one sentence each; none: the result still holds. Never rejects. */
export async function changesSince(model: vscode.Uri, before: Circumstances): Promise<string[]> {
  const [stamp, built, rules] = await Promise.all([
    stampOf(model).catch(() => undefined),
    newestBuild(model),
    before.rules === null ? undefined : hashOfFile(vscode.Uri.parse(before.rules.uri)),
  ]);
  const since = (what: string, then: string | null, now: string | null): string[] =>
    then === null || now === null || then === now ? [] : [`${what} is ${now} now; it was ${then} for this result.`];
  return [
    ...(stamp === undefined
      ? [`${nameOf(model)} is gone.`]
      : stamp === before.stamp
        ? []
        : [`${nameOf(model)} has changed since.`]),
    ...(before.rules === null || rules === before.rules.sha256
      ? []
      : [`The rules in ${nameOf(vscode.Uri.parse(before.rules.uri))} have changed since.`]),
    ...since('TensorRT of the newest build', before.tensorrt, built.tensorrt),
    ...since('The driver of the newest build', before.driver, built.driver),
  ];
}

async function newestBuild(model: vscode.Uri): Promise<Pick<Circumstances, 'tensorrt' | 'driver'>> {
  if (!isFileUri(model)) return { tensorrt: null, driver: null };
  const builds = await listBuilds(model.fsPath);
  const newest = builds.find(({ manifest: { result, tensorrt } }) => result === 'passed' && tensorrt.version !== null);
  return newest === undefined
    ? { tensorrt: null, driver: null }
    : { tensorrt: releaseName(newest.manifest.tensorrt), driver: newest.manifest.driver };
}

/** The hash of a text as the editor has it, saved or not; undefined: it is gone. */
async function hashOfFile(uri: vscode.Uri): Promise<string | undefined> {
  try {
    return hashOf((await vscode.workspace.openTextDocument(uri)).getText());
  } catch {
    return undefined;
  }
}
