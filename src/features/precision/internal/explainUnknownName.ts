import { counted, editDistance, shorten } from '../../../kernel/base/text.ts';
import { looksLikeForeignNode, parseLayerName } from '../../../kernel/network/layerName.ts';
import { nodesInName } from '../../../kernel/network/nodeNames.ts';
import { buildIndexOf } from '../../../kernel/rules/buildIndex.ts';
import { type CheckContext, someNames } from '../../../kernel/rules/precisionPlan.ts';
import { moduleOfDotted } from './nearPattern.ts';
import type { NodeIndex } from '../../../kernel/rules/resolveOverrides.ts';
import {
  type Fix,
  isBareName,
  quoteName,
  replaceRange,
  type Selector,
  writeName,
} from '../../../kernel/rules/overrideFile.ts';
import { hasLayerFlags } from '../../../kernel/rules/buildFacts.ts';

/** Why an exact name selects no node: whose name it is instead, or which names are near. */
export interface UnknownName {
  code: string;
  message: string;
  fixes: Fix[];
}

/** Explains a `name` selector that no node has. */
export function explainUnknownName(context: CheckContext, selector: Selector): UnknownName {
  return (
    functionNode(context, selector) ??
    furtherLayer(context, selector) ??
    explainEngineName(context, selector) ??
    tensorName(context, selector) ??
    moduleOrOp(context, selector) ??
    misspelledPrefix(context, selector) ??
    nearNames(context, selector)
  );
}

/**
 * The name of an engine layer, a ForeignNode or a kernel: trtexec ignores such a name without a warning. null: it is
 * none.
 */
export function explainEngineName(context: CheckContext, selector: Selector): UnknownName | null {
  const { build, index } = context;
  const { text } = selector;
  const known = build && buildIndexOf(build);
  const built = [text, `{${text}}`].find((name) => known?.foreignNames.has(name));
  if (built !== undefined || looksLikeForeignNode(text)) {
    const group = `group:${quoteName(built ?? text)}`;
    const what =
      built === undefined ? 'the name of a ForeignNode, not of a node' : 'a ForeignNode of the last build, not a node';
    return {
      code: 'engine-layer-name',
      message: `This is ${what}${silence(context)}. Put group: before it to select all its nodes.`,
      fixes: [{ title: `Change to ${group}`, edits: [replaceRange(selector.textRange, group)], preferred: true }],
    };
  }
  const layer = known?.layerNodes.get(text);
  const kernel = known?.kernelNodes.get(text);
  if (!layer && !kernel && !looksLikeEngineLayer(text)) return null;
  const names = namesAt(index, layer ?? kernel ?? nodesInName(index.byName, text).flat());
  const what = layer
    ? 'This is a layer of the last engine, not a node'
    : kernel
      ? 'This is a kernel of the last engine, not a node'
      : 'This looks like the name of an engine layer, not of a node';
  // The network has layers of such names, so trtexec does find them.
  const quiet = helper.test(text) ? '' : silence(context);
  const advice =
    names.length > 0
      ? `It computes ${someNames(names)}. Write the names of the nodes.`
      : 'It matches no node. Remove it, or write node names.';
  return { code: 'engine-layer-name', message: `${what}${quiet}. ${advice}`, fixes: namesFix(selector, names) };
}

function silence(context: CheckContext): string {
  return hasLayerFlags(context.target) === false ? '' : '; trtexec ignores such names without a warning';
}

/** A further layer of TensorRT's network that the parser made for a node: a flag could name it, a rule cannot. */
function furtherLayer(context: CheckContext, selector: Selector): UnknownName | null {
  const { build, index } = context;
  const nodes = build && buildIndexOf(build).aliases.get(selector.text);
  if (!nodes) return null;
  const names = namesAt(index, nodes);
  const message = `This is a layer that TensorRT creates for ${someNames(names)}, not a node. Write the name of the node.`;
  return { code: 'engine-layer-name', message, fixes: namesFix(selector, names) };
}

/** A node inside a local function: rules only reach the model's own nodes. */
function functionNode({ index }: CheckContext, { text }: Selector): UnknownName | null {
  const found = index.facts.inFunctions?.find(({ name }) => name === text);
  if (!found) return null;
  const message = `${JSON.stringify(text)} is in the function ${found.function}, and rules do not reach into functions. Inline them first, for example with onnx.inliner.inline_local_functions.`;
  return { code: 'in-function', message, fixes: [] };
}

function namesAt(index: NodeIndex, positions: readonly number[]): string[] {
  return [...new Set(positions.map((i) => index.names[i] ?? ''))];
}

/** Names in place of a selector's text, each taken away where the selector is; none where there are too many to write. */
export function namesFix(selector: Selector, names: readonly string[]): Fix[] {
  if (names.length === 0 || names.length > 30) return [];
  const title =
    names.length === 1
      ? `Change to the node ${JSON.stringify(names[0])}`
      : `Change to its ${counted(names.length, 'node')}`;
  const text = names.map(writeName).join(selector.negated ? ', not:' : ', ');
  return [{ title, edits: [replaceRange(selector.textRange, text)], preferred: true }];
}

/** Layers that the parser adds to those of the nodes. */
const helper = /^(?:ONNXTRT_\w+|\(Unnamed Layer\* \d+\) \[[^\]]*\])$/;

/** Names that TensorRT gives to layers next to the model's nodes, and to kernels. */
const madeByTensorrt =
  /^(?:__my[el]|\$\$myelin\$\$|_gem[mv]_mha|ONNXTRT_|\(Unnamed Layer\* \d+\)|sm\d{2,3}_|\[(?:trainStation|ShapeHostToDeviceCopy |DevicetoShapeHostCopy))|\[(?:Constant|DevicetoShapeHostCopy)\]$/;

/** The forms in which TensorRT writes layers that are more or less than one node. */
function looksLikeEngineLayer(text: string): boolean {
  return parseLayerName(text).kind !== 'atom' || madeByTensorrt.test(text);
}

function tensorName(context: CheckContext, selector: Selector): UnknownName | null {
  const maker = context.index.makerOf(selector.text);
  if (selector.text === '') return null;
  if (maker === undefined) return sourceName(context, selector);
  const name = context.index.names[maker] ?? '';
  const fix = {
    title: `Change to the node ${JSON.stringify(name)}`,
    edits: [replaceRange(selector.textRange, writeName(name))],
    preferred: true,
  };
  return {
    code: 'tensor-name',
    message: `This is a tensor. The node ${JSON.stringify(name)} computes it.`,
    fixes: [fix],
  };
}

const sources = new WeakMap<NodeIndex, ReadonlyMap<string, NonNullable<NodeIndex['facts']['sources']>[number]>>();

/** The name of an input of the model or of a weight. */
function sourceName({ index }: CheckContext, selector: Selector): UnknownName | null {
  let known = sources.get(index);
  if (!known) sources.set(index, (known = new Map(index.facts.sources?.map((source) => [source.name, source]))));
  const source = known.get(selector.text);
  if (!source) return null;
  const names = namesAt(index, source.nodes);
  const what = source.kind === 'input' ? 'an input of the model' : 'a weight';
  const readers = names.length > 0 ? ` Its consumers are ${someNames(names)}.` : '';
  const message = `This is ${what}, not a node.${readers} Rules apply to nodes.`;
  return { code: 'tensor-name', message, fixes: namesFix(selector, names) };
}

/** A module's name without `/**`, or an operator type without `op:`. */
function moduleOrOp(context: CheckContext, selector: Selector): UnknownName | null {
  const { index } = context;
  // Older exporters number their nodes: Softmax_5.
  const lower = selector.text.toLowerCase().replace(/_\d+$/, '');
  const op = index.ops().find((one) => one.op.toLowerCase() === lower);
  if (op) {
    const fix = {
      title: `Change to op:${op.op}`,
      edits: [replaceRange(selector.textRange, `op:${writeName(op.op)}`)],
      preferred: true,
    };
    const message = `No node is named "${selector.text}"; op:${op.op} selects the ${counted(op.count, 'node')} of this type.`;
    return { code: 'matches-nothing', message, fixes: [fix] };
  }
  if (!isBareName(selector.text)) return null;
  const module = selector.text.replace(/\/+$/, '');
  const anywhere = module.replace(/^\/+/, '');
  const dotted = moduleOfDotted(module, index);
  const found = dotted === null ? [] : [`${dotted}/**`];
  for (const pattern of [`${module}/**`, `/${anywhere}/**`, `**/${anywhere}/**`, ...found]) {
    const inside = index.matching(pattern).length;
    if (inside === 0) continue;
    const fix = {
      title: `Change to ${pattern} (${counted(inside, 'node')})`,
      edits: [replaceRange(selector.textRange, pattern)],
      preferred: true,
    };
    const message = `No node is named "${selector.text}". It is a module with ${counted(inside, 'node')}: write ${pattern}.`;
    return { code: 'matches-nothing', message, fixes: [fix] };
  }
  return null;
}

/** `Op:Softmax`, `opp:Softmax`. */
function misspelledPrefix({ index }: CheckContext, { text, textRange, quoted }: Selector): UnknownName | null {
  const [, prefix = '', op = ''] = /^(\w+):(.+)$/s.exec(text) ?? [];
  const count = quoted ? 0 : index.ofOp(op, null).length;
  if (count === 0 || editDistance(prefix.toLowerCase(), 'op', 1) > 1) return null;
  const title = `Change to op:${op}`;
  return {
    code: 'matches-nothing',
    message: `No node is named ${JSON.stringify(text)}; op:${op} selects the ${counted(count, 'node')} of this type.`,
    fixes: [{ title, edits: [replaceRange(textRange, `op:${writeName(op)}`)], preferred: true }],
  };
}

function nearNames(context: CheckContext, selector: Selector): UnknownName {
  const near = context.index.nearestNames(selector.text);
  const hint = near.length > 0 ? ` Closest names: ${someNames(near)}.` : '';
  return {
    code: 'matches-nothing',
    message: `No node is named ${JSON.stringify(shorten(selector.text, 200))}.${hint}`,
    fixes: near.map((name, i) => ({
      title: `Change to ${JSON.stringify(name)}`,
      edits: [replaceRange(selector.textRange, writeName(name))],
      preferred: i === 0,
    })),
  };
}
