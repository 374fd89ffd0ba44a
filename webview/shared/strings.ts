/**
 * Every text that a view shows, in one place, ready for translation. Functions take numbers already counted and give a
 * whole phrase, so that a language may order and inflect as it needs. One section a view.
 */

const whole = new Intl.NumberFormat('en-US');

/** `22753` → `22,753` */
export function count(value: number): string {
  return whole.format(value);
}

/** A number with its noun: `1 node`, `453 nodes`. */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** Milliseconds with three significant digits at most, µs below a tenth: `0.352 ms`, `12.4 µs`. */
export function milliseconds(ms: number): string {
  if (ms === 0) return '0 ms';
  if (ms < 0.1) return `${Number((ms * 1000).toPrecision(3))} µs`;
  return ms < 100 ? `${Number(ms.toPrecision(3))} ms` : `${count(Math.round(ms))} ms`;
}

/** `93.46` → `93.5 %`; what is there but rounds to nothing is `< 0.1 %`. */
export function percent(value: number): string {
  // A part of nothing: of no nodes, of no time.
  if (Number.isNaN(value)) return '0 %';
  if (value > 0 && value < 0.1) return '< 0.1 %';
  if (value > 99.9 && value < 100) return '> 99.9 %';
  return `${Number(value.toFixed(1))} %`;
}

/** Labels of the seven fates, as a person would say them. */
const fates = {
  foreign: 'In ForeignNodes',
  fused: 'Fused',
  single: 'Own layer',
  folded: 'Folded',
  removed: 'Removed',
  shape: 'Shape',
  unknown: 'Unknown',
};

const fateMeanings = {
  foreign: 'swallowed by a ForeignNode (Myelin)',
  fused: 'computed by an engine layer together with other nodes',
  single: 'an engine layer of its own',
  folded: 'evaluated at build time: constant, or everything that it depends on is',
  removed: 'needs no work in this engine',
  shape: 'computes shapes on the host',
  unknown: 'nothing in the inputs says what became of it',
};

export const strings = {
  common: {
    noData: 'Nothing to show yet.',
    derived: 'derived',
    exact: 'exact',
    build: 'Build a TensorRT engine',
    openLog: 'Open a build log',
  },
  fates,
  fateMeanings,
  fusion: {
    title: 'Fusion',
    empty: {
      noBuild: 'No build is known for this model yet.',
      howTo: 'Build it, or open a log, layer info or profile that a build left behind.',
    },
    accounting: {
      title: (total: number) => `Where the model's ${counted(total, 'node')} went`,
    },
    funnel: {
      title: (from: number, to: number) => `TensorRT's layers: ${count(from)} → ${count(to)}`,
      one: 'TensorRT’s layers',
      step: (stage: string, layers: number) => `${stage}: ${counted(layers, 'layer')}`,
      none: 'No layer counts: they are in a verbose build log.',
    },
    flow: {
      title: 'From your modules to what runs',
      columns: { modules: 'Modules of the model', groups: 'Fusion groups', kernels: 'Kernels, in order' },
      weight: 'Ribbons as wide as',
      time: 'time',
      nodes: 'nodes',
      noTime: 'Nothing was measured: build with profiling (trtexec --exportProfile) to see time.',
      collapse: 'Close all',
      open: (label: string) => `Open ${label}`,
      help: 'Arrow keys move, Enter selects, + opens, − closes all, Escape clears the selection.',
      sharing: 'A kernel’s time is divided equally among its nodes.',
      restNodes: (value: number) => `without ${counted(value, 'node')} that no kernel computes`,
      someDerived: (nodes: number) => `${count(nodes)} derived`,
      derived: (amount: string) => `${amount} derived from the graph`,
      ribbon: (from: string, to: string, amount: string) => `${from} into ${to}: ${amount}`,
    },
    timeline: {
      title: 'Time of each kernel, in order of execution',
      runs: (size: number) => `one bar is ${counted(size, 'kernel')}`,
      most: (ms: number) => `highest ${milliseconds(ms)}`,
      bar: (first: number, last: number, name: string, ms: number) =>
        first === last
          ? `Layer ${first}, ${name}: ${milliseconds(ms)}`
          : `Layers ${first} to ${last}, mostly ${name}: ${milliseconds(ms)}`,
      none: 'Nothing was measured, so that no bar has a height. The order is still exact.',
    },
    icicle: {
      title: (weight: 'time' | 'nodes') => `${weight === 'time' ? 'Time' : 'Nodes'} by module → group → kernel`,
      zoomOut: 'Whole model',
      zoomIn: 'Zoom in',
      more: (cells: number) => `${count(cells)} more`,
      help: 'Double click or + zooms in.',
    },
    details: {
      title: 'Selected',
      none: 'Select anything: a module, a group, a kernel, a bar. Everything that belongs to it lights up everywhere.',
      exact: 'exact: TensorRT named it itself',
      derived: 'derived: TensorRT named the borders, the rest follows from the graph',
      slowest: 'What takes the most time',
      kernels: (value: number) => counted(value, 'kernel'),
      layers: (value: number) => counted(value, 'layer'),
      nodes: (value: number) => counted(value, 'node'),
      manyNodes: (value: number) => `${counted(value, 'node')} of the model`,
      manyLayers: (value: number) => `${counted(value, 'layer')} of the engine`,
      more: (value: number) => `Show ${count(Math.min(value, 50))} of ${count(value)} more`,
      logLine: (line: number) => `Log line ${count(line)}`,
      graph: 'Show in the graph',
      clear: 'Clear',
      unnamed: (op: string, id: string) => `${op} (node ${id}, no name)`,
      type: 'Type',
      time: 'Time',
      tactic: 'Tactic',
      evidence: 'Known from',
      inputs: 'Inputs',
      outputs: 'Outputs',
      name: 'Name',
      becomes: 'What became of it',
      computes: 'Computes',
      computedBy: 'Computed by',
      remarks: 'Remarks',
      ofAll: (share: number) => `${percent(share)} of the time`,
    },
    evidence: {
      metadata: 'TensorRT’s own metadata',
      log: 'the build log',
      name: 'the fused layer’s name',
      reach: 'the graph (derived)',
    },
    missing: 'For more',
    problems: (value: number) => counted(value, 'problem'),
  },
  playground: {
    groups: 'Fusion groups',
    views: 'View',
    fusion: 'Fusion',
    graph: 'Graph',
    both: 'Both',
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' },
    sort: 'Sort by',
    sorts: { time: 'time', size: 'size', order: 'order' },
    search: 'Search nodes and layers',
    hits: (nodes: number, layers: number) => `${counted(nodes, 'node')}, ${counted(layers, 'layer')} found`,
    splitter: 'Width of the list of groups',
    middle: 'Width of the graph',
    moreItems: (value: number) => `${count(value)} more`,
    recorded: 'recorded build',
    recordedMeans: 'This build was not made here: it was recorded on another machine.',
    imported: 'imported build',
    importedMeans: 'Read from files that a build left behind.',
    onGpu: (gpu: string) => `on ${gpu}`,
    loading: 'Loading …',
    noData: 'There is no data to show: data.json is missing beside this page.',
    badData: (reason: string) => `The data could not be read: ${reason}`,
    noHost: 'This needs the editor or the command line.',
    lineAt: (file: string, line: number) => `${file}, line ${count(line)}`,
    texts: { log: 'build log', overrides: 'override file' },
    files: {
      open: 'Open files …',
      hint: 'An ONNX model with the log, layer info and profile of its build; or drop them anywhere on this page. They stay on this machine.',
      reading: 'Reading …',
      unreadable: (name: string, reason: string) => `${name} cannot be read: ${reason}`,
      useless: (name: string, reason: string) => `${name} is of no use here: ${reason}`,
      damaged: (name: string, reason: string) => `${name} is damaged, what could be read of it is shown: ${reason}`,
      noModel: 'The ONNX model is missing: open or drop it, too.',
      noBuild: 'No build: open or drop the verbose log or the layer info (trtexec --exportLayerInfo) of this model.',
      noLog: 'No log: a verbose build log (trtexec --verbose) tells the funnel, the fusions and the reasons.',
      noLayers:
        'No layer info: trtexec --profilingVerbosity=detailed --exportLayerInfo=layers.json names each kernel’s nodes.',
      noProfile: 'No profile: trtexec --exportProfile=profile.json tells where the time goes.',
    },
    failed: (reason: string) => `Something went wrong in the view: ${reason}`,
    commands: {
      build: 'To build an engine: trtlens build MODEL.onnx',
      openLog: 'To show another build: trtlens report --onnx MODEL.onnx --log BUILD.log',
      openFusion: '',
      openGraph: '',
      keepFp32: 'To keep nodes in FP32, use the editor’s precision overrides.',
    },
  },
};
