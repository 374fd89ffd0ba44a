import { releaseChange, requestText } from '../../../kernel/build/buildManifest.ts';
import { counted, isSameTime, percentText } from '../../../kernel/base/text.ts';
import type { FusionReport } from '../../../kernel/fusion/fusionReport.ts';
import type { Change, DiffInput, DiffTime } from '../../../kernel/report/buildDiff.ts';

/** Said of two builds with nothing between them. */
const sameRequest = 'the same request';

/** What differs in what was requested of two builds; '' where a side says nothing about that. */
export function requestOfDiff(a: DiffInput, b: DiffInput): string {
  if (a.manifest && b.manifest) return requestText(a.manifest, b.manifest) || sameRequest;
  const arrow = (value: (side: DiffInput) => string | null | undefined): string => {
    const [before, after] = [value(a), value(b)];
    return before && after && before !== after ? `${before} → ${after}` : '';
  };
  return [
    arrow(({ requested }) => requested?.toUpperCase()),
    releaseChange(a.report.tensorrt, b.report.tensorrt),
    arrow(({ figures }) => figures?.gpu),
  ]
    .filter((text) => text !== '')
    .join('; ');
}

/** Part of the whole difference from which a kind of change is named as its reason. */
const namedFrom = 0.15;
const mostReasons = 2;

/** What a comparison comes to: a side that failed, or what the change costs and its main reasons. */
export function diffVerdict(
  [a, b]: readonly [DiffInput, DiffInput],
  { aMs, bMs, isNoise }: Pick<DiffTime, 'aMs' | 'bMs' | 'isNoise'>,
  changes: readonly Change[],
): string {
  const failed = ([a, b] as const).flatMap(({ failed: why }, at) =>
    why === undefined
      ? []
      : [`${at === 0 ? 'A' : 'B'} failed: ${why.replace(/^the build failed: /, '').replace(/\.$/, '')}`],
  );
  if (failed.length > 0) return failed.join('; ');
  const reasons = reasonsOf(changes, a.report, b.report);
  if (aMs === null || bMs === null)
    return reasons.length === 0 ? 'nothing is computed differently' : `${wordsOf(reasons)}; times unknown`;
  const deltaMs = bMs - aMs;
  const share = aMs === 0 ? '' : percentText(Math.abs(100 * deltaMs) / aMs);
  const isSame = isNoise === true || isSameTime(deltaMs);
  if (reasons.length === 0) {
    if (deltaMs === 0) return 'nothing is computed differently, in the same time';
    return isSame
      ? `nothing is computed differently, ${deltaMs < 0 ? '−' : '+'}${share} is noise`
      : `${share} ${deltaMs < 0 ? 'faster' : 'slower'}, with nothing known to be computed differently`;
  }
  if (isSame) return `the same time: ${wordsOf(reasons)}`;
  const main = reasons.filter((reason) => reason.deltaMs / deltaMs >= namedFrom);
  const said = `${share} ${deltaMs < 0 ? 'faster' : 'slower'}`;
  if (main.length === 0) return `${said}, ${counted(reasons.length, 'kind')} of change`;
  const part = main.slice(0, mostReasons).reduce((sum, reason) => sum + reason.deltaMs, 0) / deltaMs;
  return part < 0.5 ? `${said}, ${percentText(100 * part)} of it by ${wordsOf(main)}` : `${said}: ${wordsOf(main)}`;
}

const verbs: Readonly<Record<Change['kind'], string>> = {
  split: 'split',
  merged: 'fused',
  moved: 'fused differently',
  folded: 'no longer computed',
  computed: 'added',
  kernel: 'by other kernels',
  precision: 'with another output type',
  format: 'in another memory layout',
  time: 'in another time',
  lost: 'lost or moved',
  unknown: 'no longer known',
};

/** What happened to how many places of a network that compute the same. */
interface Reason {
  what: string;
  verb: string;
  count: number;
  deltaMs: number;
  known: boolean;
}

/** The largest change of time first; without times, what most places have, and what nothing is known of last. */
function reasonsOf(changes: readonly Change[], a: FusionReport, b: FusionReport): Reason[] {
  const found = new Map<string, Reason>();
  const opsA = new Map(a.nodes.map(({ id, op }) => [id, op]));
  const opsB = new Map(b.nodes.map(({ id, op }) => [id, op]));
  for (const { kind, nodesA, nodesB, layersA, layersB, message, deltaMs } of changes) {
    if (kind === 'time') continue;
    const content = nodesB.length > 0 ? contentOf(opsB, nodesB) : contentOf(opsA, nodesA);
    const type = kind === 'precision' ? /computed in (\w+) instead of/.exec(message)?.[1] : undefined;
    const isNew = content === '' && layersA.length === 0;
    const isGone = content === '' && layersB.length === 0;
    const what = content || (message.startsWith('Reformat') ? 'reformat' : 'other layer');
    const verb = isNew ? 'added' : isGone ? 'gone' : type === undefined ? verbs[kind] : `now in ${type.toUpperCase()}`;
    const key = `${what} ${verb}`;
    const reason = found.get(key) ?? { what, verb, count: 0, deltaMs: 0, known: kind !== 'unknown' };
    reason.count += 1;
    reason.deltaMs += deltaMs ?? 0;
    found.set(key, reason);
  }
  return [...found.values()].toSorted(
    (one, other) =>
      Math.abs(other.deltaMs) - Math.abs(one.deltaMs) ||
      Number(other.known) - Number(one.known) ||
      Number(one.what === 'other layer') - Number(other.what === 'other layer') ||
      other.count - one.count,
  );
}

/** `12 attentions fused, 53 × Conv + Relu now in INT8`. */
const wordsOf = (reasons: readonly Reason[]): string =>
  reasons
    .slice(0, mostReasons)
    .map(({ what, verb, count }) => {
      if (/^(?:attention|reformat|other layer)$/.test(what)) return `${counted(count, what)} ${verb}`;
      return `${count > 1 ? `${count} × ` : ''}${what} ${verb}`;
    })
    .join(', ');

/** Operators that move data or change a type: they do not name what is computed. */
const plain: ReadonlySet<string> = new Set(
  'Add Cast Concat Constant Div Expand Flatten Gather Identity Mul Pow Reshape Shape Slice Split Sqrt Squeeze Sub Transpose Unsqueeze Where'.split(
    ' ',
  ),
);

/** Operators by the name of what they are the heart of. */
const known: Readonly<Record<string, string>> = {
  Erf: 'GELU',
  Gelu: 'GELU',
  LayerNormalization: 'LayerNorm',
  BatchNormalization: 'BatchNorm',
  InstanceNormalization: 'InstanceNorm',
  GroupNormalization: 'GroupNorm',
};

/** What some nodes compute: `attention`, `Conv + Relu`. '' without nodes. */
function contentOf(opOf: ReadonlyMap<string, string>, ids: readonly string[]): string {
  const ops = [...new Set(ids.flatMap((id) => opOf.get(id) ?? []))];
  if (ops.includes('Softmax') && ops.some((op) => op === 'MatMul' || op === 'Einsum')) return 'attention';
  const named = ops.filter((op) => !plain.has(op));
  const told = (named.length > 0 ? named : ops).map((op) => known[op] ?? op);
  return told.length <= 3 ? told.join(' + ') : `${told.slice(0, 2).join(' + ')} + ${told.length - 2} more`;
}
