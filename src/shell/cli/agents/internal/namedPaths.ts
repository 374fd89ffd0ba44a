import { dirname, resolve } from 'node:path';
import { stat } from 'node:fs/promises';
import { readWhole } from '../../../../kernel/node/files/fileSource.ts';
import { pathBeside } from '../../../../kernel/node/files/pathBeside.ts';
import { readRules } from '../../../../kernel/node/files/readRules.ts';
import { filesOfBuild, requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { decodeUtf8 } from '../../../../kernel/base/text.ts';
import { readGate } from '../../../../features/gate/readGate.ts';
import { scalesOf } from '../../../../kernel/rules/precisionPlan.ts';
import { readOverrides } from '../../../../kernel/rules/readOverrides.ts';
import type { ParameterKind, ToolValues } from '../agentTools.ts';

/** A path that another file names. */
export interface NamedPath {
  path: string;
  kind: ParameterKind;
}

/**
 * What a file or folder names and a command would read next.
 * @throws {UserError} if it cannot be read, or a gate would run the model
 */
export async function namedPaths({ path, kind }: NamedPath, values: ToolValues): Promise<NamedPath[]> {
  if (kind === 'side') return ofSide(path, values);
  if (kind === 'gate') return ofGate(path, values);
  return kind === 'rules' ? ofRules(path) : [];
}

const file = (path: string): NamedPath => ({ path, kind: 'file' });

/** A build folder names its files and its model; a report names nothing. */
async function ofSide(folder: string, { onnx }: ToolValues): Promise<NamedPath[]> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) return [];
  const made = await requireBuild(folder);
  const model = onnx === undefined ? [resolve(folder, made.manifest.model.file)] : [];
  return [...filesOfBuild(made), ...model].map(file);
}

async function ofGate(path: string, { baseline, accuracy }: ToolValues): Promise<NamedPath[]> {
  const { value } = readGate(decodeUtf8(await readWhole(path)));
  const rule = value?.checks.find(({ limit }) => limit.kind === 'accuracy');
  if (rule && accuracy === undefined)
    throw new UserError(
      `${path}:${rule.place.line}: the rule accuracy runs the model, which this tool does not do. Pass accuracy, the output of trtlens accuracy --json`,
    );
  const named: NamedPath[] = [];
  if (value?.model) named.push(file(pathBeside(path, value.model)));
  if (value?.baseline && baseline === undefined) named.push({ path: pathBeside(path, value.baseline), kind: 'side' });
  return named;
}

async function ofRules(path: string): Promise<NamedPath[]> {
  const rules = readOverrides(await readRules(path));
  const named = [rules.model?.usable ? rules.model.value : null, scalesOf(rules)];
  return named.flatMap((one) => (one === null ? [] : [file(resolve(dirname(path), one))]));
}
