// Checks a replay against a model.
import { totalMs } from '../../kernel/fusion/fusionReport.ts';
import { editDistance, LineIndex, thousands } from '../../kernel/base/text.ts';
import { before } from '../../kernel/build/trtexecFlags.ts';
import { atomsOf, isForeignNodeName, parseLayerName, withoutProfile } from '../../kernel/network/layerName.ts';
import { nodesInName } from '../../kernel/network/nodeNames.ts';
import { type BuildFacts, targetName, targetOfBuild, type TensorrtTarget } from '../../kernel/rules/buildFacts.ts';
import type { NodeIndex } from '../../kernel/rules/resolveOverrides.ts';
import { replaceAlgorithm } from './editReplay.ts';
import { checkTensors } from './internal/checkTensors.ts';
import {
  alternatives,
  bestOfEachType,
  type Choices,
  choiceTitle,
  isMyelin,
  type Offer,
  offerFor,
  offersFor,
  titlesOf,
} from '../../kernel/read/replay/readChoices.ts';
import { logTypes } from '../../kernel/read/replay/tensorFormats.ts';
import { type ReplayMismatch, replayProblem, type ReplayRead } from '../../kernel/read/replay/readReplay.ts';
import {
  type ReplayEntry,
  type ReplayFile,
  type ReplayFix,
  type ReplayProblem,
  sameAlgorithm,
  sameFormats,
  sameTypes,
  type Span,
  tacticId,
  type TensorFormat,
  typeSignature,
} from '../../kernel/read/replay/replayFile.ts';

/** What a replay is checked against; everything may be absent. */
export interface ReplayContext {
  index: NodeIndex | null;
  build: BuildFacts | null;
  /** The TensorRT that should load it; by default the build's. */
  target?: TensorrtTarget;
  /** Records of offered choices, the most trusted first: of the failed build itself, recorded ones, a log's. */
  choices: Choices[];
  /** What the last build's log says about a replay. */
  mismatches: ReplayMismatch[];
  /** Where the replay was recorded, as far as known. */
  recorded?: { version: string | null; gpu: string | null } | null;
}

export const emptyContext: ReplayContext = { index: null, build: null, choices: [], mismatches: [] };

/** All problems of a replay, the reader's included, in the order of the text. */
export function checkReplay(text: string, read: ReplayRead, context: ReplayContext): ReplayProblem[] {
  const problems = [...read.problems];
  if (read.value) {
    const checker = new Checker(text, read.value, context);
    problems.push(...checker.check());
  }
  return problems.sort((a, b) => a.start - b.start);
}

const mostFixes = 8;

class Checker {
  private readonly text: string;
  private readonly file: ReplayFile;
  private readonly context: ReplayContext;
  private readonly lines: LineIndex;
  private readonly problems: ReplayProblem[] = [];
  /** Where something names all layers: those. */
  private readonly layers: Set<string>;
  /** Layers that TensorRT offered choices for: they are there, whatever else is. */
  private readonly asked: Set<string>;
  /** False: the build lists the kernels of ForeignNodes and does not say which ForeignNodes they are of. */
  private readonly namesForeign: boolean;
  /** The last build, where it was by a TensorRT that loads replays: others name their layers otherwise. */
  private readonly build: BuildFacts | null;
  /** The layers of that build by name; of several with one name, the first. */
  private readonly built: ReadonlyMap<string, BuildFacts['layers'][number]>;
  /** The TensorRT that should load the replay, as far as known. */
  private readonly target: TensorrtTarget | null;

  constructor(text: string, file: ReplayFile, context: ReplayContext) {
    this.text = text;
    this.file = file;
    this.context = context;
    this.lines = new LineIndex(text);
    const { choices } = context;
    const build = context.build && loadsReplays(targetOfBuild(context.build)) ? context.build : null;
    this.build = build;
    this.built = new Map(build?.layers.toReversed().map((layer) => [layer.name, layer]));
    this.target = context.target ?? (context.build ? targetOfBuild(context.build) : null);
    this.layers = new Set();
    this.asked = new Set();
    for (const { offered, chosen } of choices) {
      for (const layer of offered.keys()) this.asked.add(layer);
      // Only a recording that came to its end names every layer: a failed build names those before the failure.
      if (chosen.size > 0) for (const layer of [...offered.keys(), ...chosen.keys()]) this.layers.add(layer);
    }
    for (const { name } of build?.layers ?? []) this.layers.add(name);
    for (const { name } of build?.foreignNodes ?? []) this.layers.add(name);
    this.namesForeign = !build || build.foreignNodes.length > 0 || !build.layers.some(({ kind }) => kind === 'kernel');
  }

  check(): ReplayProblem[] {
    this.checkFile();
    for (const entry of this.file.entries) {
      this.checkLayer(entry);
      checkTensors(entry, this.target, this.file.variant, (span, severity, code, message, fixes) =>
        this.add(span, severity, code, message, entry, fixes),
      );
      if (entry.whole) {
        this.checkForeign(entry);
        this.checkOffer(entry);
      }
    }
    return this.problems;
  }

  private checkFile(): void {
    const { target } = this;
    const { recorded, mismatches } = this.context;
    const first = this.file.entries[0]?.key ?? { start: this.file.span.start, end: this.file.span.start + 1 };
    if (target && !loadsReplays(target)) {
      const message = `${targetName(target)} cannot load a tactic replay, because TensorRT 11 removed the algorithm selector that replays need. Pin tactics with an editable timing cache, and types with an override file.`;
      this.add(first, 'warning', 'no-replay-support', message);
    }
    const { variant } = this.file;
    if (variant === 'A' || variant === 'B') {
      const message =
        'Polygraphy before 0.46 wrote this format, and later versions refuse it. Record the replay again with the version that will load it.';
      const isLoaded = mismatches.some(({ inReplay }) => inReplay?.inputs.some(isNamed));
      this.add(first, isLoaded ? 'info' : 'error', 'old-form', message);
    }
    if (recorded && this.build) this.checkOrigin(first, recorded, this.build);
    if (this.asked.size === 0) this.checkRounded();
    const free = mismatches.filter(({ kind }) => kind === 'not-found').map(({ layer }) => layer);
    const written = new Set(this.file.entries.map(({ layer }) => layer));
    const missing = free.filter((layer) => !written.has(layer));
    if (missing.length > 0) {
      const names = missing
        .slice(0, 3)
        .map((layer) => JSON.stringify(layer))
        .join(', ');
      this.add(
        first,
        'info',
        'layer-missing',
        `The last build found no entry for ${missing.length} of its layers (${names}${missing.length > 3 ? ', …' : ''}): TensorRT chose their tactics itself.`,
      );
    }
  }

  /** Of ids with more digits than a floating-point number holds, one in a hundred looks rounded by chance: never all. */
  private checkRounded(): void {
    const large = this.file.entries.filter(({ algorithm }) => /^-?\d{17,}$/.test(algorithm.tactic));
    const isRounded = ({ algorithm: { tactic } }: ReplayEntry) => String(Number(tactic)) === tactic;
    if (large.length < 2 || !large.every(isRounded)) return;
    const message = `A program rounded the ids in this file to floating-point numbers: all ${large.length} ids with 17 or more digits are exact doubles. Start from the recorded file and edit it as text.`;
    for (const entry of large)
      if (entry.places.tactic) this.add(entry.places.tactic, 'error', 'rounded-id', message, entry);
  }

  private checkOrigin(first: Span, recorded: { version: string | null; gpu: string | null }, build: BuildFacts): void {
    if (recorded.version && build.version && release(recorded.version) !== release(build.version)) {
      this.add(
        first,
        'warning',
        'other-version',
        `This replay was recorded with TensorRT ${recorded.version}; the last build used ${build.version}. Ids and layer names differ between versions. Record it again.`,
      );
    }
    if (recorded.gpu && build.gpu && recorded.gpu !== build.gpu) {
      this.add(
        first,
        'warning',
        'other-gpu',
        `This replay was recorded on ${recorded.gpu}; the last build ran on ${build.gpu}. Tactics of one GPU may not exist on another. Record it again on this GPU.`,
      );
    }
  }

  /** A layer that this network does not have: TensorRT never asks for the entry. */
  private checkLayer(entry: ReplayEntry): void {
    const name = withoutProfile(entry.layer);
    const known = [entry.layer, name].some((layer) => this.layers.has(layer) || this.asked.has(layer));
    if (known || (isForeignNodeName(name) && !this.namesForeign)) return;
    if (this.layers.size > 0) {
      const near = this.nearest(name);
      const fixes = near.map((layer, i) => ({
        title: `Rename to ${JSON.stringify(layer)}`,
        edits: [{ ...entry.key, text: JSON.stringify(layer) }],
        preferred: i === 0,
      }));
      const hint = near.length > 0 ? ` Closest names: ${near.map((layer) => JSON.stringify(layer)).join(', ')}.` : '';
      this.add(
        entry.key,
        'warning',
        'layer-not-found',
        `The last build has no layer with this name, so TensorRT would never use this entry.${hint}`,
        entry,
        fixes,
      );
      return;
    }
    const { index } = this.context;
    if (!index || isForeignNodeName(name)) return;
    const atoms = atomsOf(parseLayerName(name, index.byName));
    const named = atoms.some((atom) => index.has(atom) || index.makerOf(atom) !== undefined);
    if (atoms.length === 0 || named || atoms.every((atom) => atom.startsWith('(Unnamed Layer*'))) return;
    this.add(
      entry.key,
      'warning',
      'layer-not-found',
      `The model ${index.facts.file} has no node with this name. Check that the replay belongs to this model.`,
      entry,
    );
  }

  private nearest(name: string): string[] {
    const taken = new Set(this.file.entries.map(({ layer }) => layer));
    const limit = Math.max(3, Math.floor(name.length / 2));
    return [...this.layers]
      .filter((layer) => !taken.has(layer) && Math.abs(layer.length - name.length) <= limit)
      .slice(0, 2000)
      .map((layer) => ({ layer, distance: editDistance(name, layer, limit) }))
      .filter(({ distance }) => distance <= limit)
      .sort((a, b) => a.distance - b.distance)
      .slice(0, 3)
      .map(({ layer }) => layer);
  }

  private checkForeign(entry: ReplayEntry): void {
    if (!isForeignNodeName(entry.layer) && !isMyelin(entry.algorithm)) return;
    // A region that a DLA runs has such a name, too, and other tactics.
    if (isMyelin(entry.algorithm) && tacticId(entry.algorithm.tactic) !== '0' && entry.places.tactic) {
      const fix = { title: 'Set the tactic to 0', edits: [{ ...entry.places.tactic, text: '0' }], preferred: true };
      this.add(entry.places.tactic, 'error', 'foreign-tactic', 'The only tactic of a ForeignNode is 0.', entry, [fix]);
    }
    const message =
      'This is a ForeignNode: an edit here changes only the types and layouts at its boundary. If TensorRT offers that combination, the whole region uses it; single nodes inside are not affected. Use an override file for those.';
    this.add(entry.key, 'info', 'foreign-entry', message, entry);
  }

  private checkOffer(entry: ReplayEntry): void {
    if (this.checkOverruled(entry)) return;
    const offers = offersFor(entry.layer, this.context.choices);
    const [offer] = offers;
    if (!offer) {
      this.checkFailed(entry);
      return;
    }
    const owns = offers.map(({ choices }) =>
      choices.find(({ algorithm }) => sameAlgorithm(algorithm, entry.algorithm)),
    );
    if (owns[0]) {
      if (offer.source !== 'mismatch' && owns.some((own) => own?.tf32)) this.tellTf32(entry);
      return;
    }
    const rounded = this.roundedTo(entry, offer);
    if (rounded && entry.places.tactic) {
      const fix = { title: `Restore ${rounded}`, edits: [{ ...entry.places.tactic, text: rounded }], preferred: true };
      this.add(
        entry.places.tactic,
        'error',
        'rounded-id',
        `A program rounded this id to a floating-point number: TensorRT offered ${rounded}.`,
        entry,
        [fix],
      );
      return;
    }
    const sure = offer.source !== 'log';
    const where = {
      sidecar: 'when its choices were recorded',
      mismatch: 'in the failed build',
      log: 'in the last build',
    }[offer.source];
    const count = thousands(offer.choices.length);
    const message = `TensorRT offered ${count} ${offer.choices.length === 1 ? 'choice' : 'choices'} for this layer ${where}, but not this one${this.difference(entry, offer)}. Implementation, tactic, input formats and output formats together must be one of these choices, or the build fails with "Tactic in replay was not provided by TensorRT as a choice for this layer".`;
    this.add(entry.key, sure ? 'error' : 'warning', 'not-offered', message, entry, () => this.choiceFixes(entry));
  }

  private tellTf32(entry: ReplayEntry): void {
    const message =
      'This is a TF32 kernel. Polygraphy disables TF32, so TensorRT will not offer it. Load the replay with --tf32, or use another choice.';
    const span = entry.places.tactic ?? entry.key;
    this.add(span, 'warning', 'needs-tf32', message, entry, () => this.choiceFixes(entry));
  }

  /** What exactly is not on offer. */
  private difference(entry: ReplayEntry, offer: Offer): string {
    const wanted = entry.algorithm;
    const typed = offer.choices.filter(({ algorithm }) => sameTypes(algorithm, wanted));
    if (typed.length === 0) return `: none has the types ${typeSignature(wanted)}`;
    const formed = typed.filter(
      ({ algorithm }) => sameFormats(algorithm.inputs, wanted.inputs) && sameFormats(algorithm.outputs, wanted.outputs),
    );
    const have = (count: number) => `${count} ${count === 1 ? 'has' : 'have'}`;
    if (formed.length === 0) return `: ${have(typed.length)} the types ${typeSignature(wanted)}, but in another layout`;
    return `: ${have(formed.length)} these formats, but with another implementation or tactic`;
  }

  private roundedTo(entry: ReplayEntry, offer: Offer): string | null {
    const own = tacticId(entry.algorithm.tactic);
    if (own === null) return null;
    for (const { algorithm } of offer.choices) {
      if (Number(algorithm.tactic) !== Number(own)) continue;
      const id = tacticId(algorithm.tactic);
      if (id === null || id === own) continue;
      if (sameAlgorithm({ ...entry.algorithm, tactic: id }, algorithm)) return id;
    }
    return null;
  }

  /** The best of what can be had: with the types asked for first, then one for every other combination of types. */
  private choiceFixes(entry: ReplayEntry): ReplayFix[] {
    const offer = offerFor(entry.layer, this.context.choices);
    const all = offer ? alternatives(entry, offer) : [];
    const wanted = all.filter(({ algorithm }) => sameTypes(algorithm, entry.algorithm));
    const short = [...new Set([...wanted.slice(0, 4), ...bestOfEachType(all)])].slice(0, mostFixes);
    const titles = titlesOf(short);
    const fixes: ReplayFix[] = [];
    for (const [i, choice] of short.entries()) {
      const edits = replaceAlgorithm(this.text, this.file, entry, choice.algorithm);
      if (edits) fixes.push({ title: `Change the whole entry to ${titles[i]}`, edits, preferred: fixes.length === 0 });
    }
    return fixes;
  }

  /** TensorRT was told to take this and took another one: the build failed, whatever was offered. */
  private checkOverruled(entry: ReplayEntry): boolean {
    const overruled = this.context.mismatches.find(({ kind, layer }) => kind === 'overruled' && layer === entry.layer);
    const [taken] = overruled?.choices ?? [];
    if (!overruled?.inReplay || !taken || !sameAlgorithm(overruled.inReplay, entry.algorithm)) return false;
    const edits = replaceAlgorithm(this.text, this.file, entry, taken);
    const title = `Change the whole entry to ${choiceTitle(taken)}`;
    const message = `The last build failed here (log line ${overruled.line}): the replay requested this tactic, but TensorRT used ${choiceTitle(taken)}.`;
    this.add(entry.key, 'error', 'overruled', message, entry, edits ? [{ title, edits, preferred: true }] : []);
    return true;
  }

  /** Without a record of choices the failed build itself is evidence, as long as the entry is still the same. */
  private checkFailed(entry: ReplayEntry): void {
    const failed = this.context.mismatches.find(({ kind, layer }) => kind === 'not-offered' && layer === entry.layer);
    if (!failed || (failed.inReplay && !sameAlgorithm(failed.inReplay, entry.algorithm))) {
      this.checkBuilt(entry);
      return;
    }
    const message = `The last build failed here (log line ${failed.line}): TensorRT did not offer this choice, and the log does not list the offers. Record the choices to see the alternatives.`;
    this.add(entry.key, 'error', 'not-offered', message, entry);
  }

  /** With nothing known of choices there is still what the last build ran the layer with: a kernel has types of its own. */
  private checkBuilt(entry: ReplayEntry): void {
    const built = this.built.get(entry.layer);
    if (!built || isMyelin(entry.algorithm)) return;
    const { inputs, outputs } = entry.algorithm;
    const asked = [...inputs, ...outputs].map(({ dtype }) => dtype);
    const ran = [...built.inputs, ...built.outputs].map(({ type }) => logTypes[type?.toLowerCase() ?? '']);
    if (inputs.length !== built.inputs.length || asked.length !== ran.length || ran.includes(undefined)) return;
    const changed = asked.findIndex((dtype, i) => dtype !== ran[i]);
    if (changed < 0) return;
    const words = (types: readonly (string | undefined)[]) =>
      [types.slice(0, inputs.length), types.slice(inputs.length)].map((side) => side.join(', ')).join(' → ');
    const message = `The last build ran this layer with ${words(ran)}, but this entry requests ${words(asked)}. Each kernel has fixed types and layouts, so TensorRT rejects an entry in which only a type was changed. Record the choices, or build with a verbose log, to see what it offers.`;
    this.add(entry.places.tensors[changed]?.dtype ?? entry.key, 'warning', 'type-changed', message, entry);
  }

  private add(
    span: Span,
    severity: ReplayProblem['severity'],
    code: string,
    message: string,
    entry?: ReplayEntry,
    fixes: ReplayFix[] | (() => ReplayFix[]) = [],
  ): void {
    this.problems.push(replayProblem(this.lines, span, severity, code, message, entry?.layer, fixes));
  }
}

/** `10.13.3` of what Python says (10.13.3.9) and logs say (10.13.3). */
const release = (version: string): string => version.split('.').slice(0, 3).join('.');

const loadsReplays = ({ product, version }: TensorrtTarget): boolean =>
  product !== 'tensorrt-rtx' && (version === null || before(version, [11, 0, 0]));

/** As Polygraphy before 0.46 prints it: a build that says so has loaded its form. */
const isNamed = ({ format, components }: TensorFormat): boolean => format !== null && components === null;

/** What is shown after an entry of a replay: its layer and the nodes of the layer. */
export interface ReplayHint {
  entry: ReplayEntry;
  kind: 'foreign' | 'fused' | 'single' | 'unknown';
  /** Positions of the model's nodes. */
  nodes: number[];
  /** How the nodes are known: from the last build, from the layer's name alone, or not. */
  source: 'build' | 'name' | 'none';
  /** False if a build only implies the nodes. */
  exact: boolean;
  /** Position of the ForeignNode in the build, or -1; of the layer in the build, or -1. */
  foreign: number;
  layer: number;
  averageMs: number | null;
}

/**
 * Finds for each entry which nodes its layer computes: from the build where it has the layer, otherwise from the
 * layer's name.
 */
export function replayHints(file: ReplayFile, index: NodeIndex | null, build: BuildFacts | null): ReplayHint[] {
  const layers = new Map(build?.layers.map((layer, i) => [layer.name, i]));
  const groups = new Map(build?.foreignNodes.map((group, i) => [group.name, i]));
  return file.entries.map((entry) => {
    // Of a second optimization profile the build may name the layer once only.
    const base = withoutProfile(entry.layer);
    const group = groups.get(entry.layer) ?? groups.get(base);
    if (build && group !== undefined) return foreignHint(entry, group, build);
    const layer = layers.get(entry.layer) ?? layers.get(base);
    const built = layer === undefined ? undefined : build?.layers[layer];
    if (built && layer !== undefined && built.nodes.length > 0) {
      const kind = built.nodes.length > 1 ? 'fused' : 'single';
      return {
        entry,
        kind,
        nodes: built.nodes,
        source: 'build',
        exact: true,
        foreign: -1,
        layer,
        averageMs: built.averageMs,
      };
    }
    const nodes = index ? namedNodes(base, index) : [];
    const kind = isMyelin(entry.algorithm)
      ? 'foreign'
      : nodes.length > 1
        ? 'fused'
        : nodes.length === 1
          ? 'single'
          : 'unknown';
    const source = nodes.length > 0 ? 'name' : 'none';
    return {
      entry,
      kind,
      nodes,
      source,
      exact: false,
      foreign: -1,
      layer: layer ?? -1,
      averageMs: built?.averageMs ?? null,
    };
  });
}

function foreignHint(entry: ReplayEntry, group: number, build: BuildFacts): ReplayHint {
  const nodes: number[] = [];
  for (const [i, node] of build.nodes.entries()) if (node.foreign === group) nodes.push(i);
  const layers = new Set(nodes.flatMap((i) => build.nodes[i]?.layers ?? []));
  const averageMs = totalMs([...layers].flatMap((at) => build.layers[at] ?? []));
  const layer = build.layers.findIndex(({ name }) => name === entry.layer);
  const exact = build.foreignNodes[group]?.exact ?? false;
  return { entry, kind: 'foreign', nodes, source: 'build', exact, foreign: group, layer, averageMs };
}

function namedNodes(layer: string, { byName }: NodeIndex): number[] {
  // The two ends of a ForeignNode's name are not its members.
  if (parseLayerName(layer, byName).kind === 'foreign') return [];
  return [...new Set(nodesInName(byName, layer).flat())].sort((a, b) => a - b);
}
