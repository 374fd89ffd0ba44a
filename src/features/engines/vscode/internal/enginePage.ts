import { basename } from 'node:path';
import type { BuildManifest } from '../../../../kernel/build/buildManifest.ts';
import {
  detailsOf,
  type EngineReading,
  type Inspection,
  type PortabilityCheck,
  profilesOf,
  readCachedEngineName,
  whereRead,
} from '../../../../kernel/inspect/inspection.ts';
import {
  type Block,
  type Document,
  facts,
  list,
  note,
  section,
  type State,
  table,
} from '../../../../kernel/document/document.ts';
import type { FusionReport } from '../../../../kernel/fusion/fusionReport.ts';
import { figuresOf, figuresText } from '../../../../kernel/picture/page/headline.ts';
import { titleOfLayer, longestName, runningLayers } from '../../../../kernel/report/words.ts';
import { productName, shapeText, shorten, sizeText, thousands, timeText } from '../../../../kernel/base/text.ts';

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
  /** Its layers, as its build or the files next to it list them; null or absent: nothing does. */
  layers?: { from: string; report: FusionReport } | null;
}

const verdicts: Readonly<Record<PortabilityCheck['verdict'], [state: State, word: string]>> = {
  fits: ['good', 'Fits'],
  slower: ['warning', 'Fits, but slower'],
  no: ['bad', 'Does not load'],
  unknown: ['unknown', 'Unknown'],
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

/** Actions of an engine's page: what it is compared with, its model, reading it with TensorRT, its layers as a graph. */
const action = (label: string, name: 'compare' | 'model' | 'read' | 'layers'): Block => ({
  kind: 'actions',
  actions: [{ label, to: { kind: 'action', name } }],
});

/** What an engine is, whether it loads, and what TensorRT says of it. */
export function engineDocument(page: EnginePage): Document {
  const { name, found, build, stale, reading, layers = null } = page;
  const rows = found.engine?.portability ?? [];
  const warnings = [...(stale === null ? [] : [stale]), ...found.problems.map(({ message }) => message)];
  return {
    title: name,
    blocks: [
      { kind: 'text', text: `${found.summary}.` },
      ...warnings.map((text): Block => ({ kind: 'warning', text })),
      ...(layers === null ? [] : section('Layers', layerBlocks(layers))),
      ...(found.engine === undefined ? [] : section('Header', facts(headerFacts(page)))),
      ...(rows.length === 0
        ? []
        : section('Will It Load?', [...portability(rows), action('Compare with a Version and GPU…', 'compare')])),
      ...(found.engine === undefined ? [] : section('Inputs, Outputs and Layers', readingBlocks(reading))),
      ...section(
        'Build',
        build === null
          ? [{ kind: 'text', text: 'No build in the history has this engine.' }]
          : [...facts(buildFacts(build)), action('Open Model', 'model')],
      ),
      note(
        reading === null
          ? 'Read from the header of the file only; nothing in it was run.'
          : `Read by ${whereRead(reading)}.`,
      ),
    ],
  };
}

/** Layers that a page lists. */
const mostLayers = 30;

/** The figures, the slowest layers, and the way to the graph. */
function layerBlocks({ from, report }: NonNullable<EnginePage['layers']>): Block[] {
  const layers = runningLayers(report);
  const timed = layers.some(({ averageMs }) => averageMs !== null);
  const listed = timed ? layers.toSorted((a, b) => (b.averageMs ?? 0) - (a.averageMs ?? 0)) : layers;
  return [
    { kind: 'text', text: `${figuresText(figuresOf(report, null))}. Listed by ${from}.` },
    action('Open Layers as a Graph', 'layers'),
    ...table(
      ['Layer', 'Type', 'Time', 'Nodes'],
      listed.slice(0, mostLayers).map((layer) => ({
        cells: [
          shorten(titleOfLayer(report, layer.id), longestName),
          layer.type,
          layer.averageMs === null ? '' : timeText(layer.averageMs),
          layer.nodes.length === 0 ? '' : thousands(layer.nodes.length),
        ],
      })),
      'layer',
    ),
  ];
}

const portability = (rows: readonly PortabilityCheck[]): Block[] =>
  table(
    ['Condition', 'Verdict', 'Why'],
    rows.map(({ check, verdict, message }) => {
      const [state, word] = verdicts[verdict];
      return { cells: [checks[check], word, message], state };
    }),
    'condition',
  );

function headerFacts({ name, found }: EnginePage): [string, string][] {
  const { product, version, buildNumber, computeCapabilities } = found.engine!;
  const cached = readCachedEngineName(name);
  const list: [string, string | null][] = [
    ['Product', product === null ? null : productName(product)],
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

function readingBlocks(reading: EngineReading | null): Block[] {
  if (reading === null)
    return [
      {
        kind: 'text',
        text: 'TensorRT’s Python module can list them, where it has the version that built the engine and there is a GPU.',
      },
      action('Read with TensorRT', 'read'),
    ];
  const { engine, messages, layers, error } = reading;
  const said = section(
    'Messages of TensorRT',
    list(
      messages.map(({ message }) => message),
      'message',
    ),
  );
  if (engine === null)
    return [{ kind: 'warning', text: `It was not loaded: ${error ?? ''}.` }, ...said, action('Read Again', 'read')];
  return [
    ...tensorTable(engine),
    ...facts(detailsOf(engine)),
    layers === null
      ? { kind: 'text', text: 'The engine keeps no layer info. Build it with detailed profiling verbosity.' }
      : action('Open Layers as a Graph', 'layers'),
    ...said,
    action('Read Again', 'read'),
  ];
}

const tensorTable = ({ tensors }: NonNullable<EngineReading['engine']>): Block[] =>
  table(
    ['Name', 'Mode', 'Type', 'Shape', 'Optimization profiles', 'Format', 'Location'],
    tensors.map((tensor) => {
      const { name, mode, type, shape, format, location } = tensor;
      const profiles = profilesOf(tensor);
      const ranges = profiles.length < 2 ? profiles : profiles.map((range, index) => `${index}: ${range}`);
      return {
        cells: [name, mode, type, shapeText(shape), ranges.join('\n'), format ?? '', location?.toLowerCase() ?? ''],
      };
    }),
    'tensor',
  );
