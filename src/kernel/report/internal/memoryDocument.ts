import { counted, oneLine, percentText, shapeRange, shapeText, shorten, sizeText, typeName } from '../../base/text.ts';
import { type Block, type Document, facts, list, note, section, table } from '../../document/document.ts';
import type { BuildLog } from '../../read/tensorrt/buildOutput.ts';
import { foreignNumber, type FusionReport, type ReportLayer } from '../../fusion/fusionReport.ts';
import { withoutProfile } from '../../network/layerName.ts';

/** What runs as one and has scratch memory of its own: a native layer, or a ForeignNode. */
interface Step {
  name: string;
  title: string;
  reads: string[];
  writes: Set<string>;
  scratch: number;
  isForeign: boolean;
}

/** Something that occupies memory from one step to another, both included. */
interface Tenant {
  what: string;
  bytes: number;
  from: number;
  to: number;
  /** The tensor; null: scratch of a step. */
  tensor: string | null;
}

/** The memory of an engine, as far as its log and layers say. Bytes. */
export interface MemoryEstimate {
  steps: Step[];
  tenants: Tenant[];
  /** Sum of the blocks: see `estimateMemory`. */
  total: number;
  /** For each step what is alive then. */
  alive: number[];
  /** Tensors between steps whose size is not known. */
  unknown: string[];
}

const bitsOf: Readonly<Record<string, number>> = {
  FP32: 32,
  FP16: 16,
  BF16: 16,
  FP8: 8,
  FP4: 4,
  INT64: 64,
  INT32: 32,
  INT16: 16,
  INT8: 8,
  UINT8: 8,
  INT4: 4,
  BOOL: 8,
};
/** TensorRT gives memory out in pieces of this size. */
const piece = 512;

/**
 * Estimates the activation memory: each tensor between steps lives from the step that writes it to the last that reads
 * it, the scratch memory of a step only then. The largest first, each takes the first block whose tenants it never
 * meets; the blocks together are the memory. TensorRT does not document its allocator: this rule gives the recorded
 * figure to the byte for most builds and is a few percent off for others, with slices that share memory above all.
 */
export function estimateMemory(report: FusionReport, log: BuildLog | null): MemoryEstimate {
  const steps = stepsOf(report, scratchOf(log));
  const unknown: string[] = [];
  const tenants = [...tensorsBetween(report, log, steps, unknown), ...scratchTenants(steps)];
  const blocks: { bytes: number; tenants: Tenant[] }[] = [];
  for (const one of tenants.toSorted((a, b) => b.bytes - a.bytes)) {
    const free = blocks.find((block) => block.tenants.every((other) => other.to < one.from || one.to < other.from));
    if (free) free.tenants.push(one);
    else blocks.push({ bytes: one.bytes, tenants: [one] });
  }
  const alive = steps.map((_, step) =>
    tenants.filter(({ from, to }) => from <= step && step <= to).reduce((sum, { bytes }) => sum + bytes, 0),
  );
  return { steps, tenants, total: blocks.reduce((sum, { bytes }) => sum + bytes, 0), alive, unknown };
}

const scratchOf = (log: BuildLog | null): ReadonlyMap<string, number> =>
  new Map((log?.memory.layerScratch ?? []).map(({ name, bytes }) => [name, bytes]));

function stepsOf(report: FusionReport, scratch: ReadonlyMap<string, number>): Step[] {
  const steps: Step[] = [];
  const foreign = new Map<number, Step>();
  for (const layer of report.layers) {
    const own = layer.foreignNode === null ? undefined : foreign.get(layer.foreignNode);
    if (own !== undefined) {
      addTensors(own, layer);
      continue;
    }
    const node = report.foreignNodes.find(({ id }) => id === layer.foreignNode);
    const name = withoutProfile(node?.name ?? layer.name);
    const title = node === undefined ? layer.name : `${node.title ?? node.name} (${foreignNumber(node)})`;
    const step: Step = {
      name,
      title: oneLine(title),
      reads: [],
      writes: new Set(),
      scratch: scratch.get(name) ?? 0,
      isForeign: layer.foreignNode !== null,
    };
    addTensors(step, layer);
    if (layer.foreignNode !== null) foreign.set(layer.foreignNode, step);
    steps.push(step);
  }
  return steps;
}

/** Kernels of different ForeignNodes use the same names inside: what a step has written itself, it reads from there. */
function addTensors(step: Step, { inputs, outputs, type }: ReportLayer): void {
  step.reads.push(...inputs.map(({ name }) => name).filter((name) => !step.writes.has(name)));
  if (type !== 'Constant') for (const { name } of outputs) step.writes.add(name);
}

/**
 * Tensors that one step writes and another reads. The engine's own inputs and outputs are the caller's memory, and what
 * a layer of type Constant writes is a weight.
 */
function tensorsBetween(
  report: FusionReport,
  log: BuildLog | null,
  steps: readonly Step[],
  unknown: string[],
): Tenant[] {
  const bindings = new Set([
    ...(log?.bindings ?? []),
    ...report.tensors.flatMap(({ name, producer, consumers }) =>
      producer === null || consumers.length === 0 ? [name] : [],
    ),
  ]);
  const made = new Map<string, number>();
  const read = new Map<string, number>();
  const held = viewsOf(report, bindings);
  steps.forEach(({ reads, writes }, step) => {
    for (const name of [...writes].map(held)) if (!made.has(name)) made.set(name, step);
    for (const name of reads.map(held)) if (made.get(name) !== step) read.set(name, step);
  });
  const sizes = sizesOf(report);
  return [...made].flatMap(([name, from]): Tenant[] => {
    // An output that is never read is written all the same by a native layer.
    const to = read.get(name) ?? (steps[from]!.isForeign ? undefined : from);
    if (to === undefined || to < from || bindings.has(name)) return [];
    const size = sizes(name);
    if (size === null) {
      unknown.push(name);
      return [];
    }
    return [{ what: `${oneLine(name)} ${size.text}`, bytes: rounded(size.bytes), from, to, tensor: name }];
  });
}

/** In whose memory a tensor is: what a NoOp writes is what it reads in another shape. At the caller's memory it may copy. */
function viewsOf({ layers }: FusionReport, bindings: ReadonlySet<string>): (name: string) => string {
  const views = new Map<string, string>();
  for (const { type, inputs, outputs } of layers) {
    const [from, to] = [inputs[0]?.name, outputs[0]?.name];
    if (type !== 'NoOp' || from === undefined || to === undefined || bindings.has(from) || bindings.has(to)) continue;
    views.set(to, views.get(from) ?? from);
  }
  return (name) => views.get(name) ?? name;
}

const rounded = (bytes: number): number => Math.ceil(bytes / piece) * piece;

const scratchTenants = (steps: readonly Step[]): Tenant[] =>
  steps.flatMap(({ title, scratch }, step): Tenant[] =>
    scratch === 0 ? [] : [{ what: `scratch of ${title}`, bytes: scratch, from: step, to: step, tensor: null }],
  );

/** The size of a tensor by its name: of the engine's layers, with open dimensions as the profile's largest. */
function sizesOf(report: FusionReport): (name: string) => { bytes: number; text: string } | null {
  const engine = new Map<string, ReportLayer['inputs'][number]>();
  for (const { inputs, outputs } of report.layers)
    for (const tensor of [...inputs, ...outputs])
      if (tensor.dims !== null && tensor.type !== null && !engine.has(tensor.name)) engine.set(tensor.name, tensor);
  const declared = new Map(report.tensors.map(({ name, shape }) => [name, shape]));
  const largest = largestSizes(report);
  return (name) => {
    const tensor = engine.get(name);
    const type = tensor === undefined ? '' : typeName(tensor.type!);
    const bits = bitsOf[type];
    if (tensor === undefined || bits === undefined) return null;
    const shape = declared.get(name);
    const dims = tensor.dims!.map((size, axis) => (size >= 0 ? size : (largest.get(String(shape?.[axis])) ?? null)));
    if (dims.includes(null)) return null;
    // `Channel major FP16 format where channel % 8 == 0`: channels are filled up.
    const packed = Number(/channel % (\d+) == 0/.exec(tensor.format ?? '')?.[1] ?? 1);
    const elements = dims.reduce<number>(
      (product, size, axis) => product * (axis === 1 ? Math.ceil(size! / packed) * packed : size!),
      1,
    );
    return { bytes: (elements * bits) / 8, text: `${type} ${shapeText(dims)}` };
  };
}

/** Of each symbolic dimension of an input the largest size of the profile. */
function largestSizes({ tensors, builtShapes = [] }: FusionReport): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const { input, max } of builtShapes) {
    const shape = tensors.find(({ name, producer }) => name === input && producer === null)?.shape;
    shape?.forEach((dimension, axis) => {
      const size = max[axis];
      if (typeof dimension === 'string' && typeof size === 'number')
        sizes.set(dimension, Math.max(size, sizes.get(dimension) ?? 0));
    });
  }
  return sizes;
}

/** Rows beyond these are counted. */
const mostRows = 12;
const barWidth = 24;

/** Where the memory of an engine goes: what the log records, and an estimate of what is alive when. */
export function memoryDocument(report: FusionReport, log: BuildLog | null): Document {
  const memory = log?.memory;
  const activation = memory?.activation ?? report.figures?.activationMemory ?? null;
  const weights = memory?.weights ?? report.figures?.weightsMemory ?? null;
  const size = (bytes: number | null | undefined): string | null => (bytes == null ? null : sizeText(bytes));
  const recorded = facts([
    ['Activation', size(activation)],
    ['Weights', size(weights)],
    ['Scratch, of the layer with the most', size(memory?.scratch)],
    ['Persistent, on the device', size(memory?.devicePersistent)],
    ['Persistent, on the host', size(memory?.hostPersistent)],
    ['Engine file', size(memory?.engine ?? report.figures?.engineSize)],
  ]);
  const head: Block[] =
    recorded.length > 0
      ? section('What TensorRT recorded', recorded)
      : [note('No memory is recorded: pass the verbose log of the build with --log.')];
  return {
    title: `${report.model.file}: memory`,
    blocks: [
      ...head,
      ...scratchSection(log),
      ...(report.layers.length === 0 ? [note(noLayers)] : peakSections(report, log, activation)),
    ],
  };
}

const noLayers =
  'What is alive when needs the layers of the engine: pass the layer info with --layers, or a detailed log.';

function scratchSection(log: BuildLog | null): Block[] {
  const rows = (log?.memory.layerScratch ?? [])
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ name, bytes, line }) => ({
      cells: [
        sizeText(bytes),
        shorten(oneLine(name), 90),
        [{ text: `line ${line}`, to: { kind: 'log' as const, line } }],
      ],
    }));
  return section('Scratch memory of layers (recorded)', [
    ...table(['bytes#', 'layer', 'log'], rows.slice(0, mostRows), 'layer'),
    ...(rows.length > mostRows ? [note(`… and ${counted(rows.length - mostRows, 'more layer')}`)] : []),
  ]);
}

function peakSections(report: FusionReport, log: BuildLog | null, activation: number | null): Block[] {
  const estimate = estimateMemory(report, log);
  const { steps, alive, tenants, total, unknown } = estimate;
  const peak = alive.indexOf(Math.max(...alive));
  if (alive[peak] === 0)
    return [note('No layer has scratch memory, and no tensor lies between layers: there is nothing to add up.')];
  const living = tenants
    .filter(({ from, to }) => from <= peak && peak <= to)
    .toSorted((a, b) => b.bytes - a.bytes)
    .map(({ what, bytes, from, to }) => ({
      cells: [sizeText(bytes), shorten(what, 90), from === to ? 'this layer only' : `layers ${from} to ${to}`],
    }));
  const most = Math.max(...alive, activation ?? 0);
  const order = steps
    .map(({ title, scratch }, step) => ({ title, scratch, step, bytes: alive[step]! }))
    .toSorted((a, b) => b.bytes - a.bytes)
    .slice(0, mostRows)
    .toSorted((a, b) => a.step - b.step)
    .map(({ title, step, bytes }) => ({
      cells: [String(step), sizeText(bytes), '█'.repeat(Math.round((barWidth * bytes) / most)), shorten(title, 70)],
      ...(step === peak && { state: 'warning' as const }),
    }));
  return [
    ...section('The peak (estimated)', [
      { kind: 'text', text: reachText(total, activation) },
      {
        kind: 'text',
        text: `Most is alive in layer ${peak} of ${steps.length}, ${shorten(steps[peak]!.title, 90)}: ${sizeText(alive[peak]!)}.`,
      },
      ...table(['bytes#', 'what', 'alive in'], living.slice(0, mostRows), 'tensor'),
      ...drivers(
        report,
        living.length > 0
          ? tenants.filter(({ from, to, tensor }) => tensor !== null && from <= peak && peak <= to)
          : [],
      ),
      ...(unknown.length === 0
        ? []
        : [
            note(
              `Not counted, because their sizes are not known: ${counted(unknown.length, 'tensor')}, for example ${shorten(oneLine(unknown[0]!), 60)}.`,
            ),
          ]),
    ]),
    ...section(
      steps.length > mostRows
        ? `The ${mostRows} layers with the most, in the order of execution`
        : 'In the order of execution',
      table(['layer#', 'alive#', '', 'name'], order, 'layer'),
    ),
    ...section('To need less', list(ways(report, steps[peak]!), 'way')),
  ];
}

/** How much of the recorded figure the estimate explains. */
function reachText(total: number, activation: number | null): string {
  const rule = 'Tensors live from the layer that writes them to the last that reads them, and blocks are used again';
  if (activation === null || activation === 0)
    return `${rule}: ${sizeText(total)}. The log records no total to compare with.`;
  if (total === activation) return `${rule}: ${sizeText(total)}, just what TensorRT recorded.`;
  const share = percentText((100 * total) / activation);
  const why =
    total < activation
      ? 'The rest is not explained by the layers that are listed.'
      : 'TensorRT needs less: tensors may share memory, such as the parts of a Concat.';
  return `${rule}: ${sizeText(total)}, which is ${share} of the ${sizeText(activation)} that TensorRT recorded. ${why}`;
}

/** Which open dimensions are in the tensors of the peak, with the range of the profile. */
function drivers(report: FusionReport, tenants: readonly Tenant[]): Block[] {
  const shapes = new Map(report.tensors.map(({ name, shape }) => [name, shape]));
  const symbols = new Set(
    tenants.flatMap(({ tensor }) =>
      (shapes.get(tensor!) ?? []).filter((size): size is string => typeof size === 'string'),
    ),
  );
  const built = (report.builtShapes ?? []).map((range) => `${oneLine(range.input)} ${shapeRange(range)}`);
  if (built.length === 0) return [];
  const inTensors =
    symbols.size === 0 ? '' : ` The tensors above have ${[...symbols].map((name) => oneLine(name)).join(', ')}.`;
  return [note(`The engine's memory is for the largest shapes of its profile: ${built.join('; ')}.${inTensors}`)];
}

function ways({ builtShapes = [] }: FusionReport, { title, scratch }: Step): string[] {
  const isDynamic = builtShapes.some(({ min, max }) => min.join() !== max.join());
  return [
    ...(isDynamic
      ? ['Smaller largest shapes of the profile (--max-shapes): memory is reserved for them, whatever you run.']
      : []),
    ...(scratch > 0
      ? [
          `The scratch of ${shorten(title, 60)} holds what lies between its kernels. A smaller type there needs less, and What If (trtlens what-if --cut) shows what a cut does.`,
        ]
      : []),
    'A comparison of two builds (trtlens diff) has their recorded memory, and a gate can limit it (memory: { activation: … }).',
  ];
}
