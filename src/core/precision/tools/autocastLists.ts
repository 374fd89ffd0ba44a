import type { Problem } from '../../text/problem.ts';
import type { NodeIndex } from '../language/nodeIndex.ts';
import type { PrecisionArguments } from './precisionFlags.ts';
import type { PrecisionPlan } from '../plan/precisionPlan.ts';

/**
 * A plan as arguments of `python -m modelopt.onnx.autocast`: what stays FP32 is excluded, the rest becomes the base
 * type. AutoCast's names are regular expressions that must match a name from its start.
 */
export function autocastArguments(plan: PrecisionPlan, index: NodeIndex): PrecisionArguments {
  const problems: Problem[] = [];
  const low = plan.base === 'keep' ? lowTypeOf(plan) : plan.base;
  const keep = plan.nodes.filter(({ compute }) => compute === 'fp32');
  const include = plan.nodes.filter(({ compute }) => compute === low);
  const others = plan.nodes.length - keep.length - include.length;
  if (others > 0) {
    problems.push(
      warning(
        'autocast-types',
        `AutoCast supports FP32 and one low-precision type (${low}); ${others} nodes with other types are omitted.`,
      ),
    );
  }
  if (plan.base === 'keep' && plan.nodes.length > 0) {
    problems.push(
      warning(
        'autocast-base',
        `AutoCast converts everything to ${low} that is not excluded or out of range. Write "base ${low}" to say so in the file.`,
      ),
    );
  }
  if (plan.nodes.some(({ outputs }) => outputs))
    problems.push(warning('no-output-types', 'AutoCast does not support output types; they are omitted.'));
  const wholeOps = keptOps(plan, index);
  const args = ['--low_precision_type', low, '--keep_io_types'];
  if (wholeOps.size > 0) args.push('--op_types_to_exclude', ...wholeOps);
  const names = keep.filter(({ op }) => !wholeOps.has(op)).map(({ name }) => nameRegex(name));
  if (names.length > 0) args.push('--nodes_to_exclude', ...new Set(names));
  if (include.length > 0) args.push('--nodes_to_include', ...new Set(include.map(({ name }) => nameRegex(name))));
  for (const { name } of [...keep, ...include]) {
    if (index.nodes[index.named(name)[0] ?? -1]?.name === '') {
      problems.push(
        warning(
          'autocast-unnamed',
          'AutoCast selects nodes by name and decides about unnamed ones itself. Name them first.',
        ),
      );
      break;
    }
  }
  return { args, problems };
}

function lowTypeOf(plan: PrecisionPlan): 'fp16' | 'bf16' {
  const half = plan.nodes.filter(({ compute }) => compute === 'fp16').length;
  return plan.nodes.filter(({ compute }) => compute === 'bf16').length > half ? 'bf16' : 'fp16';
}

/** Operator types whose every computing node stays FP32 (three or more: short lists read better). */
function keptOps(plan: PrecisionPlan, index: NodeIndex): Set<string> {
  const kept = new Map<string, number>();
  for (const { op, compute } of plan.nodes) if (compute === 'fp32') kept.set(op, (kept.get(op) ?? 0) + 1);
  const all = new Map<string, number>();
  for (const { op } of index.nodes) all.set(op, (all.get(op) ?? 0) + 1);
  return new Set([...kept].filter(([op, count]) => count >= 3 && all.get(op) === count).map(([op]) => op));
}

/** A regular expression (Python's) for exactly this name. */
export function nameRegex(name: string): string {
  return `^${name.replace(/[.*+?^${}()|[\]\\#&~-]/g, '\\$&')}$`;
}

function warning(code: string, message: string): Problem {
  return { severity: 'warning', code, message };
}
