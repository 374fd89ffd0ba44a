import type { Problem } from '../../text/problem.ts';
import type { PlannedNode, PrecisionPlan } from '../plan/precisionPlan.ts';
import type { PrecisionType } from '../language/precisionType.ts';
import { maxArgumentBytes, utf8Length } from '../../text/utf8Length.ts';
import { hasLayerFlags, noLayerFlags, typeSince } from '../plan/tensorrtTarget.ts';
import type { TensorrtTarget } from '../plan/tensorrtTarget.ts';
import { cannotCarry, dialectOf, writeLayerSpecs } from './trtexecSpec.ts';
import type { LayerSpec } from './trtexecSpec.ts';
import { thousands } from '../../text/numbers.ts';

/** A plan in the words of one program: arguments, one per element, and what could not be said in them. */
export interface PrecisionArguments {
  args: string[];
  problems: Problem[];
}

/** What a build needs next to its other options; the same for every back-end with layer precisions. */
export interface LayerRequests {
  /** Types in addition to FP32 that the builder must be allowed to use. */
  allow: ('fp16' | 'bf16' | 'int8' | 'fp8' | 'int4')[];
  constraints: 'obey' | 'prefer' | 'none';
  layerPrecisions: { name: string; type: PrecisionType }[];
  layerOutputTypes: { name: string; types: PrecisionType[] }[];
}

const switches = ['fp16', 'bf16', 'int8', 'fp8', 'int4'] as const;

/** A plan as layer names and types: exact names only, since wildcards mean different things in different versions. */
export function layerRequests(plan: PrecisionPlan): LayerRequests {
  const asked = new Set<string>(plan.base === 'keep' ? [] : [plan.base]);
  for (const { compute, outputs } of plan.nodes) for (const type of [compute, ...(outputs ?? [])]) asked.add(type);
  const reached = plan.nodes.filter(({ later }) => !later);
  return {
    allow: switches.filter((type) => asked.has(type)),
    constraints: reached.length > 0 ? plan.require : 'none',
    layerPrecisions: reached.map(({ name, compute }) => ({ name, type: compute })),
    layerOutputTypes: reached.flatMap((node) => (node.outputs ? [{ name: node.name, types: layerTypes(node) }] : [])),
  };
}

/**
 * A node's output types for its layer. One type stands for all of a layer's outputs, however many it has; several must
 * be as many as it has, or the build fails. TensorRT makes one layer for each output of a Split, the first of its name.
 */
function layerTypes({ op, outputs }: PlannedNode): PrecisionType[] {
  const types = outputs ?? [];
  if (op === 'Split') return types.slice(0, 1);
  const floating = [...new Set(types.filter((type) => type !== 'int32' && type !== 'bool'))];
  return op !== 'TopK' && floating.length === 1 ? floating : types;
}

/** What no name of a layer can request: nodes whose name an earlier one has. */
export function sharedNames({ nodes }: PrecisionPlan): Problem[] {
  const later = nodes.filter((node) => node.later);
  const [first] = later;
  if (!first) return [];
  const count = thousands(later.length);
  const which =
    later.length === 1 ? JSON.stringify(first.name) : `${count} nodes, such as ${JSON.stringify(first.name)},`;
  const message = `${which} ${later.length === 1 ? 'is' : 'are'} omitted: an earlier node has the same name, and a layer precision would apply to that one. Give the nodes unique names, or build a typed copy of the model.`;
  return [error('name-shared', message)];
}

/** The plan as arguments of a trtexec of this version. `names` are all names of the model. */
export function trtexecArguments(
  plan: PrecisionPlan,
  target: TensorrtTarget,
  names: readonly string[],
): PrecisionArguments {
  const problems: Problem[] = [];
  if (hasLayerFlags(target) === false && plan.nodes.length + Number(plan.base !== 'keep') > 0) {
    problems.push(error('no-layer-flags', noLayerFlags(target)));
    return { args: [], problems };
  }
  const dialect = dialectOf(target.version);
  const starred = names.some((name) => name.includes('*')) ? names : [];
  const requests = layerRequests(plan);
  problems.push(...sharedNames(plan));
  const carried = (name: string): boolean => {
    const reason = cannotCarry(name, dialect, starred);
    if (reason !== null) problems.push(error('trtexec-cannot-carry', `${JSON.stringify(name)} is omitted: ${reason}.`));
    return reason === null;
  };
  const kept = requests.layerPrecisions.filter(({ name }) => carried(name));
  const names_ = new Set(kept.map(({ name }) => name));
  const outputs = requests.layerOutputTypes.filter(({ name }) => names_.has(name));
  for (const { op, name, outputs: requested } of plan.nodes) {
    if (op !== 'Split' || !requested?.some((type) => type !== requested[0])) continue;
    const message = `${JSON.stringify(name)}: TensorRT creates one layer per output of a Split, and only the first has this name. The other output types are omitted.`;
    problems.push({ severity: 'warning', code: 'output-types-left-out', message });
  }
  const args = switchesFor(requests.allow, target, problems);
  if (kept.length > 0) args.push(`--precisionConstraints=${requests.constraints}`);
  addSpecs(
    args,
    problems,
    'layerPrecisions',
    kept.map(({ name, type }) => ({ name, types: [type] })),
  );
  addSpecs(args, problems, 'layerOutputTypes', outputs);
  return { args, problems };
}

/** `--fp16` and similar ones. */
function switchesFor(allow: LayerRequests['allow'], target: TensorrtTarget, problems: Problem[]): string[] {
  for (const type of allow) {
    const since = typeSince(type, target);
    if (since)
      problems.push(
        error('type-unsupported-version', `--${type} needs TensorRT ${since} or later; it is passed anyway.`),
      );
  }
  return allow.map((type) => `--${type}`);
}

function addSpecs(args: string[], problems: Problem[], flag: string, specs: LayerSpec[]): void {
  if (specs.length === 0) return;
  const argument = `--${flag}=${writeLayerSpecs(specs)}`;
  const bytes = utf8Length(argument);
  if (bytes > maxArgumentBytes) {
    const message = `--${flag} for ${specs.length} layers is ${bytes} bytes long; Linux allows at most ${maxArgumentBytes} bytes in one argument. Use the Python back-end, or build a typed copy of the model.`;
    problems.push(error('argument-too-long', message));
  }
  args.push(argument);
}

const polygraphyWords: Readonly<Record<PrecisionType, string>> = {
  fp32: 'float32',
  fp16: 'float16',
  bf16: 'bfloat16',
  int8: 'int8',
  fp8: 'fp8',
  int4: 'int4',
  int32: 'int32',
  int64: 'int64',
  bool: 'bool',
};

/** The plan as arguments of Polygraphy (`run --trt`, `convert`). It splits at the last colon only, so any name fits. */
export function polygraphyArguments(plan: PrecisionPlan, target: TensorrtTarget): PrecisionArguments {
  const problems: Problem[] = [];
  if (hasLayerFlags(target) === false && plan.nodes.length + Number(plan.base !== 'keep') > 0) {
    problems.push(error('no-layer-flags', noLayerFlags(target)));
    return { args: [], problems };
  }
  const requests = layerRequests(plan);
  problems.push(...sharedNames(plan));
  const args = switchesFor(
    requests.allow.filter((type) => type !== 'int4'),
    target,
    problems,
  );
  if (requests.allow.includes('int4'))
    problems.push(error('polygraphy-cannot-carry', 'Polygraphy has no option --int4; it is omitted.'));
  if (requests.layerPrecisions.length > 0) {
    args.push('--precision-constraints', requests.constraints, '--layer-precisions');
    for (const { name, type } of requests.layerPrecisions) {
      if (name.startsWith('-')) {
        problems.push(
          error(
            'polygraphy-cannot-carry',
            `${JSON.stringify(name)} is omitted: Polygraphy would read it as an option.`,
          ),
        );
      } else {
        args.push(`${name}:${polygraphyWords[type]}`);
      }
    }
  }
  if (requests.layerOutputTypes.length > 0) {
    const count = requests.layerOutputTypes.length;
    problems.push({
      severity: 'warning',
      code: 'no-output-types',
      message: `Polygraphy has no option for output types of layers; ${count} of them ${count === 1 ? 'is' : 'are'} omitted.`,
    });
  }
  return { args, problems };
}

function error(code: string, message: string): Problem {
  return { severity: 'error', code, message };
}
