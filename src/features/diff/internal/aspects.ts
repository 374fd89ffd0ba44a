import type { ReportLayer } from '../../../kernel/fusion/fusionReport.ts';
import type { Change } from '../../../kernel/report/buildDiff.ts';
import { delta, tacticOf } from '../matchNodes.ts';
import { withoutMyelinNumbers } from '../../../kernel/network/layerName.ts';
import { addTo } from '../../../kernel/base/addTo.ts';
import { isNoise, measuredTime } from '../../../kernel/report/words.ts';

/** Something about the layers of one cluster that differs between two builds. */
export interface Aspect {
  kind: 'precision' | 'kernel' | 'format';
  a: string;
  b: string;
  message: string;
}

/**
 * What else differs between the layers that compute the same nodes: types, kernels and formats, each only where both
 * sides say it.
 * @param grouping false: the nodes are computed together otherwise, so that only their types can be compared
 * @param computed the type that the nodes are computed in, on both sides, if that is known
 */
export function aspectsOf(
  a: readonly ReportLayer[],
  b: readonly ReportLayer[],
  grouping: boolean,
  computed: () => { a: string; b: string } | null,
): Aspect[] {
  const found: Aspect[] = [];
  const add = (kind: Aspect['kind'], before: string | null, after: string | null, what: string, rest = '') => {
    if (before === null || after === null || before === after) return;
    found.push({ kind, a: before, b: after, message: `${what} changed from ${before} to ${after}${rest}` });
  };
  // A ForeignNode without a list of its kernels has the types of its border, one with a list those of the kernels.
  if (isOpaque(a) !== isOpaque(b)) return found;
  if (isOpaque(a)) {
    // The types of its border say nothing about the types inside.
    add('format', types(a), types(b), 'output type of the ForeignNode', ', the types inside are unknown');
    return found;
  }
  if (types(a) !== types(b)) {
    const known = computed();
    const isKept = known !== null && known.a === known.b;
    const rest =
      known === null
        ? ''
        : isKept
          ? `, computed in ${known.a} in both`
          : `, computed in ${known.b} instead of ${known.a}`;
    add(isKept ? 'format' : 'precision', types(a), types(b), 'output type', rest);
  }
  if (!grouping) return found;
  if (comparableKernels(a, b)) add('kernel', kernels(a), kernels(b), 'kernel');
  const [before, after] = [formats(a), formats(b)];
  if (isShort(before) === isShort(after)) add('format', before, after, 'format');
  return found;
}

/** Whether both sides name their kernels, or both number their tactics: a number is another kernel than no name. */
export function comparableKernels(a: readonly ReportLayer[], b: readonly ReportLayer[]): boolean {
  const [before, after] = [kernels(a), kernels(b)];
  return before !== null && after !== null && isNumber(before) === isNumber(after);
}

/** TensorRT's number of a tactic, which older versions and layer names alone give instead of the kernel's name. */
const isNumber = (tactics: string): boolean => /^(?:0x[0-9a-f]+|-?\d+)(?:,|$)/.test(tactics);

/** Whether the times of the layers of both sides differ by no more than noise. */
export const isSameWork = (a: readonly ReportLayer[], b: readonly ReportLayer[]): boolean =>
  isNoise(measuredTime(a) ?? { ms: 0 }, measuredTime(b) ?? { ms: 0 });

/** Layers without nodes: reformats and others, matched by name and order. */
export function emptyLayerChanges(a: readonly ReportLayer[], b: readonly ReportLayer[], timed: boolean): Change[] {
  const rest = new Map<string, ReportLayer[]>();
  for (const layer of b) {
    const key = plainName(layer);
    addTo(rest, key, layer);
  }
  const pairs: [ReportLayer | undefined, ReportLayer | undefined][] = a.map((layer) => [
    layer,
    rest.get(plainName(layer))?.shift(),
  ]);
  pairs.push(...[...rest.values()].flat().map((layer): [undefined, ReportLayer] => [undefined, layer]));
  return pairs.flatMap(([before, after]) => emptyLayerChange(before, after, timed) ?? []);
}

function emptyLayerChange(
  before: ReportLayer | undefined,
  after: ReportLayer | undefined,
  timed: boolean,
): Change | undefined {
  const deltaMs = timed ? (after?.averageMs ?? 0) - (before?.averageMs ?? 0) : null;
  const stays = before !== undefined && after !== undefined;
  const layer = after ?? before;
  if (layer === undefined || (stays && (deltaMs === null || isSameWork([before], [after])))) return undefined;
  const reformat = layer.kind === 'reformat';
  const noun = reformat ? 'Reformat layer' : layer.kind === 'kernel' ? 'Kernel without nodes' : 'Layer without nodes';
  const what = `${noun} ${layer.name}`;
  const event = stays ? 'takes a different time' : before ? 'was removed' : 'was added';
  return {
    kind: stays ? 'time' : reformat ? 'format' : 'kernel',
    nodesA: [],
    nodesB: [],
    ...sides(before, after),
    deltaMs,
    exact: true,
    message: `${what} ${event}${delta(deltaMs)}.`,
  };
}

const sides = (before: ReportLayer | undefined, after: ReportLayer | undefined) => ({
  a: before?.name ?? '',
  b: after?.name ?? '',
  layersA: before ? [before.id] : [],
  layersB: after ? [after.id] : [],
});

const plainName = ({ name, kind }: ReportLayer): string =>
  `${kind} ${withoutMyelinNumbers(name).replaceAll(/0x[0-9a-f]{8,}/g, '0x')}`;

/** All or nothing: a type that one layer does not say makes the whole incomparable. */
function sorted(values: (string | null)[]): string | null {
  const said = values.filter((value) => value !== null);
  return said.length === 0 || said.length < values.length ? null : [...new Set(said)].toSorted().join(', ');
}

const types = (layers: readonly ReportLayer[]): string | null =>
  sorted(layers.flatMap(({ outputs }) => (outputs.length === 0 ? [null] : outputs.map(({ type }) => type))));

const kernels = (layers: readonly ReportLayer[]): string | null =>
  isOpaque(layers) ? null : sorted(layers.map((layer) => plainTactic(tacticOf(layer))));

const isOpaque = (layers: readonly ReportLayer[]): boolean => layers.some(({ kind }) => kind === 'foreign');

/** `Half[1,192:8,14,14]`: how TensorRT writes a format in its log, where the engine inspector has a sentence. */
const isShort = (formatsOfLayers: string | null): boolean => /^\w+\[/.test(formatsOfLayers ?? '');

/** Inside ForeignNodes TensorRT writes the type in the place of a format. */
const formats = (layers: readonly ReportLayer[]): string | null =>
  sorted(
    layers.flatMap(({ outputs }) =>
      outputs.length === 0 ? [null] : outputs.map(({ format, type }) => (format === type ? null : format)),
    ),
  );

/** Hashes in the names of generated kernels change with the model's constants. */
const plainTactic = (tactic: string | null): string | null =>
  tactic && withoutMyelinNumbers(tactic.replaceAll(/_0x[0-9a-f]{16,}/g, ''));
