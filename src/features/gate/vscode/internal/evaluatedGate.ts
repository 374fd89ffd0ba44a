import type { GateSide } from '../../../../kernel/rules/gateSide.ts';
import type * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { pathBeside } from '../../../../kernel/node/files/pathBeside.ts';
import { listBuilds } from '../../../../kernel/node/store/buildHistory.ts';
import { type BuildSide, readBuildSide } from '../../../../kernel/node/store/buildSide.ts';
import type { GateFile, GateResult } from '../../gateFile.ts';
import { evaluateGate } from '../../evaluateGate.ts';
import { readGate } from '../../readGate.ts';
import { errorText } from '../../../../kernel/base/problem.ts';

/** A code lens runs no models: that takes seconds to minutes. */
const notRun = { missing: 'The model was not run; run it from the page of the result' };

/** Finds the error that a gate limits, on the build that it judges; absent: the model is not run. */
export type JudgeAccuracy = (gate: GateFile, build: BuildSide) => Promise<GateSide['accuracy']>;

/** A gate judged on the newest build of its model that passed, or why it is not. */
export type JudgedGate = { result: GateResult; build: string } | { reason: string };

/** Judges a gate file on the newest build of its model that passed. Never rejects. */
export async function evaluatedGate(
  document: vscode.TextDocument,
  files: ParsedFiles,
  judge?: JudgeAccuracy,
): Promise<JudgedGate> {
  const { value: gate, problems } = readGate(document.getText());
  if (!gate || problems.length > 0) return { reason: 'Not judged: fix the errors in this file first' };
  if (gate.model === null) return { reason: "Not judged: add 'model:' with the path of the ONNX model" };
  const path = document.uri.fsPath;
  const model = pathBeside(path, gate.model);
  const build = (await listBuilds(model)).find(({ manifest }) => manifest.result === 'passed');
  if (build === undefined) return { reason: `Not judged: ${gate.model} has no build that passed` };
  try {
    const side = await readBuildSide(build.folder, model, files);
    const baseline = gate.baseline === null ? null : await readBaseline(pathBeside(path, gate.baseline), model, files);
    const accuracy = judge === undefined ? notRun : await judge(gate, side);
    return {
      result: evaluateGate(path, gate, { ...side, accuracy }, baseline),
      build: build.manifest.id,
    };
  } catch (error) {
    return { reason: `Not judged: ${errorText(error)}` };
  }
}

/** A baseline of an older export is still a baseline: its nodes are known by name then. */
const readBaseline = (path: string, model: string, files: ParsedFiles) =>
  readBuildSide(path, model, files).catch(() => readBuildSide(path, undefined, files));
