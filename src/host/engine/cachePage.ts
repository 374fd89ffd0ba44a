import type { TimingCacheReading } from '../../builder/run/timingCaches.ts';
import type { Inspection } from '../../core/inspect/inspection.ts';
import type { CalibrationCache } from '../../core/quantisation/calibrationCache.ts';
import { sizeText, thousands, timeText } from '../../core/text/numbers.ts';
import { factList, htmlPage, link, muted, pageSection, table, warning } from './htmlPage.ts';
import { escaped } from '../../core/text/htmlPage.ts';

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
const MOST_ROWS = 2000;

/** The page of a calibration or timing cache, by the rules of `htmlPage`. */
export function cachePage(
  { name, found, calibration, reading }: CachePage,
  links: { read: string },
  nonce: string,
): string {
  const content =
    calibration === null
      ? found.kind === 'timing-cache'
        ? timingContent(found, reading, links.read)
        : []
      : calibrationContent(found, calibration);
  return htmlPage(
    name,
    [`<p>${escaped(found.summary)}.</p>`, ...found.problems.map(({ message }) => warning(message)), ...content],
    nonce,
  );
}

function calibrationContent({ tensorrt }: Inspection, { header, scales, unusable }: CalibrationCache): string[] {
  const algorithm = header?.split('-')[2] ?? null;
  const rows = [...scales].map(([tensor, scale]) => [tensor, digits(scale, 6), `±${digits(scale * 127, 4)}`]);
  const about: [string, string][] = [
    ['Algorithm', algorithm ?? 'not named: the first line is missing'],
    ['Made by', tensorrt.version === null ? 'unknown version of TensorRT' : `TensorRT ${tensorrt.version}`],
    ['Tensors', thousands(scales.size + unusable.length)],
  ];
  return [
    pageSection('Cache', factList(about)),
    pageSection('Scales', limited(['Tensor', 'Scale', 'Values that INT8 covers'], rows)),
    ...(unusable.length === 0
      ? []
      : [
          pageSection(
            'Without a Usable Scale',
            limited(
              ['Tensor'],
              unusable.map((tensor) => [tensor]),
            ),
          ),
        ]),
    muted('TensorRT 11 does not read calibration caches; it takes scales from Q/DQ nodes in the model.'),
  ];
}

function timingContent({ counts }: Inspection, reading: TimingCacheReading | null, read: string): string[] {
  const entries = reading?.entries ?? null;
  const about: [string, string][] = [
    [
      'Entries',
      entries !== null
        ? thousands(entries.length)
        : counts['entries'] === undefined
          ? 'unknown'
          : thousands(counts['entries']),
    ],
    ['Size', sizeText(counts['bytes'] ?? 0)],
    ['Read by', reading === null ? 'not read by TensorRT' : `TensorRT ${reading.version} on ${reading.gpu}`],
  ];
  const again = `<p>${link(read, reading === null ? 'Read with TensorRT' : 'Read Again')}</p>`;
  const rows = (entries ?? []).map(({ key, tacticHash, milliseconds }) => [
    key,
    tacticHash,
    milliseconds === null ? '' : timeText(milliseconds),
  ]);
  const list =
    reading === null
      ? '<p>TensorRT’s Python module can list the entries, where it has the version that wrote the cache and there is a GPU.</p>'
      : entries === null
        ? `<p>${escaped(`TensorRT ${reading.version} cannot list entries; 10.8 and later can.`)}</p>`
        : limited(['Key', 'Tactic', 'Time'], rows);
  return [
    pageSection('Cache', factList(about)),
    pageSection('Entries', list + again),
    muted('A timing cache is for one version of TensorRT and one model of GPU; the file names neither.'),
  ];
}

const digits = (value: number, count: number): string => String(Number(value.toPrecision(count)));

function limited(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const more = rows.length - MOST_ROWS;
  const rest = more > 0 ? muted(`${thousands(more)} more are not listed.`) : '';
  return rows.length === 0 ? '<p>None.</p>' : table(titles, rows.slice(0, MOST_ROWS)) + rest;
}
