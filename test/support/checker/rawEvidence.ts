/** What TensorRT wrote, cut from the text by patterns alone: nothing here knows how the product reads it. */
export interface RawEvidence {
  /** The whole text of the log and of the layer info. */
  text: string;
  lines: string[];
  /** What it says of layers and regions, without what it says of the model and of its changes. */
  said: string;
  /** Engine layers in the order of the last complete list; null where no input lists an engine. */
  layers: RawLayer[] | null;
  /** Everything that the log's `ForeignNode … metadata:` lines list: tokens by name of the region. */
  foreign: Map<string, string[]>;
  /** Layers under `GRAPH NODES`: their kinds by name. */
  graphNodes: Map<string, string>;
  /** Names of layers that the parser registered, by the node's name. */
  registered: Map<string, string[]>;
  parsed: string[];
  /** What the parser logged of the inputs of each node, by its name: once for each time that it parsed such a node. */
  inputDims: Map<string, string[]>;
  /** `fusing A into C`: each absorbed name with what it went into; `Fusing A with B`: the one with the other. */
  fusions: { into: string; absorbed: string[]; line: string }[];
  /** Tensors that `Generating copy for a to b` copies, and where to. */
  copies: { from: string; to: string }[];
  /** The optimizer's counts of layers, in order. */
  funnel: number[];
  /** A `{ForeignNode[` stands somewhere in the log. */
  hasForeign: boolean;
  isFinished: boolean;
  /** The log ends within its list of layers, and no layer info has it whole. */
  isCutInLayers: boolean;
}

export interface RawLayer {
  name: string;
  type: string;
  inputs: RawTensor[];
  outputs: RawTensor[];
  /** Tokens of its metadata: what stands between `[ONNX Layer: ` and `]`. */
  tokens: string[];
  /** TensorRT cut the metadata in its middle. */
  isCut: boolean;
}

export interface RawTensor {
  name: string;
  dims: number[];
}

const prefix = String.raw`(?:\[\d\d/\d\d/\d{4}-\d\d:\d\d:\d\d\] )?\[(?:[VIWEF!]|ERROR)\] (?:\[TRT\] )?`;
/** A record begins at a prefix, a frame or a line of a list: names may hold line breaks. */
const recordStart = new RegExp(String.raw`\n(?=${prefix}|&&&& |Name: |Layer\(|I/O Tensors:|Bindings:)`);
const prefixOnly = new RegExp(`^${prefix}`);

/** What a line that places a node in the engine begins with, or holds. */
const saying = /^(?:Name: |Layer\(|Layer: |ForeignNode \{|=+ Computing costs for |-+ Timing Runner: )/;

const changing = /^(?:\w+: [Ff]using |Swap the layer type of |Convert layer type of )/;

export function readRawEvidence(log: string | undefined, layerInfo: string | undefined): RawEvidence {
  const text = log ?? '';
  const records = text.split(recordStart).map((record) => record.replace(prefixOnly, ''));
  const evidence: RawEvidence = {
    text: `${text}\n${layerInfo ?? ''}`,
    lines: text.split('\n'),
    said: '',
    layers: null,
    foreign: new Map(),
    graphNodes: new Map(),
    registered: new Map(),
    parsed: [],
    inputDims: new Map(),
    fusions: [],
    copies: [],
    funnel: [],
    hasForeign: text.includes('{ForeignNode['),
    isCutInLayers: false,
    isFinished: /Engine generation completed|Engine built in|&&&& PASSED/.test(text),
  };
  readRecords(records, evidence);
  const listed = layerInfo === undefined ? undefined : jsonLayers(layerInfo);
  if (listed && listed.length > 0) evidence.layers = listed;
  else evidence.isCutInLayers = /^(?:Name: |Layer\()/.test(records.at(-1)!) && !text.trimEnd().endsWith(']');
  // Without an engine, the layers to be are those that fusions and conversions made.
  const isSaying =
    evidence.layers === null
      ? (record: string) => saying.test(record) || changing.test(record)
      : (record: string) => saying.test(record);
  evidence.said = `${records.filter(isSaying).join('\n')}\n${layerInfo ?? ''}`;
  return evidence;
}

function readRecords(records: string[], evidence: RawEvidence): void {
  let node = '';
  let isGraph = false;
  let list: RawLayer[] | null = null;
  for (const record of records) {
    if (record.startsWith('Name: ') || record.startsWith('Layer(')) {
      const layer = record.startsWith('Name: ') ? detailedLayer(record) : nativeLayer(record);
      if (layer && list) list.push(layer);
      continue;
    }
    if (/^(?:Engine Layer Information|Layers):\s*$/.test(record)) {
      list = [];
      evidence.layers = list;
      continue;
    }
    list = null;
    if (record.startsWith('GRAPH NODES')) {
      isGraph = true;
      evidence.graphNodes.clear();
    } else if (isGraph) {
      const match = /^([A-Z][A-Z_0-9]*) ([^]+)$/.exec(record);
      if (match) evidence.graphNodes.set(match[2]!, match[1]!);
      else if (!/^\s/.test(record)) isGraph = false;
    }
    node = readParser(record, node, evidence) ?? node;
    readOptimizer(record, evidence);
  }
}

/** Notes what the parser says of a node; gives the node's name where its parsing begins. */
function readParser(record: string, node: string, { parsed, registered, inputDims }: RawEvidence): string | null {
  const add = (owner: string, layer: string) => registered.set(owner, [...(registered.get(owner) ?? []), layer]);
  const begin = /^Parsing node: ([^]*) \[\w*\]$/.exec(record);
  const dims = record.startsWith(`${node} [`) ? /^ \[\w*\] inputs: (\[[^]*)$/.exec(record.slice(node.length)) : null;
  if (node !== '' && dims) inputDims.set(node, [...(inputDims.get(node) ?? []), dims[1]!]);
  if (begin) parsed.push(begin[1]!);
  else if (node !== '' && record === `Registering layer: ${node} for ONNX node: ${node}`) add(node, node);
  else {
    const match = /^Registering layer: ([^]*) for ONNX node: ([^]*)$/.exec(record);
    if (match) add(match[2]!, match[1]!);
  }
  return begin?.[1] ?? null;
}

function readOptimizer(record: string, evidence: RawEvidence): void {
  let match: RegExpExecArray | null;
  if ((match = /^ForeignNode (\{ForeignNode\[[^]*?\]\}) metadata: ?([^]*)$/.exec(record))) {
    evidence.foreign.set(match[1]!, tokensOf(match[2]!));
  } else if ((match = /^(?:Original|After [\w -]+): (\d+) layers?/.exec(record))) {
    if (record.startsWith('Original')) Object.assign(evidence, { funnel: [], fusions: [], copies: [] });
    evidence.funnel.push(Number(match[1]));
  } else if ((match = /^\w+: [Ff]using \(([^]*) and ([^]*)\) into ([^]*)$/.exec(record))) {
    evidence.fusions.push({ into: match[3]!, absorbed: [match[1]!, match[2]!], line: record });
  } else if ((match = /^\w+: [Ff]using ([^]*) (?:into|with) ([^]*)$/.exec(record))) {
    evidence.fusions.push({ into: match[2]!, absorbed: [match[1]!], line: record });
  } else if ((match = /^Generating copy for ([^]*?) to ([^]*) because /.exec(record))) {
    evidence.copies.push({ from: match[1]!, to: match[2]! });
  }
}

/**
 * `[ONNX Layer: a]` with any of TensorRT's separators, or none, between them; `[ONNX Layer: a]_fill_pad_axis0`, a layer
 * that TensorRT made for a node, is none.
 */
export const tokensOf = (metadata: string): string[] =>
  metadata
    .split(/[\u001e\u001f](?=\[ONNX Layer: )/u)
    .flatMap((piece) => [...piece.matchAll(/\[ONNX Layer: ([^]*?)\](?=[\u001e\u001f]|\s*$|\[ONNX Layer: )/gu)])
    .map(([, token]) => token!);

function detailedLayer(record: string): RawLayer | null {
  const match = /^Name: ([^]*?), LayerType: (\w*), Inputs: ([^]*)$/.exec(record);
  if (!match) return null;
  const [, name = '', type = '', rest = ''] = match;
  const outputs = rest.lastIndexOf(', Outputs: [');
  const metadata = rest.lastIndexOf(', Metadata: ');
  const constants = rest.indexOf(', Constants: [');
  const inputs = rest.slice(0, constants >= 0 && constants < outputs ? constants : outputs);
  return {
    name,
    type,
    inputs: tensorsOf(inputs),
    outputs: tensorsOf(rest.slice(outputs, metadata)),
    tokens: tokensOf(rest.slice(metadata + 12)),
    isCut: / \.\.\. /.test(rest.slice(metadata)),
  };
}

const tensorsOf = (text: string): RawTensor[] =>
  [...text.matchAll(/\{ Name: ([^]*?), (?:Location: \w+, )?Dimensions: \[([-\d, ]*)\]/g)].map(([, name, dims]) => ({
    name: name!,
    dims: numbers(dims!),
  }));

const numbers = (text: string): number[] =>
  text
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number);

/** `Layer(Myelin): NAME, Tactic: 0x…, in (Half[1,3]), … -> out (Float[1,1000])` */
function nativeLayer(record: string): RawLayer | null {
  const match = /^Layer\(([^)]*)\): ([^]*?), Tactic: (?:-?\d+|0x[0-9a-f]+), ([^]*) -> ([^]*)$/.exec(record);
  if (!match) return null;
  const tensors = (text: string): RawTensor[] =>
    [...text.matchAll(/([^]*?) \(\w+\[([^\]]*)\]\)(?:, |$)/g)].map(([, name, dims]) => ({
      name: name!,
      // `1,192:8,14,14`: a packed dimension.
      dims: numbers(dims!.replace(/:\d+/g, '')),
    }));
  return {
    name: match[2]!,
    type: match[1]!,
    inputs: tensors(match[3]!),
    outputs: tensors(match[4]!),
    tokens: [],
    isCut: false,
  };
}

interface JsonLayer {
  Name: string;
  LayerType?: string;
  Inputs?: { Name: string; Dimensions?: number[] }[];
  Outputs?: { Name: string; Dimensions?: number[] }[];
  Metadata?: string;
}

/** Undefined where the text is none of the JSON documents that the inspector writes when names need no escapes. */
function jsonLayers(text: string): RawLayer[] | undefined {
  let layers: (JsonLayer | string)[];
  try {
    layers = (JSON.parse(text) as { Layers: (JsonLayer | string)[] }).Layers;
  } catch {
    return undefined;
  }
  const tensors = (list: JsonLayer['Inputs'] = []) =>
    list.map(({ Name, Dimensions = [] }) => ({ name: Name, dims: Dimensions }));
  return layers.map((layer) =>
    typeof layer === 'string'
      ? { name: layer, type: '', inputs: [], outputs: [], tokens: [], isCut: false }
      : {
          name: layer.Name,
          type: layer.LayerType ?? '',
          inputs: tensors(layer.Inputs),
          outputs: tensors(layer.Outputs),
          tokens: tokensOf(layer.Metadata ?? ''),
          isCut: / \.\.\. /.test(layer.Metadata ?? ''),
        },
  );
}
