import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import type { Problem } from '../../base/problem.ts';
import type { EngineView } from './engineView.ts';
import { quote } from './namedMembers.ts';
import {
  atomsOf,
  isForeignNodeName,
  isMadeUpWord,
  kernelRegion,
  parseLayerName,
  parseMetadata,
} from '../../network/layerName.ts';
import type { ReportInput } from '../fusionReport.ts';
import { modelTensor, type Resolution } from './resolution.ts';
import { isStandardDomain } from '../../network/modelGraph.ts';
import { counted, thousands, shapeText } from '../../base/text.ts';
import type { Shape } from '../../network/outputTypes.ts';

/** Why nothing can be said about an engine; null if there is one, or the plan of one. */
export function noEngineReason(view: EngineView, log: BuildLog | undefined): string | null {
  if (view.profiles > 1 && view.layers.length === 0) return 'The engine does not have this optimization profile.';
  if (view.source !== 'none' || view.regions.length > 0) return null;
  if (log?.outcome === 'failed') {
    const error = log.messages.find(({ severity }) => severity === 'error');
    return `The build failed before TensorRT made an engine${error ? ` (log line ${error.line})` : ''}.`;
  }
  if (log?.outcome === 'cut-off') return 'The log ends before it lists engine layers.';
  return 'The inputs list no engine layers.';
}

/** What the user should know about the inputs as a whole. */
export function findProblems(
  from: Resolution,
  input: ReportInput,
  noEngine: string | null,
  other: Problem | undefined,
): Problem[] {
  const problems: Problem[] = [...severalBuilds(input), ...severalProfiles(from.view, input), ...withoutModel(input)];
  if (noEngine !== null && !other && from.view.profiles === 1) problems.push(noEngineProblem(input, noEngine));
  if (from.view.source === 'plan') problems.push(planProblem(input.log));
  const builds = otherBuildProblem(input);
  if (builds) problems.push(builds);
  const wrong = other ?? (input.sameModel ? undefined : noPlaces(from));
  if (wrong) problems.push(wrong);
  const unnamed = from.view.regions.filter(({ named }) => !named).length;
  if (unnamed > 0) {
    problems.push({
      severity: 'info',
      code: 'unnamed-foreign-node',
      message:
        `The layer list shows the kernels of ${counted(unnamed, 'ForeignNode')} but not ` +
        `${unnamed === 1 ? 'its name' : 'their names'}; the verbose build log has ${unnamed === 1 ? 'it' : 'them'}.`,
    });
  }
  const stale = other ? undefined : staleShapes(from);
  if (stale) problems.push(stale);
  const foreign = foreignDomains(from, input);
  if (foreign) problems.push(foreign);
  const lost = lostNodes(from);
  if (lost) problems.push(lost);
  const shared = sharedNames(from);
  if (shared) problems.push(shared);
  return problems;
}

/**
 * TensorRT-RTX looks at the operator alone: `my.ops:Relu` is built as ONNX's Relu, whatever it means to its authors.
 * Functions of the model are inlined, so their names don't matter.
 */
function foreignDomains({ graph }: Resolution, { model, log, layerInfo }: ReportInput): Problem | null {
  if (!model || (log?.product ?? null) !== 'tensorrt-rtx') return null;
  if (log?.outcome !== 'passed' && !layerInfo) return null;
  const own = new Set(model.functions.map(({ domain, name }) => `${domain}:${name}`));
  const foreign = graph.nodes.filter(({ domain, op }) => !isStandardDomain(domain) && !own.has(`${domain}:${op}`));
  const [first] = foreign;
  if (!first) return null;
  const names = [...new Set(foreign.map(({ domain, op }) => `${domain}:${op}`))].slice(0, 4).join(', ');
  return {
    severity: 'warning',
    code: 'foreign-domain',
    message: `TensorRT-RTX ignores the domains of operators: ${counted(foreign.length, 'node')} (${names}) may be built as ONNX operators of the same names. Compare the outputs, or rename the operators.`,
    node: first.id,
  };
}

/** The engine may be wrong: nothing shows that it computes these nodes. */
function lostNodes({ unaccounted, graph }: Resolution): Problem | null {
  const [first] = unaccounted.keys();
  if (first === undefined) return null;
  const count = unaccounted.size;
  const { name, id } = graph.nodes[first]!;
  const ops = [...new Set([...unaccounted.keys()].map((node) => graph.nodes[node]!.op))].slice(0, 4).join(', ');
  const [verb, pronoun] = count === 1 ? ['changes', 'it is'] : ['change', 'they are'];
  return {
    severity: 'warning',
    code: 'unaccounted-nodes',
    message:
      `${counted(count, 'node')} (${ops}) ${verb} values, and TensorRT names ${count === 1 ? 'it' : 'them'} nowhere` +
      `${count === 1 ? '' : `, the first is ${quote(name || id)}`}: ${pronoun} lost, or other kernels compute ${count === 1 ? 'it' : 'them'} without a name. ` +
      'The engine may return wrong values: compare its outputs with the model before you ship it. A bisection of the engine finds where they differ.',
    node: graph.nodes[first]!.id,
  };
}

function withoutModel({ model }: ReportInput): Problem[] {
  if (model !== null) return [];
  const message =
    "There is no ONNX file, so what happened to the model's nodes is unknown. Add the ONNX file that the engine was built from.";
  return [{ severity: 'info', code: 'no-model', message }];
}

function severalBuilds({ log, build }: ReportInput): Problem[] {
  if (build) {
    const { number, of, line } = build;
    return [
      {
        severity: 'info',
        code: 'several-builds',
        message: `The log contains ${of} builds. This report is on build ${number}, from line ${line}.`,
        line,
      },
    ];
  }
  if (!log?.builds) return [];
  const message = `The log contains ${log.builds.length} builds, and this report mixes them. Pass the log of one build.`;
  return [{ severity: 'warning', code: 'several-builds', message }];
}

function severalProfiles({ profiles, layers }: EngineView, { optimizationProfile = 0 }: ReportInput): Problem[] {
  if (profiles === 1)
    return optimizationProfile === 0
      ? []
      : [
          {
            severity: 'error',
            code: 'several-profiles',
            message: `The engine layers are of one optimization profile, number 0: there is none with the number ${optimizationProfile}.`,
          },
        ];
  const has = `The engine has ${profiles} optimization profiles`;
  return layers.length === 0
    ? [
        {
          severity: 'error',
          code: 'several-profiles',
          message: `${has}, numbered from 0, and none with the number ${optimizationProfile}.`,
        },
      ]
    : [
        {
          severity: 'info',
          code: 'several-profiles',
          message: `${has}, each with layers of its own. This report is on profile ${optimizationProfile}.`,
        },
      ];
}

function noEngineProblem({ log, layerInfo }: ReportInput, reason: string): Problem {
  const next =
    log?.outcome === 'failed'
      ? 'Fix the errors of the build first.'
      : log?.writer === 'onnxruntime'
        ? 'With the ONNX file, the log of ONNX Runtime says where each node runs; the layers take TensorRT’s lines, which log_severity_level=0 adds.'
        : layerInfo?.detail === 'none'
          ? 'Build with --profilingVerbosity=detailed, or add the verbose log.'
          : 'Build with --verbose and --profilingVerbosity=detailed, then pass the log or the layer info of that build.';
  return { severity: 'error', code: 'no-layers', message: `${reason} ${next}` };
}

function planProblem(log: BuildLog | undefined): Problem {
  const why =
    log?.outcome === 'failed'
      ? 'The build failed before TensorRT made an engine'
      : log?.outcome === 'cut-off'
        ? 'The log ends before it lists engine layers'
        : 'The log does not list the engine layers';
  return {
    severity: 'warning',
    code: 'planned-layers',
    message: `${why}. The layers shown are the plan of TensorRT at the end of the log, without the reformats and kernels of an engine.`,
    ...(log ? { line: Math.max(1, log.lines) } : {}),
  };
}

/** The log's own list of engine layers is that of the layer info, or the two are of different builds. */
export function otherBuildProblem({ layerInfo, log }: ReportInput): Problem | undefined {
  const isKernel = (name: string) => kernelRegion(name) !== undefined;
  const isNative = (name: string) => !isForeignNodeName(name) && !isKernel(name);
  const listed = (layerInfo?.layers ?? []).map(({ name }) => name);
  const logged = (log?.engineLayers ?? []).map(({ name }) => name);
  if (listed.length === 0) return undefined;
  if (logged.length > 0) {
    // One of them may have ForeignNodes where the other has their kernels.
    const isShown = listed.some(isKernel) === logged.some(isKernel) ? () => true : isNative;
    const [here, there] = [new Set(listed.filter(isShown)), new Set(logged.filter(isShown))];
    const missing =
      listed.find((name) => isShown(name) && !there.has(name)) ??
      logged.find((name) => isShown(name) && !here.has(name));
    return missing === undefined ? undefined : otherBuild(missing, here.has(missing));
  }
  const finals = (log?.finalLayers ?? []).filter(isNative);
  const natives = listed.filter(isNative);
  if (natives.length === 0 || finals.length === 0 || natives.some((name) => finals.includes(name))) return undefined;
  return otherBuild(natives[0]!, true);
}

const otherBuild = (layer: string, isListed: boolean): Problem => ({
  severity: 'warning',
  code: 'other-build',
  message:
    `Layer info and log are of different builds: layer ${quote(layer)} is in the ${isListed ? 'layer info' : 'log'} only. ` +
    'This report uses the layer info and ignores the log. Pass the log of the same build.',
});

/**
 * Log or layers of another model, by the names that they have and the model has not: then nothing that they say is about
 * this model, and nothing may be derived from it. Asked when TensorRT's own words are read.
 */
export function otherModel(from: Resolution, added: readonly string[] = []): Problem | undefined {
  const { of } = from.names.unmatched;
  const own = new Set(added);
  // Kernels of nodes that were added for the build say nothing of the model.
  const named = from.view.layers.filter(
    ({ metadata }) =>
      metadata?.includes('[ONNX Layer: ') &&
      (own.size === 0 || parseMetadata(metadata, from.names.likeTokens).tokens.some(({ text }) => !own.has(text))),
  ).length;
  const matched = from.layerNodes.filter((nodes) => nodes.size > 0).length;
  if (named > 0 && matched < named / 2) {
    return wrongModel(
      `Only ${thousands(matched)} of ${counted(named, 'layer')} with metadata name nodes of this model. Pass the model that the engine was built from.`,
    );
  }
  if (matched > 0 || of > 0) return undefined;
  const words = wordsOf(from);
  // Names alone may be anyone's; the tensors at the engine's border are the model's own.
  if (words.length === 0 || words.some((word) => isKnown(from, word)) || hasItsBorder(from)) return undefined;
  return wrongModel(
    `No name in the ${counted(from.view.layers.length, 'layer')} (the first is ${quote(words[0]!)}) is in this model. Pass the model that the engine was built from.`,
  );
}

const wrongModel = (message: string): Problem => ({ severity: 'error', code: 'other-model', message });

/** The names in the layers' names, without those that TensorRT made up. */
function wordsOf({ view, names }: Resolution): string[] {
  const words = new Set<string>();
  for (const [index, layer] of view.names.entries()) {
    const name = view.nativeNames.get(index);
    for (const atom of atomsOf(name ? parseLayerName(name, names) : layer)) words.add(atom);
    if (!name && layer.kind === 'kernel') for (const piece of layer.base.split('+')) words.add(piece);
  }
  for (const { name, named } of view.regions) {
    if (named) for (const atom of atomsOf(parseLayerName(name, names))) words.add(atom);
  }
  return [...words].filter((word) => word !== '' && !isMadeUpWord(word));
}

function isKnown({ names, graph }: Resolution, word: string): boolean {
  return (
    names.has(word) ||
    names.nodesOfLayer(word).length > 0 ||
    names.nodesOfKernel(word).length > 0 ||
    [
      word,
      word.replace(/\[[^[\]]*\]$/, ''),
      word.replace(/_\d+$/, ''),
      word.replace(/(?:_output|_clone)(?:_\d+)?$/, ''),
    ].some((text) => graph.byName.has(text) || names.has(text))
  );
}

/** All inputs and outputs of the engine are tensors of the model, of the same shape where both say it. */
function hasItsBorder(from: Resolution): boolean {
  const { view, graph } = from;
  const read = new Set(view.layers.flatMap(({ inputs }) => inputs.map(({ name }) => name)));
  const tensors = view.layers.flatMap(({ inputs, outputs }) => [...inputs, ...outputs]);
  // A list of names without tensors proves nothing: many models call their inputs and outputs the same.
  if (tensors.length === 0) return false;
  const made = new Set(view.layers.flatMap(({ outputs }) => outputs.map(({ name }) => name)));
  const names =
    view.bindings.size > 0
      ? [...view.bindings]
      : tensors.map(({ name }) => name).filter((name) => read.has(name) !== made.has(name));
  const dims = new Map(tensors.map((tensor) => [tensor.name, tensor.dims]));
  return (
    names.length > 0 &&
    names.every((name) => {
      const tensor = modelTensor(from, name);
      const shape = tensor < 0 ? undefined : graph.tensors[tensor]!.value?.shape;
      const own = dims.get(name);
      if (!shape || !own) return tensor >= 0;
      return (
        shape.length === own.length && shape.every((dim, i) => typeof dim !== 'number' || own[i]! < 0 || dim === own[i])
      );
    })
  );
}

/** Layers of which none could be placed in the model. */
function noPlaces(from: Resolution): Problem | undefined {
  const isPlaced = from.layerNodes.some(({ size }) => size > 0) || from.members.some(({ size }) => size > 0);
  if (from.view.layers.length === 0 || isPlaced || !from.roles.includes('data')) return undefined;
  return wrongModel(
    `None of the ${counted(from.view.layers.length, 'layer')} (the first is ${quote(from.view.layers[0]!.name)}) names a node of this model. Pass the model that the engine was built from.`,
  );
}

function staleShapes({ graph, contradicted }: Resolution): Problem | undefined {
  const [first] = contradicted;
  if (!first) return undefined;
  const text = (shape: Shape) => shapeText(shape!);
  const more = contradicted.length === 1 ? '' : ` (and ${counted(contradicted.length - 1, 'more tensor')})`;
  const { name, producer } = graph.tensors[first.tensor]!;
  return {
    severity: 'warning',
    code: 'stale-shape',
    message: `The model declares ${quote(name)} as ${text(first.declared)}, but its inputs make it ${text(first.inferred)}${more}. The report ignores the declared shape. Run shape inference again, or export the model again.`,
    node: graph.nodes[producer]!.id,
  };
}

function sharedNames(from: Resolution): Problem | undefined {
  const { graph, names } = from;
  const shared = graph.nodes.filter((node, index) => {
    if (node.name === '') return false;
    return names.nodesOf(node.name).length > 1 && from.provenance[index]?.by === 'metadata' && !from.exact[index];
  });
  if (shared.length === 0) return undefined;
  return {
    severity: 'warning',
    code: 'shared-names',
    message: `${counted(shared.length, 'node shares its name', 'nodes share their names')} with others (the first is ${quote(shared[0]!.name)}), and TensorRT's metadata has only names, so ${shared.length === 1 ? 'its fate is' : 'their fates are'} derived. Give the nodes unique names.`,
    node: shared[0]!.id,
  };
}
