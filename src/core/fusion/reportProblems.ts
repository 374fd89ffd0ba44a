import type { BuildLog } from '../engine/buildLog.ts';
import type { Problem } from '../text/problem.ts';
import type { ReportInput } from './createReport.ts';
import type { EngineView } from './engineView.ts';
import { quote } from './namedMembers.ts';
import type { Resolution } from './resolution.ts';

/** Why nothing can be said about an engine; null where there is one, or the plan of one. */
export function noEngineReason(view: EngineView, log: BuildLog | undefined): string | null {
  if (view.source !== 'none' || view.regions.length > 0) return null;
  if (log?.outcome === 'failed') {
    const error = log.messages.find(({ severity }) => severity === 'error');
    return `The build failed before there were engine layers${error ? ` (log line ${error.line})` : ''}.`;
  }
  if (log?.outcome === 'cut-off') return 'The log ends before there were engine layers.';
  return 'The inputs list no engine layers.';
}

/** What a person should know about the inputs as a whole. */
export function findProblems(from: Resolution, input: ReportInput, noEngine: string | null): Problem[] {
  const problems: Problem[] = [];
  if (noEngine !== null) problems.push(noEngineProblem(input, noEngine));
  if (from.view.source === 'plan') problems.push(planProblem(input.log));
  const builds = otherBuild(input);
  if (builds) problems.push(builds);
  const other = otherModel(from);
  if (other) problems.push(other);
  const unnamed = from.view.regions.filter(({ named }) => !named).length;
  if (unnamed > 0) {
    problems.push({
      severity: 'info',
      code: 'unnamed-foreign-node',
      message:
        `The layer list shows the kernels of ${unnamed} ForeignNode${unnamed === 1 ? '' : 's'} but not ` +
        `${unnamed === 1 ? 'its name' : 'their names'}; the verbose build log has ${unnamed === 1 ? 'it' : 'them'}.`,
    });
  }
  const shared = sharedNames(from);
  if (shared) problems.push(shared);
  return problems;
}

function noEngineProblem({ log, layerInfo }: ReportInput, reason: string): Problem {
  const next =
    log?.outcome === 'failed'
      ? 'Look at the errors of the build first.'
      : layerInfo?.detail === 'none'
        ? 'Build with --profilingVerbosity=detailed (and add the verbose log) to see layers.'
        : 'Build with --verbose and --profilingVerbosity=detailed, and give the log or the layer info of that build.';
  return { severity: 'error', code: 'no-layers', message: `${reason} ${next}` };
}

function planProblem(log: BuildLog | undefined): Problem {
  const why = log?.outcome === 'failed' ? 'The build failed' : 'The log ends';
  return {
    severity: 'warning',
    code: 'planned-layers',
    message: `${why} before there was an engine: the layers shown are those that TensorRT had planned by then, without the reformats and kernels of an engine.`,
    ...(log ? { line: Math.max(1, log.lines) } : {}),
  };
}

/** Layer info and log that have no native layer in common are of two builds. */
function otherBuild({ layerInfo, log }: ReportInput): Problem | undefined {
  const isNative = (name: string) => !name.startsWith('{ForeignNode[') && !/_myl\d+(_\d+)?$/.test(name);
  const logged = new Set([...(log?.finalLayers ?? []), ...(log?.engineLayers ?? []).map(({ name }) => name)]);
  const natives = (layerInfo?.layers ?? []).map(({ name }) => name).filter(isNative);
  const both = natives.filter((name) => logged.has(name));
  if (natives.length === 0 || both.length > 0 || ![...logged].some(isNative)) return undefined;
  return {
    severity: 'warning',
    code: 'other-build',
    message: `Layer info and log name no layer in common (${quote(natives[0]!)} is not in the log): they are of different builds. The layer info was taken.`,
  };
}

/** Names in log or layers that the model does not have: probably the wrong pair of files. */
function otherModel(from: Resolution): Problem | undefined {
  const { names, of } = from.names.unmatched;
  if (of > 0 && names.length > of / 2) {
    return {
      severity: 'error',
      code: 'other-model',
      message: `${names.length} of the ${of} nodes that the log parses are not in this model (first: ${quote(names[0]!)}). Give the model that was built.`,
    };
  }
  const named = from.view.layers.filter(({ metadata }) => metadata?.includes('[ONNX Layer: ')).length;
  const matched = from.layerNodes.filter((nodes) => nodes.size > 0).length;
  if (named > 0 && matched < named / 2) {
    return {
      severity: 'error',
      code: 'other-model',
      message: `Only ${matched} of ${named} layers with metadata name nodes of this model. Give the model that the engine was built from.`,
    };
  }
  const isPlaced = matched > 0 || from.members.some(({ size }) => size > 0);
  if (from.view.layers.length > 0 && !isPlaced && from.roles.includes('data')) {
    return {
      severity: 'error',
      code: 'other-model',
      message: `None of the ${from.view.layers.length} layers (first: ${quote(from.view.layers[0]!.name)}) names a node of this model. Give the model that the engine was built from.`,
    };
  }
  return undefined;
}

function sharedNames(from: Resolution): Problem | undefined {
  const { graph, names } = from;
  const shared = graph.nodes.filter((node, index) => {
    if (node.name === '') return false;
    return names.nodesOf(node.name).length > 1 && from.basis[index]?.by === 'metadata' && !from.exact[index];
  });
  if (shared.length === 0) return undefined;
  return {
    severity: 'warning',
    code: 'shared-names',
    message: `${shared.length} nodes share their names with others (first: ${quote(shared[0]!.name)}), and TensorRT's metadata gives only the name: where they went is marked as not exact. Unique names would tell.`,
    node: shared[0]!.id,
  };
}
