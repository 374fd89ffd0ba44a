import { counted, report, someNames } from './checkContext.ts';
import type { CheckContext } from './checkContext.ts';
import { foreignNodeEvidence } from './foreignNodeEvidence.ts';
import { removeLine } from './precisionProblem.ts';
import { hasLayerFlags, noLayerFlags, targetName } from './tensorrtTarget.ts';
import { cannotCarry, dialectOf } from './trtexecSpec.ts';

/** What the TensorRT at hand, its flags and the last build mean for the rules. */
export function checkBuild(context: CheckContext): void {
  checkFlags(context);
  checkLastFlags(context);
  if (hasLayerFlags(context.target) !== false) checkNames(context);
  checkForeignNodes(context);
}

function checkFlags(context: CheckContext): void {
  const { file, target } = context;
  if (hasLayerFlags(target) !== false) return;
  const instead = '"trtlens precision apply" writes such a model';
  if (file.require) {
    const message = `${noLayerFlags(target)} "require" has no effect; ${instead}.`;
    report(context, file.require.range, 'warning', 'no-layer-flags', message, [
      { title: 'Remove this line', edits: [removeLine(file.require.range.line)], preferred: true },
    ]).unnecessary = true;
    return;
  }
  const first = file.rules.find(({ usable, type }) => usable && type !== null);
  if (first?.type)
    report(
      context,
      first.type.range,
      'info',
      'no-layer-flags',
      `${noLayerFlags(target)} ${instead[0]?.toUpperCase() ?? ''}${instead.slice(1)}.`,
    );
}

/** What the last build was run with that makes rules idle. */
function checkLastFlags(context: CheckContext): void {
  const { build, target, file } = context;
  if (hasLayerFlags(target) !== true || !build) return;
  const usable = file.rules.filter((rule) => rule.usable && rule.type !== null);
  const first = usable[0];
  if (!first?.type) return;
  if (build.flags?.stronglyTyped) {
    const message =
      'The last build was strongly typed: there the types in the model decide, and TensorRT takes no layer precisions. Build with these overrides, or apply them to the model.';
    report(context, first.type.range, 'warning', 'flag-missing', message);
    return;
  }
  if (build.lines?.some(({ kind }) => kind === 'ignored')) {
    const message =
      'The last build ignored all layer precisions, because it ran without --precisionConstraints=obey or prefer. Build with these overrides, which sets it.';
    report(context, first.type.range, 'warning', 'flag-missing', message);
  }
  const { flags } = build;
  if (!flags) return;
  for (const type of ['fp16', 'bf16', 'int8', 'fp8'] as const) {
    const word = usable.map((rule) => rule.type).find((candidate) => candidate?.type === type);
    if (!word || flags.types.includes(type)) continue;
    const message = `The last build ran without --${type}, so ${targetName(target)} had no ${type} kernels to choose. Build with these overrides, which adds the flag.`;
    report(context, word.range, 'info', 'flag-missing', message);
  }
}

function checkNames(context: CheckContext): void {
  const { index, target, resolution } = context;
  const dialect = dialectOf(target.version);
  const starred = index.names.some((name) => name.includes('*'));
  const reasons = index.names.map((name) => cannotCarry(name, dialect, starred ? index.names : []));
  if (reasons.every((reason) => reason === null)) return;
  for (const match of resolution.matches) {
    const range = match.rule.selectors[0]?.range;
    const stuck = Array.from(match.nodes).filter((i) => reasons[i] !== null && index.nodes[i]?.role === 'compute');
    const one = stuck[0];
    if (one === undefined || !range) continue;
    const names = stuck.map((i) => index.names[i] ?? '');
    const what =
      stuck.length === 1
        ? `The name ${JSON.stringify(names[0])}`
        : `${counted(stuck.length, 'name')} (${someNames(names, 2)})`;
    const message = `${what} cannot be given to trtexec: ${reasons[one]}. The rule still works in a rewritten model and with the Python back-end.`;
    report(context, range, hasLayerFlags(target) === null ? 'info' : 'warning', 'trtexec-cannot-carry', message);
  }
}

function checkForeignNodes(context: CheckContext): void {
  const { build, rules, resolution } = context;
  if (!build) return;
  for (const [r, match] of resolution.matches.entries()) {
    const facts = rules[r];
    const range = match.rule.type?.range;
    if (!facts || facts.foreign === 0 || !match.rule.usable || !range) continue;
    const { severity, message } = foreignNodeEvidence(context, match, facts);
    const where = match.rule.selectors[0]?.range ?? range;
    report(context, where, severity, 'inside-foreign-node', message);
  }
}
