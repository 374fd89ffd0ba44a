import { atomsOf, parseLayerName } from '../fusion/layerName.ts';
import { buildIndexOf } from './buildIndex.ts';
import { counted, someNames } from './checkContext.ts';
import type { CheckContext } from './checkContext.ts';
import type { NodeIndex } from './nodeIndex.ts';
import type { Selector } from './overrideFile.ts';
import { replaceRange } from './precisionProblem.ts';
import type { Fix } from './precisionProblem.ts';
import { quoteName, writeName } from './quoteName.ts';
import { hasLayerFlags } from './tensorrtTarget.ts';

/** Why an exact name selects no node: whose name it is instead, or which names are near. */
export interface UnknownName {
  code: string;
  message: string;
  fixes: Fix[];
}

/** Explains a `name` selector that no node has. */
export function explainUnknownName(context: CheckContext, selector: Selector): UnknownName {
  return (
    explainEngineName(context, selector) ??
    tensorName(context, selector) ??
    moduleOrOp(context, selector) ??
    nearNames(context, selector)
  );
}

/** The name of an engine layer, a ForeignNode or a kernel: trtexec ignores such a name without a word. null: it is none. */
export function explainEngineName(context: CheckContext, selector: Selector): UnknownName | null {
  const { build, index } = context;
  const { text } = selector;
  const known = build && buildIndexOf(build);
  const foreign = known?.foreignNames.has(text) ?? false;
  if (foreign || /^\{ForeignNode\[.*\]\}$/.test(text)) {
    const fix = {
      title: `Change to group:${quoteName(text)}`,
      edits: [replaceRange(selector.textRange, `group:${quoteName(text)}`)],
      preferred: true,
    };
    const what = foreign ? 'a ForeignNode of the last build' : "a ForeignNode's name";
    const message = `This is ${what}, not a node${foreign ? '' : "'s"}${silence(context)}. Write group: before it to mean all its nodes.`;
    return { code: 'engine-layer-name', message, fixes: [fix] };
  }
  const nodes = known?.layerNodes.get(text);
  if (!nodes && !looksLikeEngineLayer(text)) return null;
  const positions = nodes ?? membersOf(text, index);
  const names = [...new Set(positions.map((i) => index.names[i] ?? ''))];
  const fixes: Fix[] = [];
  if (names.length > 0 && names.length <= 30) {
    const title =
      names.length === 1
        ? `Change to the node ${JSON.stringify(names[0])}`
        : `Change to its ${counted(names.length, 'node')}`;
    fixes.push({ title, edits: [replaceRange(selector.textRange, names.map(writeName).join(', '))], preferred: true });
  }
  const what = nodes
    ? 'This is a layer of the last engine, not a node'
    : 'This looks like the name of an engine layer, not of a node';
  const members = names.length > 0 ? ` It computes ${someNames(names)}.` : '';
  return {
    code: 'engine-layer-name',
    message: `${what}${silence(context)}.${members} Write the nodes' own names.`,
    fixes,
  };
}

function silence(context: CheckContext): string {
  return hasLayerFlags(context.target) === false ? '' : '; trtexec ignores such names without a word';
}

/** Nodes that a layer's name speaks of; in kernel names TensorRT writes dots as underscores. */
function membersOf(text: string, index: NodeIndex): number[] {
  const name = parseLayerName(text, index);
  if (name.kind === 'kernel') return name.base.split('+').flatMap((part) => index.namedInKernel(part));
  return atomsOf(name).flatMap((part) => [...index.named(part)]);
}

/** The forms in which TensorRT writes layers that are more or less than one node. */
export function looksLikeEngineLayer(text: string): boolean {
  return parseLayerName(text).kind !== 'atom' || /^(?:__my[el]|ONNXTRT_|\(Unnamed Layer\* \d+\))/.test(text);
}

function tensorName(context: CheckContext, selector: Selector): UnknownName | null {
  const maker = context.index.makerOf(selector.text);
  if (maker === undefined || selector.text === '') return null;
  const name = context.index.names[maker] ?? '';
  const fix = {
    title: `Change to the node ${JSON.stringify(name)}`,
    edits: [replaceRange(selector.textRange, writeName(name))],
    preferred: true,
  };
  return {
    code: 'tensor-name',
    message: `This is a tensor. The node that makes it is ${JSON.stringify(name)}.`,
    fixes: [fix],
  };
}

/** A module's name without `/**`, or an operator type without `op:`. */
function moduleOrOp(context: CheckContext, selector: Selector): UnknownName | null {
  const { index } = context;
  const ofOp = index.ofOp(selector.text, null).length;
  if (ofOp > 0) {
    const fix = {
      title: `Change to op:${selector.text}`,
      edits: [replaceRange(selector.textRange, `op:${selector.text}`)],
      preferred: true,
    };
    const message = `No node is called "${selector.text}"; ${counted(ofOp, 'node')} of this type are reached by op:${selector.text}.`;
    return { code: 'matches-nothing', message, fixes: [fix] };
  }
  if (/[*?[\],\s"#]/.test(selector.text)) return null;
  const pattern = `${selector.text.replace(/\/+$/, '')}/**`;
  const inside = index.matching(pattern).length;
  if (inside === 0) return null;
  const fix = {
    title: `Change to ${pattern} (${counted(inside, 'node')})`,
    edits: [replaceRange(selector.textRange, pattern)],
    preferred: true,
  };
  const message = `No node is called "${selector.text}". It is a module with ${counted(inside, 'node')}: write ${pattern}.`;
  return { code: 'matches-nothing', message, fixes: [fix] };
}

function nearNames(context: CheckContext, selector: Selector): UnknownName {
  const near = context.index.nearestNames(selector.text);
  const hint = near.length > 0 ? ` Nearest: ${someNames(near)}.` : '';
  return {
    code: 'matches-nothing',
    message: `No node is called ${JSON.stringify(selector.text)}.${hint}`,
    fixes: near.map((name, i) => ({
      title: `Change to ${JSON.stringify(name)}`,
      edits: [replaceRange(selector.textRange, writeName(name))],
      preferred: i === 0,
    })),
  };
}
