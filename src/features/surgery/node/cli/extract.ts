import { extractSubgraph } from '../extractSubgraph.ts';
import { recordCut } from '../runParts.ts';
import { requireBuild } from '../../../../kernel/node/store/buildFolder.ts';
import { loadBuild } from '../../../../kernel/node/store/loadBuild.ts';
import { UserError } from '../../../../kernel/node/files/userError.ts';
import type { ModelGraph } from '../../../../kernel/network/modelGraph.ts';
import { compileGlob, matchesGlob } from '../../../../kernel/rules/resolveOverrides.ts';
import {
  type BorderTensor,
  nodeNames,
  nodesAround,
  type Subgraph,
  subgraphBetween,
  subgraphWithSizes,
  type Unfit,
  type KnownTensors,
  TensorsInLog,
} from '../../extractModel.ts';
import { counted, similarText, sizeText } from '../../../../kernel/base/text.ts';
import { runtimeFor } from '../../../../kernel/node/cli/runtimeFor.ts';
import { forceOption, readArguments, wholeNumber } from '../../../../kernel/node/cli/arguments.ts';
import { type Command, exitCodes, Usage } from '../../../../kernel/node/cli/command.ts';
import { printJson } from '../../../../kernel/node/cli/terminal.ts';
import { driverScript } from '../../../../kernel/node/cli/driverScript.ts';
import { piecesOf, withFile } from '../../../../kernel/node/files/fileSource.ts';
import { LineSplitter } from '../../../../kernel/node/files/lineSplitter.ts';

const options = {
  nodes: { type: 'string', multiple: true },
  group: { type: 'string' },
  build: { type: 'string' },
  from: { type: 'string', multiple: true },
  to: { type: 'string', multiple: true },
  around: { type: 'string' },
  close: { type: 'boolean' },
  weights: { type: 'string' },
  log: { type: 'string' },
  inputs: { type: 'string', multiple: true },
  python: { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
  out: { type: 'string', short: 'o' },
  ...forceOption,
  json: { type: 'boolean' },
} as const;

export const extract: Command = {
  help: `trtlens cut extract MODEL.onnx --nodes NODES … | --group N --build FOLDER | --from TENSOR … --to TENSOR …
                [--around K] [--close] [--log F] [--inputs F]… [--weights embed|references] -o OUT.onnx [--json]

Writes the selected nodes as a separate model and keeps all names. If OUT is in the model's folder, weights stay where
they are; otherwise only the used ranges are copied to OUT.data.

  --nodes NODES      ids with commas, for example 12,13, or a pattern of names such as '/layers.3/**'; may be repeated
  --group N          the members of a ForeignNode of the build, by its id
  --build FOLDER     the build whose ForeignNode it is
  --from TENSOR      where the part begins; may be repeated. You can omit the inputs of the model
  --to TENSOR        where the part ends; may be repeated
  --around K         also the nodes up to K edges away
  --close            also the nodes that the selection needs to be a model, such as those on a path that leaves it and
                     returns
  --log F            a verbose build log of the model: types and shapes that the model does not give
  --inputs F         inputs of the model (.npz, .npy, JSON, a folder): ONNX Runtime runs it, and what the part reads and
                     makes is stored in OUT.inputs.npz and OUT.outputs.npz; may be repeated
  --weights WHERE    embed: put the weights into OUT; references: never copy them
  --force            overwrite OUT even if trtlens did not write it
  --python PROGRAM   the interpreter for ONNX Runtime
  --yes, -y          download ONNX Runtime without asking
  --json             { "nodes", "inputs": [ { name, type, shape } ], "outputs", "bytes" }, with --inputs also "samples"
`,
  options,
  run: async (args, terminal) => {
    const { values, positionals } = readArguments(args, options, ['MODEL.onnx'], {
      needs: { build: ['group'], group: ['build'], from: ['to'], python: ['inputs'] },
      without: { to: ['around', 'close'] },
    });
    const { weights = 'auto' } = values;
    if (weights !== 'auto' && weights !== 'embed' && weights !== 'references')
      throw new Usage(`--weights: unknown value '${weights}'; expected embed or references`);
    if (values.out === undefined) throw new Usage('-o OUT.onnx is missing');
    const { nodes, inputs, outputs, files } = await extractSubgraph({
      path: positionals[0]!,
      pick: await picker(values, positionals[0]!),
      out: values.out,
      weights,
      known: values.log === undefined ? undefined : await loggedTensors(values.log),
      signal: terminal.signal,
    });
    const recorded = values.inputs
      ? await recordCut(positionals[0]!, { inputs, outputs }, values.out.replace(/\.onnx$/i, ''), {
          runtime: await runtimeFor(values, terminal),
          script: driverScript('run_parts.py'),
          samples: values.inputs,
          signal: terminal.signal,
        })
      : null;
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    if (values.json)
      await printJson(terminal, { nodes, inputs, outputs, bytes, ...(recorded && { samples: recorded }) });
    else {
      const written = files.map(({ path, size }) => `Written: ${path} (${sizeText(size)})\n`);
      await terminal.out(
        [
          `${counted(nodes.length, 'node')}\n`,
          borderText('in', inputs),
          borderText('out', outputs),
          ...written,
          ...(recorded ?? []).map((file) => `Written: ${file}\n`),
        ].join(''),
      );
    }
    return exitCodes.done;
  },
};

const borderText = (direction: string, tensors: readonly BorderTensor[]): string =>
  tensors
    .map(
      ({ name, type, shape }) =>
        `${direction.padEnd(4)}${name}  ${type}${shape ? `[${shape.map((dim) => dim ?? '?').join(', ')}]` : ''}\n`,
    )
    .join('');

type Values = {
  nodes?: string[];
  group?: string;
  build?: string;
  from?: string[];
  to?: string[];
  around?: string;
  close?: boolean;
};

async function picker(values: Values, model: string): Promise<(graph: ModelGraph) => Subgraph | Unfit> {
  const ways = [values.nodes, values.group, values.to].filter((way) => way !== undefined);
  if (ways.length !== 1) throw new Usage('pass one of --nodes, --group and --to');
  const around = wholeNumber('--around', values.around) ?? 0;
  const { to, from = [], nodes = [], group } = values;
  if (to !== undefined) return (graph) => subgraphBetween(graph, from, to);
  const members = group === undefined ? undefined : await membersOf(group, values.build!, model);
  return (graph) => {
    const chosen = members ?? nodes.flatMap((text) => namedNodes(graph, text));
    // With the reason why there is none.
    if (chosen.some((id) => !graph.indexOfId.has(id))) return subgraphWithSizes(graph, chosen);
    const closed = nodesAround(graph, chosen, around);
    if (around > 0 || values.close) return subgraphWithSizes(graph, closed);
    const part = subgraphWithSizes(graph, chosen);
    const added = closed.length - new Set(chosen).size;
    if (!('reason' in part) || added <= 0 || 'reason' in subgraphWithSizes(graph, closed)) return part;
    return { reason: `${part.reason}, or pass --close, which adds ${counted(added, 'node')}` };
  };
}

/** The ids in a text, or those of the nodes whose names match it. */
function namedNodes(graph: ModelGraph, text: string): string[] {
  const ids = text.split(',').flatMap((id) => id.trim() || []);
  const glob = compileGlob(text);
  const all = ids.every((id) => graph.indexOfId.has(id))
    ? []
    : graph.nodes.filter(({ name }) => matchesGlob(glob, name));
  // Numbers that are no ids are answered with how many nodes there are.
  if (all.length === 0 && ids.every((id) => graph.indexOfId.has(id) || /^\d+$/.test(id))) return ids;
  if (all.length === 0) throw new UserError(`no node matches ${text}${similarText(text, nodeNames(graph))}`);
  const main = all.filter(({ id }) => graph.owner[graph.indexOfId.get(id)!]! < 0);
  // Those of a loop or branch come along with it; alone, they are refused with a reason.
  return (main.length > 0 ? main : all).map(({ id }) => id);
}

async function membersOf(group: string, folder: string, onnx: string): Promise<string[]> {
  const { report } = await loadBuild(await requireBuild(folder), { onnx });
  const found = report.foreignNodes.find(({ id }) => String(id) === group);
  if (found) return found.nodes.filter((id) => !id.includes('/'));
  const known = report.foreignNodes.map(({ id, title }) => (title === undefined ? id : `${id} (${title})`)).join(', ');
  throw new UserError(`the build has no ForeignNode ${group}; it has ${known || 'none'}`);
}

/**
 * Types and shapes of tensors in a verbose build log, gzip-compressed or not.
 * @throws {UserError} if it cannot be opened, or has none
 */
async function loggedTensors(path: string): Promise<KnownTensors> {
  const known = await withFile(
    path,
    async (source) => {
      const found = new TensorsInLog();
      const lines = new LineSplitter((line) => found.push(line));
      for await (const piece of piecesOf(source, path)) lines.push(Buffer.from(piece));
      lines.end();
      return found.known;
    },
    { unpack: false },
  );
  if (known.size > 0) return known;
  throw new UserError(`${path} has no types of tensors. Build with verbose output (trtexec --verbose)`);
}
