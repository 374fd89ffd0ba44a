import type { TimingCacheReading } from '../../../../kernel/node/run/timingCaches.ts';
import type { Inspection } from '../../../../kernel/inspect/inspection.ts';
import type { CalibrationCache } from '../../../../kernel/quantization/quantization.ts';
import { exactRelease, sizeText, thousands, timeText } from '../../../../kernel/base/text.ts';
import { type Block, type Document, facts, list, note, section, table } from '../../../../kernel/document/document.ts';

/** What the page of a cache shows. */
export interface CachePage {
  name: string;
  found: Inspection;
  /** Of a calibration cache. */
  calibration: CalibrationCache | null;
  /** What TensorRT says of a timing cache; null: it was not asked. */
  reading: TimingCacheReading | null;
}

/** More rows than this make the page slow. */
export const mostRows = 2000;

/** What a calibration or timing cache has. */
export function cacheDocument({ name, found, calibration, reading }: CachePage): Document {
  const content =
    calibration !== null
      ? calibrationBlocks(found, calibration)
      : found.kind === 'timing-cache'
        ? timingBlocks(found, reading)
        : [];
  return {
    title: name,
    blocks: [
      { kind: 'text', text: `${found.summary}.` },
      ...found.problems.map(({ message }): Block => ({ kind: 'warning', text: message })),
      ...content,
    ],
  };
}

function calibrationBlocks({ tensorrt }: Inspection, { header, scales, unusable }: CalibrationCache): Block[] {
  const rows = [...scales].map(([tensor, scale]) => ({
    cells: [tensor, digits(scale, 6), `±${digits(scale * 127, 4)}`],
  }));
  return [
    ...section(
      'Cache',
      facts([
        ['Algorithm', header?.split('-')[2] ?? 'not named: the first line is missing'],
        ['Made by', exactRelease(tensorrt)],
        ['Tensors', thousands(scales.size + unusable.length)],
      ]),
    ),
    ...section('Scales', orNone(table(['Tensor', 'Scale#', 'Values that INT8 covers#'], rows, 'tensor'))),
    ...section('Without a Usable Scale', list(unusable, 'tensor')),
    note('TensorRT 11 does not read calibration caches; it takes scales from Q/DQ nodes in the model.'),
  ];
}

function timingBlocks({ counts }: Inspection, reading: TimingCacheReading | null): Block[] {
  const entries = reading?.entries ?? null;
  const count = entries === null ? counts['entries'] : entries.length;
  const rows = (entries ?? []).map(({ key, tacticHash, milliseconds }) => ({
    cells: [key, tacticHash, milliseconds === null ? '' : timeText(milliseconds)],
  }));
  const text =
    reading === null
      ? 'TensorRT’s Python module can list the entries, where it has the version that wrote the cache and there is a GPU.'
      : `TensorRT ${reading.version} cannot list entries; 10.8 and later can.`;
  const label = reading === null ? 'Read with TensorRT' : 'Read Again';
  return [
    ...section(
      'Cache',
      facts([
        ['Entries', count === undefined ? 'unknown' : thousands(count)],
        ['Size', sizeText(counts['bytes'] ?? 0)],
        ['Read by', reading === null ? 'not read by TensorRT' : `TensorRT ${reading.version} on ${reading.gpu}`],
      ]),
    ),
    ...section('Entries', [
      ...(entries === null
        ? [{ kind: 'text', text } as const]
        : orNone(table(['Key', 'Tactic', 'Time#'], rows, 'entry'))),
      { kind: 'actions', actions: [{ label, to: { kind: 'action', name: 'read' } }] },
    ]),
    note('A timing cache is for one version of TensorRT and one model of GPU; the file names neither.'),
  ];
}

const orNone = (blocks: Block[]): Block[] => (blocks.length === 0 ? [{ kind: 'text', text: 'None.' }] : blocks);

const digits = (value: number, count: number): string => String(Number(value.toPrecision(count)));
