// What a build is called, and how the requests of two differ.
import { releaseName } from '../../base/text.ts';
import { fileName } from '../../network/sourceLines.ts';
import { shapesText } from './builtShapes.ts';
import { type BuildManifest, buildsOnlyTyped } from './manifest.ts';

/** The precision that a build was requested, as text: `FP16`; '' where only its log may say it. */
function precisionOf({ options, origin, tensorrt: { product, version } }: BuildManifest): string {
  const { precision, stronglyTyped, overrides } = options;
  if (typeof precision === 'string') return precision === 'best' ? precision : precision.toUpperCase();
  if (overrides !== undefined || origin !== 'built') return '';
  const isTyped = stronglyTyped === true || buildsOnlyTyped(product, Number.parseInt(version ?? '', 10));
  return isTyped ? 'strongly typed' : 'FP32';
}

/** Options that say where something is, and nothing about the engine. */
const places: ReadonlySet<string> = new Set(['engine', 'launcher', 'timingCache', 'python', 'trtexec', 'polygraphy']);

/**
 * What was requested of a build, by what it is about: `precision` and `FP16`, `overrides` and `model.trtprec`. What is not
 * known is absent.
 */
function requestOf(manifest: BuildManifest): Map<string, string> {
  const { model, backend, tensorrt, gpu, driver, options, shapes, rulesSha256 } = manifest;
  const parts = new Map<string, string>([['precision', precisionOf(manifest)]]);
  const { precision: _, overrides, ...others } = options;
  if (typeof overrides === 'string') parts.set('overrides', fileName(overrides));
  for (const [name, value] of Object.entries(others))
    if (!places.has(name) && name !== 'profiles' && !(name === 'stronglyTyped' && parts.get('precision') !== ''))
      parts.set(
        `option ${name}`,
        value === true ? 'on' : Array.isArray(value) ? value.join(', ') : fileName(String(value)),
      );
  if (shapes !== undefined) parts.set('shapes', shapesText(shapes));
  parts
    .set('TensorRT', tensorrt.version === null ? '' : releaseName(tensorrt))
    .set('gpu', gpu ?? '')
    .set('driver', driver ?? '')
    .set('backend', backend)
    .set('model', fileName(model.file))
    .set('content', model.sha256 ?? '')
    .set('rules', rulesSha256 ?? '');
  return parts;
}

/** Parts that a build has or lacks; of all others, '' means that it is not known. */
const hasOrLacks = (part: string): boolean => part === 'overrides' || part.startsWith('option ');

function requestChanges(a: BuildManifest, b: BuildManifest): Map<string, [string, string]> {
  const [before, after] = [requestOf(a), requestOf(b)];
  const changes = new Map<string, [string, string]>();
  for (const part of new Set([...before.keys(), ...after.keys()])) {
    const pair: [string, string] = [before.get(part) ?? '', after.get(part) ?? ''];
    if (pair[0] !== pair[1] && (hasOrLacks(part) || !pair.includes(''))) changes.set(part, pair);
  }
  // A renamed file with the same content is the same model.
  if (!changes.has('content') && a.model.sha256 !== null && b.model.sha256 !== null) changes.delete('model');
  // Another product has another back-end.
  if (changes.has('TensorRT') && a.tensorrt.product !== b.tensorrt.product) changes.delete('backend');
  return changes;
}

type Release = BuildManifest['tensorrt'];

/** `TensorRT 8.6.1 → 10.6.0`; '' where both are the same, or one is not known. */
export function releaseChange(a: Release, b: Release): string {
  const [before, after] = [releaseName(a), releaseName(b)];
  if (a.version === null || b.version === null || before === after) return '';
  return `${before} → ${a.product === b.product ? b.version : after}`;
}

/** What differs in what two builds were requested, in one line: `FP32 → FP16 by model.trtprec`; '' for nothing. */
export function requestText(a: BuildManifest, b: BuildManifest): string {
  const changes = requestChanges(a, b);
  const arrow = (part: string): string => {
    const [before = '', after = ''] = changes.get(part) ?? [];
    return before === after ? '' : `${before || 'none'} → ${after || 'none'}`;
  };
  const [without, with_] = changes.get('overrides') ?? ['', ''];
  const rules =
    without === '' && with_ !== ''
      ? `by ${with_}`
      : without !== '' && with_ === ''
        ? `without ${without}`
        : arrow('overrides') ||
          (changes.has('rules') ? `other rules in ${requestOf(b).get('overrides') ?? 'the file'}` : '');
  const precision = arrow('precision');
  const words = [
    changes.has('model') ? arrow('model') : changes.has('content') ? `${fileName(b.model.file)} has changed` : '',
    [precision, rules].filter((text) => text !== '').join(precision !== '' && changes.has('overrides') ? ' ' : ', '),
    releaseChange(a.tensorrt, b.tensorrt),
    ...[...changes].flatMap(([part, [before, after]]) => {
      if (!part.startsWith('option ')) return [];
      const name = part.slice('option '.length);
      if (before === 'on' || after === 'on') return [`${after === 'on' ? 'with' : 'without'} ${name}`];
      return [`${name} ${before || 'default'} → ${after || 'default'}`];
    }),
    changes.has('shapes') ? `shapes ${arrow('shapes')}` : '',
    arrow('gpu'),
    changes.has('driver') ? `driver ${arrow('driver')}` : '',
    arrow('backend'),
  ];
  const said = words.filter((text) => text !== '');
  const most = 4;
  return [...said.slice(0, most), ...(said.length > most ? [`${said.length - most} more`] : [])].join('; ');
}

/** What two builds are called next to each other, by what differs: `FP32` and `FP16`, `no overrides` and `vit.trtprec`. */
export function differingNames(a: BuildManifest, b: BuildManifest): [string, string] {
  if (a.name !== undefined && b.name !== undefined) return [a.name, b.name];
  const all = [...requestChanges(a, b)].filter(([part]) => !['content', 'rules', 'driver', 'shapes'].includes(part));
  // Precision comes with options of its own, such as noTF32: it says enough.
  const main = all.filter(([part]) => !part.startsWith('option '));
  const changes = main.length > 0 ? main : all;
  const named = (side: 0 | 1) =>
    changes
      .slice(0, 2)
      .map(([part, pair]) => {
        const name = part.startsWith('option ') ? part.slice('option '.length) : null;
        if (name === null) return pair[side] || `no ${part}`;
        if (pair.includes('on')) return `${pair[side] === 'on' ? 'with' : 'without'} ${name}`;
        return `${name} ${pair[side] || 'default'}`;
      })
      .join(' · ');
  return [a.name ?? named(0), b.name ?? named(1)];
}

/** What a build is, in few words: `FP16 · 10.6`, `vit.trtprec · RTX 1.7`. */
export function buildWords(manifest: BuildManifest): string[] {
  const { options, tensorrt } = manifest;
  const { product, version } = tensorrt;
  const { overrides } = options;
  const short = version?.split('.').slice(0, 2).join('.');
  return [
    precisionOf(manifest),
    typeof overrides === 'string' ? fileName(overrides) : '',
    options['outputs'] === 'all' ? 'unfused' : '',
    short === undefined ? '' : product === 'tensorrt-rtx' ? `RTX ${short}` : short,
  ].filter((word) => word !== '');
}

/** What the user must know about a build before believing its pictures, one sentence each; often nothing. */
export function buildHints({ origin, tensorrt, gpu, options, name, warnings = [] }: BuildManifest): string[] {
  const hints = [...(name === undefined ? [] : [`Build “${name}”.`]), ...warnings];
  if (origin === 'recorded') hints.push('This is a recorded build. It did not run on this machine.');
  if (tensorrt.product === 'tensorrt-rtx' && gpu === null && origin !== 'imported')
    hints.push(
      'Built without a GPU: these kernels were compiled ahead of time. The kernels that the JIT compiler runs on your GPU may differ.',
    );
  if (options['randomWeights'] === true)
    hints.push('The weights are random: fusion depends on structure, shapes and types, not on values.');
  return hints;
}
