import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { extractSubgraph } from '../../../surgery/node/extractSubgraph.ts';
import { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import { splitFile } from '../../../surgery/node/splitFile.ts';
import { writePlugin } from '../../../surgery/node/writePlugin.ts';
import type { BuildManifest } from '../../../../kernel/build/buildManifest.ts';
import { networkOf } from '../../../../kernel/network/network.ts';
import { type BorderTensor, nodesAround, subgraphWithSizes } from '../../../surgery/extractModel.ts';
import { counted } from '../../../../kernel/base/text.ts';
import { commands, graphViewType } from '../../../../kernel/vscode/ids.ts';
import { enterText, pickFiles, pickItem } from '../../../../kernel/vscode/platform/askUser.ts';
import { besideModel } from '../../../../kernel/vscode/platform/modelFile.ts';
import { modelToWrite } from '../../../../kernel/vscode/platform/modelToWrite.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import type { CommandHandlers } from '../../../../kernel/vscode/platform/registerCommands.ts';
import { mayRun, tellUntrusted } from '../../../../kernel/vscode/platform/trust.ts';
import { isOnDisk } from '../../../../kernel/vscode/workspace/startBuild.ts';
import { pickModel } from '../../../../kernel/vscode/workspace/pickModel.ts';
import { type ChosenNodes, chosenNodes, type SurgeryParts } from './chosenNodes.ts';
import { repairBuild } from './repairBuild.ts';
import { reduceBuild } from './reduceBuild.ts';
import { tryChange } from './tryChange.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { showInformation, showWarning } from '../../../../kernel/vscode/platform/messages.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/**
 * Extract, split, what-if, plugins, repair and reduce, for the nodes that a view gives along or that are selected. Each takes the
 * model, the ids of nodes, and where the result goes (otherwise the user is asked). Results are new files, shown next to
 * the model.
 */
export function surgeryCommands(parts: SurgeryParts): CommandHandlers {
  const { sessions } = parts;
  const onModel =
    (run: (parts: SurgeryParts, chosen: ChosenNodes, target: unknown) => Promise<unknown>) =>
    async (argument: unknown, ids: unknown, target: unknown): Promise<unknown> => {
      const chosen = await chosenNodes(argument, ids, sessions);
      if (chosen === undefined || !(await isOnDisk(chosen.model))) return undefined;
      return run(parts, chosen, target);
    };
  const onNodes = (run: Parameters<typeof onModel>[0]) =>
    onModel(async (all, chosen, target) => {
      if (chosen.nodes.length > 0) return run(all, chosen, target);
      await showInformation('Select nodes in the graph first.');
      return undefined;
    });
  return {
    [commands.changeModel]: async (argument, ids) => {
      const chosen = await chosenNodes(argument, ids, sessions);
      return chosen && changeModel(chosen, argument, ids);
    },
    [commands.extractNodes]: onNodes(extractNodes),
    [commands.splitHere]: onNodes(splitHere),
    // Some changes are of the whole model.
    [commands.whatIf]: onModel((all, chosen, change) => trusted(() => tryChange(all, chosen, change))),
    [commands.replaceByPlugin]: onNodes(replaceByPlugin),
    [commands.repairModel]: async (argument, manifest, target) => {
      const model = await pickModel(argument, sessions);
      if (model === undefined || !(await isOnDisk(model))) return undefined;
      const known = manifest as BuildManifest | undefined;
      return trusted(() => repairBuild(parts, model, known ?? newestOf(parts, model), target));
    },
    [commands.reduceModel]: async (argument, manifest, target) => {
      const model = await pickModel(argument, sessions);
      if (model === undefined || !(await isOnDisk(model))) return undefined;
      const known = manifest as BuildManifest | undefined;
      const folder = await folderFor(model, 'reduced', target);
      return folder && trusted(() => reduceBuild(parts, model, known ?? newestOf(parts, model), folder));
    },
  };
}

/** What one can do with a model, and those that need nodes. */
const changes: readonly { command: string; label: string; detail: string; ofNodes?: true }[] = [
  { command: commands.whatIf, label: 'What If…', detail: 'Builds with and without a change, and compares' },
  {
    command: commands.extractNodes,
    label: 'Extract Selected Nodes…',
    detail: 'Writes them as a model of their own',
    ofNodes: true,
  },
  {
    command: commands.splitHere,
    label: 'Split Model Behind Selected Node…',
    detail: 'Writes two models that run one after the other',
    ofNodes: true,
  },
  {
    command: commands.replaceByPlugin,
    label: 'Replace Selected Nodes by Plugin…',
    detail: 'Writes the model with a custom node, and the plugin',
    ofNodes: true,
  },
  { command: commands.suggestSplit, label: 'Suggest Where to Split…', detail: 'Lists the cheapest places to cut' },
  {
    command: commands.reduceModel,
    label: 'Reduce to a Minimal Model…',
    detail: 'Finds the smallest part that fails in the same way',
  },
];

/** Asks for a change of a model or of the nodes that are chosen, and runs its command with the same arguments. */
async function changeModel({ model, nodes }: ChosenNodes, argument: unknown, ids: unknown): Promise<unknown> {
  const offered = changes.filter(({ ofNodes }) => ofNodes === undefined || nodes.length > 0);
  const picked = await pickItem(offered, { title: `Change ${nameOf(model)}`, placeHolder: 'Select a change' });
  if (picked === undefined) return undefined;
  const given = argument ?? model;
  // What follows the model is nodes or, for a change of the whole model, something else.
  return picked.ofNodes || picked.command === commands.whatIf
    ? vscode.commands.executeCommand(picked.command, argument, ids)
    : vscode.commands.executeCommand(picked.command, given);
}

async function trusted<Result>(run: () => Promise<Result>): Promise<Result | undefined> {
  if (mayRun()) return run();
  await tellUntrusted();
  return undefined;
}

function newestOf({ sessions }: SurgeryParts, model: vscode.Uri): BuildManifest | null {
  const newest = sessions.find(model)?.state.newest;
  return newest?.unsuccessful?.manifest ?? newest?.build ?? null;
}

async function extractNodes({ log }: SurgeryParts, { model, nodes }: ChosenNodes, target: unknown): Promise<unknown> {
  const title = `Extract ${counted(nodes.length, 'node')}`;
  const out = await modelToWrite(target, model, { title, ending: '-part.onnx', label: 'Extract' });
  if (out === undefined) return undefined;
  const made = await withProgress(`Extracting from ${nameOf(model)}`, log, (signal) =>
    extractSubgraph({
      path: model.fsPath,
      // With what is between them, since a part has no holes.
      pick: (graph) => subgraphWithSizes(graph, nodesAround(graph, nodes, 0)),
      out: out.fsPath,
      signal,
    }),
  );
  if (made === undefined) return undefined;
  await showBeside(out);
  return made.nodes;
}

async function splitHere(
  { log }: SurgeryParts,
  { model, nodes, tensor }: ChosenNodes,
  target: unknown,
): Promise<unknown> {
  const folder = await folderFor(model, 'parts', target);
  if (folder === undefined) return undefined;
  const chain = await withProgress(`Splitting ${nameOf(model)}`, log, async (signal) => {
    const { value } = await new ParsedFiles().model(model.fsPath);
    const graph = networkOf(value);
    const last = nodes.flatMap((id) => graph.indexOfId.get(id) ?? []).at(-1) ?? -1;
    const behind = graph.outputs[last]?.find((one) => graph.tensors[one]!.consumers.length > 0);
    const at = tensor ?? (behind === undefined ? undefined : graph.tensors[behind]!.name);
    if (at === undefined) throw new UserError('No node reads an output of the selected node. Select a node before it.');
    return splitFile(model.fsPath, [at], folder, signal);
  });
  if (chain === undefined) return undefined;
  await showBeside(fileUri(join(folder, chain.parts[0]!.model)));
  void showInformation(`Split into ${counted(chain.parts.length, 'part')} in ${folder}.`);
  return chain;
}

async function replaceByPlugin(
  { log }: SurgeryParts,
  { model, nodes }: ChosenNodes,
  target: unknown,
): Promise<unknown> {
  const name = await enterText({
    title: 'Replace by Plugin',
    prompt: 'Name of the operator and the plugin',
    value: await operatorOf(model, nodes),
    validateInput: (text) => (identifier.test(text) ? null : 'Use letters, digits and _; begin with a letter.'),
  });
  const folder = name === undefined ? undefined : await folderFor(model, name, target);
  if (name === undefined || folder === undefined) return undefined;
  const made = await withProgress(`Writing the plugin ${name}`, log, (signal) =>
    writePlugin({ path: model.fsPath, nodes, name, domain: 'custom', out: folder, isLike, signal }),
  );
  if (made === undefined) return undefined;
  await showBeside(fileUri(made.files[0]!));
  const kernel =
    made.missing === null ? 'Its CUDA kernel is complete.' : `Its CUDA kernel is yours to write: ${made.missing}.`;
  void showInformation(`Plugin ${name} written to ${folder}. ${kernel}`);
  return made.files;
}

/** The operator of a single node that is not ONNX's own: its plugin has that name. */
async function operatorOf(model: vscode.Uri, ids: readonly string[]): Promise<string> {
  const { value } = await new ParsedFiles().model(model.fsPath);
  const [only, another] = value.nodes.filter(({ id }) => ids.includes(id));
  const custom = only && !another && (only.domain !== '' || only.op.endsWith('_TRT')) && identifier.test(only.op);
  return custom ? only.op : 'MyPlugin';
}

const identifier = /^[A-Za-z]\w{0,63}$/;

/** Asks what no file says. */
async function isLike(output: string, { name, type, shape }: BorderTensor): Promise<boolean> {
  const yes = 'Same as the Input';
  const question = `The type of output “${output}” is unknown. Does it have the type and shape of input “${name}”?`;
  const detail = `${type}[${shape?.map((dim) => dim ?? '?').join(', ') ?? 'of unknown rank'}]`;
  return (await showWarning(question, { modal: true, detail }, yes)) === yes;
}

/** A new folder next to the model; the user picks the one that it is made in. */
async function folderFor(model: vscode.Uri, what: string, target: unknown): Promise<string | undefined> {
  if (target instanceof vscode.Uri) return target.fsPath;
  const name = nameOf(besideModel(model, `-${what}`));
  const [parent] =
    (await pickFiles({
      canSelectFiles: false,
      canSelectFolders: true,
      defaultUri: fileUri(dirname(model.fsPath)),
      openLabel: 'Write Here',
      title: `Folder for ${name}`,
    })) ?? [];
  return parent && join(parent.fsPath, name);
}

const showBeside = (uri: vscode.Uri): Thenable<unknown> =>
  vscode.commands.executeCommand('vscode.openWith', uri, graphViewType, vscode.ViewColumn.Beside);
