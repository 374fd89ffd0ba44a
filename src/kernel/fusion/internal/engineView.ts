import type {
  BuildLog,
  BuildPhase,
  EngineLayer,
  EngineTensor,
  LayerInfo,
  LoggedForeignNode,
} from '../../read/tensorrt/buildOutput.ts';
import {
  isForeignNodeName,
  isNumberedKernel,
  type LayerName,
  parseLayerName,
  printLayerName,
  reformattedFor,
  withoutProfile,
  mentionedProfile,
} from '../../network/layerName.ts';
import { bareLayer } from '../../read/tensorrt/readLayerLine.ts';
import type { NodeNames } from '../../network/nodeNames.ts';
import { plannedLayers } from './plannedLayers.ts';

/** A Myelin region: one ForeignNode of the engine. */
export interface Region {
  name: string;
  /** False: no input says the name, this one is made up. */
  named: boolean;
  /** Indices of its layers: kernels, or the one opaque layer. */
  layers: number[];
  /** What the log's `ForeignNode … metadata:` line says; null if there is none. */
  metadata: string | null;
  line: number | null;
  /** Tensors at its border as TensorRT calls them, without its reformats. */
  inputs: string[];
  outputs: string[];
}

/** The engine as far as the inputs tell it, from whichever of them says most. */
export interface EngineView {
  layers: EngineLayer[];
  /** The layers' names without the profile whose copy they are. */
  names: LayerName[];
  /** `plan`: the build ended before there was an engine; the layers are those that it meant to have. */
  source: 'layer-info' | 'log' | 'plan' | 'none';
  /** The log ends within its list of layers, or before it: what no layer names may be in those that it lacks. */
  isCut: boolean;
  regions: Region[];
  /** Region of each layer; -1: none. */
  regionOf: number[];
  /** The tensor at the other side of a reformat, by the name at the layer's side. */
  aliases: Map<string, string>;
  /** Inputs and outputs of the engine. */
  bindings: Set<string>;
  phase: BuildPhase | undefined;
  /** Some shape is known only when the engine runs; null if no input gives the engine's shapes. */
  isDynamic: boolean | null;
  /** Name of the native layer, by index of a kernel that is no part of a ForeignNode; '' if no input says it. */
  nativeNames: Map<number, string>;
  /** How many optimization profiles the layers are of; the view has those of one. */
  profiles: number;
}

/** Joins layer info and log into one list of layers with their ForeignNodes, of one optimization profile. */
export function createEngineView(
  layerInfo: LayerInfo | undefined,
  log: BuildLog | undefined,
  known: NodeNames,
  shownProfile = 0,
): EngineView {
  const phase = lastStrategy(log?.phases.findLast(({ calibration }) => !calibration) ?? log?.phases.at(-1));
  const { source, layers } = chooseLayers(layerInfo, log, phase, known);
  const names = layers.map(({ name }) => bareName(parseLayerName(name, known)));
  const logged = source === 'layer-info' ? (log?.engineLayers ?? []) : [];
  const enriched = enrich(layers, logged);
  const bindings = new Set([...(layerInfo?.bindings ?? []), ...(log?.bindings ?? [])]);
  for (const { name } of layerInfo?.ioTensors ?? []) bindings.add(name);
  const view: EngineView = {
    layers: enriched,
    names,
    source,
    isCut: source !== 'layer-info' && log?.outcome === 'cut-off' && log.bindings.length === 0,
    regions: [],
    regionOf: layers.map(() => -1),
    aliases: aliasesOf([...enriched, ...logged], known),
    bindings,
    phase,
    isDynamic: hasDynamicShapes(enriched),
    nativeNames: new Map(),
    profiles: 1,
  };
  addRegions(view, log, known);
  return ofProfile(view, shownProfile, known);
}

/** An engine has a copy of its layers for each optimization profile, and a pass runs one of them. */
function ofProfile(view: EngineView, shown: number, known: NodeNames): EngineView {
  const suffixOf = (name: string): number => {
    const profile = mentionedProfile(name);
    return profile > 0 && known.has(name) ? 0 : profile;
  };
  const own = view.layers.map(({ name, inputs, outputs }) => {
    let profile = suffixOf(name);
    for (const tensor of inputs) profile = Math.max(profile, suffixOf(tensor.name));
    for (const tensor of outputs) profile = Math.max(profile, suffixOf(tensor.name));
    return profile;
  });
  if (own.every((profile) => profile === 0)) return view;
  // Not all kernels of a further profile have its suffix, or read a tensor that has; the profiles follow one another.
  let last = 0;
  const ofRegion = view.regions.map(({ layers }) => (last = Math.max(last, ...layers.map((layer) => own[layer]!))));
  const profileOfLayer = own.map((profile, layer) => ofRegion[view.regionOf[layer]!] ?? profile);
  const profiles = 1 + Math.max(0, ...new Set([...profileOfLayer, ...ofRegion]));
  if (profiles === 1) return view;
  const kept = view.layers.flatMap((_, layer) => (profileOfLayer[layer] === shown ? [layer] : []));
  const place = new Map(kept.map((layer, index) => [layer, index]));
  const regions = view.regions.flatMap((_, region) => (ofRegion[region] === shown ? [region] : []));
  const layers = kept.map((layer) => view.layers[layer]!);
  return {
    ...view,
    layers,
    isDynamic: hasDynamicShapes(layers),
    names: kept.map((layer) => view.names[layer]!),
    regions: regions.map((region) => {
      const { name, layers, ...rest } = view.regions[region]!;
      const suffix = shown === 0 ? '' : ` [profile ${shown}]`;
      return { ...rest, name: withoutProfile(name) + suffix, layers: layers.map((layer) => place.get(layer)!) };
    }),
    regionOf: kept.map((layer) => regions.indexOf(view.regionOf[layer]!)),
    nativeNames: new Map(
      [...view.nativeNames].flatMap(([layer, name]) => (place.has(layer) ? [[place.get(layer)!, name] as const] : [])),
    ),
    profiles,
  };
}

/** Engines of fixed shapes have calls named `dummy_shape_call…` all the same. */
function hasDynamicShapes(layers: readonly EngineLayer[]): boolean | null {
  let isKnown = false;
  for (const { name, type, inputs, outputs } of layers) {
    if (type === 'shape_call' ? !name.startsWith('dummy_') : hostTransfer.test(type) || hostTransfer.test(name))
      return true;
    for (const { dims } of [...inputs, ...outputs]) {
      if (dims?.some((dim) => dim < 0)) return true;
      isKnown ||= dims !== null;
    }
  }
  return isKnown ? false : null;
}

/** Layers that carry a shape between host and device, by type or by name. */
const hostTransfer =
  /^(?:ShapeHostToDevice|DeviceToShapeHost)$|\[ShapeHostToDeviceCopy \d+\]$|\[DevicetoShapeHostCopy\]$/;

/**
 * A build may optimize its network several times, once for each backend strategy. What came before the first of them
 * and the last of them are one story; the others came to nothing or to the same.
 */
function lastStrategy(phase: BuildPhase | undefined): BuildPhase | undefined {
  const starts = (phase?.funnel ?? []).flatMap(({ stage }, i, funnel) => {
    if (stage !== 'After Myelin optimization') return [];
    return [funnel[i - 1]?.stage === 'After adding DebugOutput nodes' ? i - 1 : i];
  });
  const [first] = starts;
  const last = starts.at(-1);
  if (!phase || first === undefined || last === undefined || first === last) return phase;
  const { funnel } = phase;
  const [from, to] = [funnel[first]!.line, funnel[last]!.line];
  // The passes of a strategy are logged before its first stage: after the last stage of the one before it.
  const begin = last === 0 ? to : funnel[last - 1]!.line;
  const isTold = ({ line }: { line: number }) => line < from || line > begin;
  return {
    ...phase,
    funnel: [...funnel.slice(0, first), ...funnel.slice(last)],
    events: phase.events.filter(isTold),
    tactics: phase.tactics.filter(isTold),
    reformats: phase.reformats.filter(isTold),
  };
}

function chooseLayers(
  layerInfo: LayerInfo | undefined,
  log: BuildLog | undefined,
  phase: BuildPhase | undefined,
  known: NodeNames,
): { source: EngineView['source']; layers: EngineLayer[] } {
  if (layerInfo && layerInfo.layers.length > 0) return { source: 'layer-info', layers: layerInfo.layers };
  if (log && log.engineLayers.length > 0) return { source: 'log', layers: log.engineLayers };
  const planned = phase && log ? plannedLayers(phase, log.finalLayers, known) : [];
  // Without the optimizer's lines, as in a log of INFO, the list of what runs on which device has the layers.
  const listed = log?.devices?.layers.map((name) => bareLayer(name, null)) ?? [];
  const layers = planned.length > 0 ? planned : listed;
  return { source: layers.length > 0 ? 'plan' : 'none', layers };
}

/** Layer info of names alone gets the tensors and lines that the log has for the same layers. */
function enrich(layers: EngineLayer[], logged: EngineLayer[]): EngineLayer[] {
  if (logged.length === 0) return layers;
  const byName = new Map<string, EngineLayer>();
  for (const layer of logged) if (!byName.has(layer.name)) byName.set(layer.name, layer);
  return layers.map((layer) => {
    const twin = byName.get(layer.name);
    if (!twin) return layer;
    const bare = layer.inputs.length === 0 && layer.outputs.length === 0;
    return {
      ...layer,
      type: layer.type || twin.type,
      inputs: bare ? twin.inputs : layer.inputs,
      outputs: bare ? twin.outputs : layer.outputs,
      metadata: layer.metadata ?? twin.metadata,
      tactic: layer.tactic ?? twin.tactic,
      line: layer.line ?? twin.line,
    };
  });
}

function aliasesOf(layers: EngineLayer[], known: NodeNames): Map<string, string> {
  const aliases = new Map<string, string>();
  for (const layer of layers) {
    if (!layer.name.startsWith('Reformatting CopyNode for ')) continue;
    const bare = bareName(parseLayerName(layer.name, known));
    const input = layer.inputs[0]?.name;
    const output = layer.outputs[0]?.name;
    if (bare.kind !== 'reformat' || input === undefined || output === undefined) continue;
    const [inner, outer] = bare.side === 'Input' ? [output, input] : [input, output];
    aliases.set(withoutProfile(inner), withoutProfile(outer));
  }
  return aliases;
}

/** The tensor's name outside all reformats. */
export function outsideName(view: EngineView, tensor: string): string {
  let name = withoutProfile(tensor);
  // A reformat may follow another; more than a few would be a cycle.
  for (let i = 0; i < 4; i++) {
    const outer = view.aliases.get(name);
    if (outer === undefined) break;
    name = outer;
  }
  return name;
}

function addRegions(view: EngineView, log: BuildLog | undefined, known: NodeNames): void {
  view.names.forEach((name, index) => {
    if (isForeign(name)) addRegion(view, view.layers[index]!.name, true, [index]);
  });
  const groups = kernelGroups(view.names);
  if (groups.length > 0) nameGroups(view, groups, log, known);
  const logged = view.phase?.foreignNodes ?? [];
  const taken = new Map<string, LoggedForeignNode>();
  for (const node of logged) if (!taken.has(node.name) || node.metadata !== null) taken.set(node.name, node);
  if (view.regions.length === 0 && view.source !== 'layer-info') {
    for (const node of taken.values()) addRegion(view, node.name, true, []);
  }
  const opaque = new Map((log?.engineLayers ?? []).map((layer) => [layer.name, layer]));
  // The log of the last profile may be all that there is: the members are those of every profile.
  const ofAny = new Map([...taken.values()].map((node) => [withoutProfile(node.name), node]));
  for (const region of view.regions) {
    const node = taken.get(region.name) ?? ofAny.get(withoutProfile(region.name));
    region.metadata = node?.metadata ?? null;
    region.line = node?.line ?? null;
    setBorder(view, region, opaque.get(region.name));
  }
}

/**
 * Kernels by the region in their names. Their numbers rise within a region; where they begin again, it is the region of
 * another engine in the same file. (Kernels of a further profile do not all have its suffix.)
 */
function kernelGroups(names: readonly LayerName[]): number[][] {
  const groups: number[][] = [];
  const current = new Map<number, { layers: number[]; last: number }>();
  names.forEach((name, index) => {
    if (name.kind !== 'kernel') return;
    const number = name.index ?? -1;
    let group = current.get(name.group);
    if (!group || (number >= 0 && number <= group.last)) {
      group = { layers: [], last: -1 };
      current.set(name.group, group);
      groups.push(group.layers);
    }
    group.layers.push(index);
    group.last = Math.max(group.last, number);
  });
  return groups;
}

/** A name without the suffix of a further optimization profile. */
export const bareName = (name: LayerName): LayerName => (name.kind === 'profile' ? name.of : name);

/** What a ForeignNode has among its layers next to kernels: control flow, synchronization, copies and shapes. */
const steps = new Set(['signal', 'wait', 'jmp', 'cjmp', 'shape_call', 'copy', 'memset']);

/** Whether a layer inside a ForeignNode launches a kernel, by its type. */
export const runsKernel = (type: string): boolean => !steps.has(type);

const isForeign = (name: LayerName): boolean => bareName(name).kind === 'foreign';

function addRegion(view: EngineView, name: string, named: boolean, layers: number[]): void {
  const index = view.regions.push({ name, named, layers, metadata: null, line: null, inputs: [], outputs: [] }) - 1;
  for (const layer of layers) view.regionOf[layer] = index;
}

/**
 * Assigns each
 * group of kernels the name of the native layer that it is: nearly always a ForeignNode, now and then a cast
 * or (in version-compatible engines) a reformat that Myelin compiles alone.
 */
function nameGroups(view: EngineView, groups: number[][], log: BuildLog | undefined, known: NodeNames): void {
  const aligned = alignNatives(view, groups, [
    log?.finalLayers ?? [],
    (log?.engineLayers ?? []).map(({ name }) => name),
  ]);
  const named = groups.map((group) => aligned.get(group) ?? nameFromReformats(view, group));
  const open = groups.filter((group, i) => named[i] === undefined && !isLoneMove(view, group));
  const given = new Set(named);
  const places = new Map(open.map((group, place) => [group, place]));
  const rest = foreignNames(view, log, known)
    .map((names) => names.filter((name) => !given.has(name)))
    .find((names) => names.length === open.length);
  groups.forEach((group, i) => {
    const name = named[i] ?? rest?.[places.get(group) ?? -1];
    if (name === undefined ? isLoneMove(view, group) : !isForeign(parseLayerName(name, known))) {
      for (const layer of group) view.nativeNames.set(layer, name ?? '');
      return;
    }
    const [number, profile] = numberOfGroup(view, group);
    const label = `ForeignNode myl${number}${profile ? ` [profile ${profile}]` : ''} (its name is in none of the inputs)`;
    addRegion(view, name ?? label, name !== undefined, group);
  });
}

function numberOfGroup(view: EngineView, group: number[]): [number: number, profile: number | null] {
  const kernels = group.map((layer) => view.names[layer]!).filter((name) => name.kind === 'kernel');
  return [kernels[0]!.group, kernels.find(({ profile }) => profile !== null)?.profile ?? null];
}

/**
 * Kernels are in the list where the native layer stands that they are compiled from. A list of the native layers
 * (which may lack some) therefore names the groups that are between the same neighbors.
 */
function alignNatives(view: EngineView, groups: number[][], lists: string[][]): Map<number[], string> {
  const groupAt = new Map(groups.map((group) => [group[0]!, group]));
  const natives = new Set(view.layers.filter((_, i) => view.names[i]!.kind !== 'kernel').map(({ name }) => name));
  const found = new Map<number[], string>();
  for (const list of lists) {
    if (list.length === 0 || list.some((name) => isNumberedKernel(name))) continue;
    let next = 0;
    view.layers.forEach(({ name }, index) => {
      const candidate = list[next];
      const group = groupAt.get(index);
      if (candidate === undefined) return;
      if (group && !natives.has(candidate)) {
        found.set(group, candidate);
        next++;
      } else if (candidate === name) next++;
    });
    // A list that doesn't fit to its end is of another build.
    if (next === list.length) return found;
    found.clear();
  }
  return found;
}

/** `__myl_Cas_myl0_0`, the only kernel of its group and without metadata. */
function isLoneMove(view: EngineView, group: number[]): boolean {
  const name = view.names[group[0]!]!;
  return (
    group.length === 1 &&
    name.kind === 'kernel' &&
    /^__myl_(?:Cast?|Move?)$/.test(name.base) &&
    !view.layers[group[0]!]!.metadata
  );
}

function nameFromReformats(view: EngineView, group: number[]): string | undefined {
  for (const index of group) {
    const { inputs, outputs } = view.layers[index]!;
    for (const { name } of [...outputs, ...inputs]) {
      const foreign = reformattedFor(name);
      if (foreign !== undefined) return foreign;
    }
  }
  return undefined;
}

/** Lists of the ForeignNodes' names in engine order, the surest first. */
function foreignNames(view: EngineView, log: BuildLog | undefined, known: NodeNames): string[][] {
  const pick = (names: string[]) => [
    ...new Set(names.filter((name) => isForeignNodeName(name) && isForeign(parseLayerName(name, known)))),
  ];
  return [
    pick(log?.finalLayers ?? []),
    pick((log?.engineLayers ?? []).map(({ name }) => name)),
    pick((view.phase?.tactics ?? []).map(({ name }) => name)),
    pick((view.phase?.foreignNodes ?? []).map(({ name }) => name)),
    pick(
      view.names.flatMap((name) => (name.kind === 'reformat' && isForeign(name.of) ? [printLayerName(name.of)] : [])),
    ),
  ].filter((names) => names.length > 0);
}

function setBorder(view: EngineView, region: Region, opaque: EngineLayer | undefined): void {
  const own = region.layers.map((index) => view.layers[index]!);
  const lone = own.length === 1 && isForeign(view.names[region.layers[0]!]!) ? own[0] : undefined;
  const whole = opaque && opaque.outputs.length > 0 ? opaque : lone;
  const unique = (tensors: EngineTensor[]) => [...new Set(tensors.map(({ name }) => outsideName(view, name)))];
  if (whole && whole.outputs.length > 0) {
    region.inputs = unique(whole.inputs);
    region.outputs = unique(whole.outputs);
    return;
  }
  region.outputs = unique(own.flatMap(({ outputs }) => outputs));
  const made = new Set(region.outputs);
  region.inputs = unique(own.flatMap(({ inputs }) => inputs)).filter((name) => !made.has(name));
}
