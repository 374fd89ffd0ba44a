import { type Inspection, inspection } from '../inspection.ts';
import { type JsonNode, memberOf, readLosslessJson } from '../../base/json.ts';
import type { Problem } from '../../base/problem.ts';
import {
  rawLayerMembers,
  readEachLayer,
  readProfile,
  readTiming,
  summarizeTiming,
} from '../../read/tensorrt/readLayerInfo.ts';
import { counted } from '../../base/text.ts';
import { isEngineLayerName, isForeignNodeName, isNumberedKernel } from '../../network/layerName.ts';

/**
 * Recognizes JSON that TensorRT's tools write, and whole JSON of other kinds as unknown; null if the text is not JSON.
 * `head` is its beginning.
 */
export function inspectJson(text: string, head: string): Inspection | null {
  // The kinds that can be large are distinguished by their beginnings, so that each text is read once.
  if (/"computeMs"\s*:/.test(head)) return inspectTiming(text);
  if (/"(?:timeMs|averageMs)"\s*:/.test(head)) return inspectProfile(text);
  if (/"ph"\s*:\s*"X"/.test(head)) return inspectProfile(text, 'in Chrome’s trace format');
  if (/^\s*\{\s*"Layers"\s*:\s*\[\s*\{\s*"Name"\s*:/.test(head)) return inspectLayerInfo(text);
  const { documents, problems } = readLosslessJson(text, { rawMembers: rawLayerMembers });
  return (
    inspectReplay(documents, problems) ??
    inspectChoices(documents, problems) ??
    (documents.some(holdsLayers) ? inspectLayerInfo(text) : null) ??
    inspectOther(documents, problems)
  );
}

/** One document without a fault is JSON of another kind, whatever its strings say. */
function inspectOther(documents: JsonNode[], problems: Problem[]): Inspection | null {
  const [document] = documents;
  if (document === undefined || documents.length > 1 || problems.some(({ severity }) => severity !== 'info'))
    return null;
  const keys = document.kind === 'object' ? document.members.slice(0, 5).map(({ key }) => JSON.stringify(key)) : [];
  const what = keys.length > 0 ? ` Its first keys are ${keys.join(', ')}.` : '';
  return inspection('unknown', 'Unrecognized JSON file', {
    problems: [
      {
        severity: 'error',
        code: 'unknown-kind',
        message: `The JSON is not layer info, a profile, times, a replay or a list of choices.${what}`,
      },
    ],
  });
}

function inspectTiming(text: string): Inspection | null {
  const { value, problems } = readTiming(text);
  if (value === undefined) return null;
  const counts = { rows: value.rows.length };
  return inspection('timing', `Times of ${counted(value.rows.length, 'inference')} (trtexec --exportTimes)`, {
    counts,
    times: summarizeTiming(value),
    problems,
  });
}

function inspectProfile(text: string, source = 'trtexec --exportProfile'): Inspection | null {
  const { value, problems } = readProfile(text);
  if (value === undefined)
    return problems.some(({ code }) => code === 'old-version')
      ? inspection('profile', `Profile of TensorRT 8.0 or earlier (${source}), which is not read`, { problems })
      : null;
  const counts: Record<string, number> = { layers: value.rows.length };
  if (value.iterations !== null) counts['iterations'] = value.iterations;
  return inspection('profile', `Profile of ${counted(value.rows.length, 'layer')} (${source})`, {
    counts,
    problems,
  });
}

/** A list of layers, or a list of names that only an engine has. */
function holdsLayers(document: JsonNode): boolean {
  if (document.kind === 'array') return document.items.length > 0 && document.items.every(isLayer);
  for (const key of ['Layers', 'layers', 'LayerInfo', 'layerInfo']) {
    const list = memberOf(document, key);
    if (list?.kind === 'array') return list.items.every((item) => item.kind === 'string' || isLayer(item));
    if (list?.kind === 'object') return holdsLayers(list);
  }
  return isLayer(document);
}

function isLayer(node: JsonNode): boolean {
  if (node.kind === 'string') return isEngineLayerName(node.value);
  const has = (key: string): boolean => memberOf(node, key) !== undefined;
  return has('Name') && (has('LayerType') || (has('Inputs') && has('Outputs')));
}

function inspectLayerInfo(text: string): Inspection | null {
  let [layers, kernels, foreignNodes] = [0, 0, 0];
  const { value, problems } = readEachLayer(text, () => {
    [layers, kernels, foreignNodes] = [0, 0, 0];
    return ({ name }) => {
      layers++;
      if (isNumberedKernel(name)) kernels++;
      if (isForeignNodeName(name)) foreignNodes++;
    };
  });
  if (value === undefined) return null;
  const counts: Record<string, number> = { layers, bindings: value.bindings.length };
  if (kernels > 0) counts['kernels'] = kernels;
  if (foreignNodes > 0) counts['foreignNodes'] = foreignNodes;
  if (value.documents > 1) counts['documents'] = value.documents;
  const unknown = Object.keys(value.unknownKeys).length;
  if (unknown > 0) counts['unknownKeys'] = unknown;
  const what = value.detail === 'names' ? 'names only' : 'detailed';
  return inspection(
    'layer-info',
    `Layer info of an engine, ${what}: ${counted(layers, 'entry', 'entries')}${kernels > 0 ? ` (${counted(kernels, 'kernel')})` : ''}`,
    {
      counts,
      problems,
    },
  );
}

/** A tactic replay of Polygraphy in any of its four schemas, or a replay of its debug tools. */
function inspectReplay(documents: JsonNode[], problems: Problem[]): Inspection | null {
  const document = documents.find((node) => node.kind === 'object');
  if (document === undefined) return null;
  const entries = memberOf(document, 'replay');
  if (
    entries?.kind === 'object' &&
    (isTagged(document, 'TacticReplayData') || entries.members.some(({ value }) => memberOf(value, 'tactic')))
  ) {
    const schema = schemaOf(entries);
    const foreignNodes = entries.members.filter(({ key }) => isForeignNodeName(key)).length;
    const counts = { layers: entries.members.length, foreignNodes };
    const summary = `Tactic replay of Polygraphy (${schema}): ${counted(entries.members.length, 'layer')}`;
    return inspection('replay', summary, { counts, problems });
  }
  if (document.kind !== 'object' || document.members.length === 0) return null;
  if (!document.members.every(({ value }) => isTagged(value, 'IterationContext'))) return null;
  const iterations = document.members.length;
  return inspection('replay', `Debug replay of Polygraphy, not a tactic replay: ${counted(iterations, 'iteration')}`, {
    counts: { iterations },
    problems: [
      ...problems,
      {
        severity: 'info',
        code: 'debug-replay',
        message:
          'This file records the iterations of "polygraphy debug", not tactics. --save-tactics writes a tactic replay.',
      },
    ],
  });
}

function isTagged(node: JsonNode, name: string): boolean {
  const tag = memberOf(node, 'polygraphy_class');
  return (tag?.kind === 'string' && tag.value === name) || memberOf(node, `__polygraphy_encoded_${name}`) !== undefined;
}

/** Schemas follow Polygraphy's version: pairs, triples with strides, objects with a format, objects without. */
function schemaOf(entries: JsonNode): string {
  if (entries.kind !== 'object') return 'empty';
  for (const { value } of entries.members)
    for (const list of [memberOf(value, 'inputs'), memberOf(value, 'outputs')]) {
      const tensor = list?.kind === 'array' ? list.items[0] : undefined;
      if (tensor?.kind === 'array') return tensor.items.length > 2 ? 'schema B, 0.42 to 0.45' : 'schema A, up to 0.41';
      if (tensor?.kind === 'object')
        return memberOf(tensor, 'tensor_format') ? 'schema C, 0.46 to 0.49.0' : 'schema D, 0.49.7 and later';
    }
  return entries.members.length === 0 ? 'empty' : 'unknown schema';
}

/** Choices that TensorRT offered an algorithm selector: one object a layer. */
function inspectChoices(documents: JsonNode[], problems: Problem[]): Inspection | null {
  const layers = documents.filter(
    (node) => memberOf(node, 'layer')?.kind === 'string' && memberOf(node, 'choices')?.kind === 'array',
  );
  if (layers.length === 0) return null;
  let choices = 0;
  for (const layer of layers) {
    const list = memberOf(layer, 'choices');
    if (list?.kind === 'array') choices += list.items.length;
  }
  const chosen = documents.filter((node) => memberOf(node, 'chosen') !== undefined).length;
  const counts: Record<string, number> = { layers: layers.length, choices };
  if (chosen > 0) counts['chosen'] = chosen;
  return inspection(
    'choices',
    `Tactics that TensorRT offered: ${counted(choices, 'choice')} for ${counted(layers.length, 'layer')}`,
    { counts, problems },
  );
}
