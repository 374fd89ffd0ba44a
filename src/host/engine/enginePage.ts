import { basename } from 'node:path';
import type { BuildManifest } from '../../core/build/buildManifest.ts';
import type { PortabilityCheck } from '../../core/inspect/engineKnowledge.ts';
import { readCachedEngineName } from '../../core/inspect/engineName.ts';
import { detailsOf, type EngineReading, profilesOf, shapeText, whereRead } from '../../core/inspect/engineReading.ts';
import type { Inspection } from '../../core/inspect/inspection.ts';
import { factList, htmlPage, link, muted, pageSection, table, warning } from './htmlPage.ts';
import { sizeText, thousands } from '../../core/text/numbers.ts';
import { escaped } from '../../core/text/htmlPage.ts';

/** What the page of an engine shows. */
export interface EnginePage {
  name: string;
  /** What the header of the file says. */
  found: Inspection;
  /** The build that it came from; null: none of the history has its content. */
  build: BuildManifest | null;
  /** Why it is not up to date, in a sentence; null: it is, or nothing says. */
  stale: string | null;
  /** What TensorRT says of it; null: it was not asked. */
  reading: EngineReading | null;
}

/** `command:` URIs: what the engine is compared with, its model, reading it with TensorRT, its layers as a graph. */
export type EngineLinks = Record<'compare' | 'model' | 'read' | 'layers', string>;

const verdicts: Readonly<Record<PortabilityCheck['verdict'], [sign: string, word: string]>> = {
  fits: ['✓', 'Fits'],
  slower: ['~', 'Fits, but slower'],
  no: ['✕', 'Does not load'],
  unknown: ['?', 'Unknown'],
};
const checks: Readonly<Record<PortabilityCheck['check'], string>> = {
  file: 'File',
  version: 'Version',
  'version-compatible': 'Version-compatible',
  gpu: 'GPU',
  'hardware-compatibility': 'Hardware compatibility',
  platform: 'Platform',
  driver: 'Driver',
  runtime: 'Runtime library',
  plugins: 'Plugins',
  load: 'Loaded by TensorRT',
};

/**
 * The page of an engine as HTML without a script. All text is escaped; the only links run the commands in `links`.
 */
export function enginePage(page: EnginePage, links: EngineLinks, nonce: string): string {
  const { name, found, build, stale, reading } = page;
  const rows = found.engine?.portability ?? [];
  const warnings = [...(stale === null ? [] : [stale]), ...found.problems.map(({ message }) => message)];
  const content = [
    `<p>${escaped(found.summary)}.</p>`,
    ...warnings.map((text) => warning(text)),
    found.engine === undefined ? '' : pageSection('Header', factList(headerFacts(page))),
    rows.length === 0
      ? ''
      : pageSection(
          'Will It Load?',
          `${verdictTable(rows)}<p>${link(links.compare, 'Compare with a Version and GPU…')}</p>`,
        ),
    found.engine === undefined ? '' : pageSection('Inputs, Outputs and Layers', readingContent(reading, links)),
    pageSection(
      'Build',
      build === null
        ? '<p>No build in the history has this engine.</p>'
        : factList(buildFacts(build)) + `<p>${link(links.model, 'Open Model')}</p>`,
    ),
    muted(
      reading === null
        ? 'Read from the header of the file only; nothing in it was run.'
        : `Read by ${whereRead(reading)}.`,
    ),
  ];
  return htmlPage(name, content, nonce);
}

function headerFacts({ name, found }: EnginePage): [string, string][] {
  const { product, version, buildNumber, computeCapabilities } = found.engine!;
  const cached = readCachedEngineName(name);
  const list: [string, string | null][] = [
    ['Product', product === null ? null : product === 'tensorrt-rtx' ? 'TensorRT-RTX' : 'TensorRT'],
    ['Version', version === null ? null : `${version}${buildNumber === null ? '' : `, build ${buildNumber}`}`],
    ['Size', found.counts['bytes'] === undefined ? null : sizeText(found.counts['bytes'])],
    ['Compute capabilities', computeCapabilities?.join(', ') ?? null],
    ['Cached by ONNX Runtime', cached === null ? null : `sub-graph ${cached.part} of the graph "${cached.graph}"`],
    [
      'By its name',
      cached === null
        ? null
        : [`compute capability ${cached.computeCapability}`, ...cached.precisions.map((one) => one.toUpperCase())].join(
            ', ',
          ),
    ],
  ];
  return list.filter((fact): fact is [string, string] => fact[1] !== null);
}

function buildFacts({ id, model, started, options, gpu, seconds }: BuildManifest): [string, string][] {
  const chosen = Object.entries(options).map(
    ([name, value]) => `${name}: ${Array.isArray(value) ? value.join(' ') : String(value)}`,
  );
  return [
    ['Build', id],
    ['Model', `${basename(model.file)} (${model.file})`],
    ['Started', started],
    ...(seconds === null ? [] : [['Took', `${thousands(Math.round(seconds))} s`] as [string, string]]),
    ...(gpu === null ? [] : [['GPU', gpu] as [string, string]]),
    ['Options', chosen.length === 0 ? 'none' : chosen.join(', ')],
  ];
}

function readingContent(reading: EngineReading | null, links: EngineLinks): string {
  const again = `<p>${link(links.read, reading === null ? 'Read with TensorRT' : 'Read Again')}</p>`;
  if (reading === null)
    return `<p>TensorRT’s Python module can list them, where it has the version that built the engine and there is a GPU.</p>${again}`;
  const { engine, messages, layers, error } = reading;
  const warnings = messages.map(({ message }) => `<li>${escaped(message)}</li>`).join('');
  const said = warnings === '' ? '' : `<details><summary>Messages of TensorRT</summary><ul>${warnings}</ul></details>`;
  if (engine === null) return `${warning(`It was not loaded: ${error ?? ''}.`)}${said}${again}`;
  const open = layers === null ? '' : `<p>${link(links.layers, 'Open Layers as a Graph')}</p>`;
  const missing =
    layers === null ? '<p>The engine keeps no layer info. Build it with detailed profiling verbosity.</p>' : '';
  return `${tensorTable(engine)}${factList(detailsOf(engine))}${open}${missing}${said}${again}`;
}

function tensorTable({ tensors }: NonNullable<EngineReading['engine']>): string {
  const rows = tensors.map((tensor) => {
    const { name, mode, type, shape, format, location } = tensor;
    const profiles = profilesOf(tensor);
    const ranges = profiles.length < 2 ? profiles : profiles.map((range, index) => `${index}: ${range}`);
    return [name, mode, type, shapeText(shape), ranges.join('\n'), format ?? '', location?.toLowerCase() ?? ''];
  });
  return table(['Name', 'Mode', 'Type', 'Shape', 'Optimization profiles', 'Format', 'Location'], rows);
}

const verdictTable = (rows: readonly PortabilityCheck[]): string =>
  `<table class="verdicts"><thead><tr><th scope="col">Condition</th><th scope="col">Verdict</th><th scope="col">Why</th></tr></thead><tbody>${rows
    .map(({ check, verdict, message }) => {
      const [sign, word] = verdicts[verdict];
      return `<tr class="${verdict}"><th scope="row">${checks[check]}</th><td><span aria-hidden="true">${sign}</span> ${word}</td><td>${escaped(message)}</td></tr>`;
    })
    .join('')}</tbody></table>`;
