import type { EngineLayer, EngineTensor } from './engineLayer.ts';
import type { LayerInfo } from './layerInfo.ts';
import type { Problem, Read } from '../text/problem.ts';
import { isRecord, numberOr, readJsonDocuments, textOr } from './readJson.ts';
import { bareLayer, typeOfFormat } from './readLayerLine.ts';

/** Names that TensorRT writes into its JSON as they are, quotes and backslashes included. */
export const RAW_MEMBERS: ReadonlySet<string> = new Set(['Name', 'name', 'Layers', 'layers', 'Bindings']);

/** Keys of a layer that have their own field. */
const FIELDS = new Set(['Name', 'LayerType', 'Inputs', 'Outputs', 'Metadata', 'TacticName', 'TacticValue', 'StreamId']);

/** Keys that some version is known to write; others are kept, too, and counted. */
const KNOWN = new Set(
  (
    'ParameterType Kernel PaddingMode PrePadding PostPadding Stride Dilation OutMaps Groups Weights Bias HasSparseWeights Activation HasBias ' +
    'HasReLU ParameterSubType Origin HasDynamicFilter HasDynamicBias HasResidual ConvXAsActInputIdx BiasAsActInputIdx ResAsActInputIdx ' +
    'ElementWiseOperation NbInputArgs InputArgs NbOutputVars OutputVars NbParams Params NbLiterals Literals NbOperations Operations ' +
    'Operation ReduceAxes KeepDimensions FirstTranspose Reshape SecondTranspose ZeroIsPlaceholder shapeValues0 Op dimension dimensions alpha ' +
    'beta weights PoolingType WindowSize BlendFactor AverageCountExcludesPadding Mode Shift Scale Power ChannelAxis InterpolationMode ' +
    'ResizeScales ExcludeOutside CubicCoeff CoordTransform ResizeSelector NNRounding Fmt TopKBoxLimit IsMaxOutputBoxesPerClassConstant ' +
    'ProcessIouThresholdTensor ProcessScoreThresholdTensor Constants'
  ).split(' '),
);

/** Most layers that are read of one file. */
const MAX_LAYERS = 1_000_000;

/**
 * Reads layer info as IEngineInspector and `--exportLayerInfo` write it, 8.2 to 11.x: whole layers, names only or an
 * empty file; several documents, a bare list, names that are not escaped, text after the end. Unknown keys are kept in
 * `extra` and counted. `value` is undefined if the text contains no layer info at all; problems say what was odd.
 */
export function readLayerInfo(text: string): Read<LayerInfo> {
  const info: LayerInfo = {
    detail: 'none',
    layers: [],
    bindings: [],
    ioTensors: [],
    documents: 0,
    unknownKeys: {},
    layerTypes: {},
  };
  if (text.trim() === '')
    return {
      value: info,
      problems: [
        {
          severity: 'warning',
          code: 'layer-info-empty',
          message:
            'The file is empty: the engine was built with profilingVerbosity=none, or could not be inspected. Build with --profilingVerbosity=detailed.',
        },
      ],
    };
  const { documents, problems } = readJsonDocuments(text, { rawMembers: RAW_MEMBERS });
  let names = 0;
  for (const document of documents) names += addDocument(info, document, problems);
  if (info.documents === 0) {
    const none: Problem = {
      severity: 'error',
      code: 'no-layer-info',
      message: 'Not layer info: the list "Layers" is missing. Use the file that trtexec --exportLayerInfo writes.',
    };
    // What another kind of file, such as a log, lacks for being JSON helps no one.
    return { value: undefined, problems: /"layers"/i.test(text) ? [...problems, none] : [none] };
  }
  if (info.layers.length > 0) info.detail = names < info.layers.length ? 'detailed' : 'names';
  if (info.detail === 'names')
    problems.push({
      severity: 'info',
      code: 'layer-names-only',
      message:
        'The layer info contains only layer names. Build with --profilingVerbosity=detailed to get types, tensors and nodes.',
    });
  info.bindings = [...new Set([...info.bindings, ...info.ioTensors.map(({ name }) => name)])];
  return { value: info, problems };
}

/** Adds what one document contains; returns how many of its layers are only names. */
function addDocument(info: LayerInfo, document: unknown, problems: Problem[]): number {
  const layers = layersOf(document);
  if (layers === undefined) return 0;
  info.documents++;
  if (isRecord(document)) addBindings(info, document);
  let names = 0;
  for (const layer of layers) {
    if (info.layers.length >= MAX_LAYERS) {
      problems.push({
        severity: 'warning',
        code: 'too-many-layers',
        message: `The file has more than ${MAX_LAYERS} layers; the rest was not read.`,
      });
      break;
    }
    if (typeof layer === 'string') {
      info.layers.push(bareLayer(layer, null));
      names++;
    } else if (isRecord(layer)) info.layers.push(readLayer(info, layer));
    else
      problems.push({
        severity: 'warning',
        code: 'layer-unreadable',
        message: `An entry of "Layers" is neither a name nor a layer: ${briefly(layer)}.`,
      });
  }
  return names;
}

/** What an entry is, in words: a list may be nested deeper than a text of it can be made. */
function briefly(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return value === null ? 'null' : 'an object';
}

function layersOf(document: unknown, depth = 0): unknown[] | undefined {
  if (Array.isArray(document)) return document.length > 0 && document.every(isLayer) ? document : undefined;
  if (!isRecord(document)) return undefined;
  for (const key of ['Layers', 'layers', 'LayerInfo', 'layerInfo']) {
    const value = document[key];
    if (Array.isArray(value)) return value;
    if (isRecord(value) && depth < 3) return layersOf(value, depth + 1);
  }
  // One layer alone, as IEngineInspector::getLayerInformation gives it.
  return isLayer(document) ? [document] : undefined;
}

/** An entry of a list that no key announces: a name, or an object with a layer's members. */
function isLayer(entry: unknown): boolean {
  if (typeof entry === 'string') return true;
  return isRecord(entry) && 'Name' in entry && ('LayerType' in entry || ('Inputs' in entry && 'Outputs' in entry));
}

function addBindings(info: LayerInfo, document: Record<string, unknown>): void {
  const bindings = document['Bindings'] ?? document['bindings'];
  if (Array.isArray(bindings))
    for (const binding of bindings) {
      const name = isRecord(binding) ? textOr(binding['Name'], null) : textOr(binding, null);
      if (name !== null && !info.bindings.includes(name)) info.bindings.push(name);
    }
  const tensors = document['I/O Tensors'] ?? document['IO Tensors'] ?? document['IOTensors'];
  if (!Array.isArray(tensors)) return;
  for (const tensor of tensors) {
    if (!isRecord(tensor)) continue;
    const mode = textOr(tensor['IOMode'], '').toLowerCase();
    info.ioTensors.push({
      name: textOr(tensor['Name'], ''),
      mode: mode === 'input' || mode === 'output' ? mode : null,
      type: textOr(tensor['DataType'] ?? tensor['Datatype'], null),
      dims: dimsOf(tensor['Dimensions']),
    });
  }
}

function readLayer(info: LayerInfo, source: Record<string, unknown>): EngineLayer {
  const layer = bareLayer(textOr(source['Name'], ''), null);
  layer.type = textOr(source['LayerType'], '');
  layer.inputs = tensorsOf(source['Inputs']);
  layer.outputs = tensorsOf(source['Outputs']);
  layer.metadata = textOr(source['Metadata'], null);
  layer.tacticName = textOr(source['TacticName'], null);
  layer.tactic = textOr(source['TacticValue'], null);
  layer.streamId = numberOr(source['StreamId']);
  for (const [key, value] of Object.entries(source)) {
    if (FIELDS.has(key)) continue;
    setExtra(layer.extra, key, value);
    if (!KNOWN.has(key)) count(info.unknownKeys, key);
  }
  count((info.layerTypes ??= {}), layer.type);
  return layer;
}

/** A key may be anything that a file says, `__proto__` too. */
function setExtra(extra: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(extra, key, { value, enumerable: true, configurable: true, writable: true });
}

function count(counts: Record<string, number>, key: string): void {
  const before = Object.hasOwn(counts, key) ? counts[key]! : 0;
  Object.defineProperty(counts, key, { value: before + 1, enumerable: true, configurable: true, writable: true });
}

function tensorsOf(value: unknown): EngineTensor[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((tensor) => {
    const joint = textOr(tensor['Format/Datatype'], null);
    const format = textOr(tensor['Format'], null);
    const type = textOr(tensor['Datatype'] ?? tensor['DataType'], null);
    return {
      name: textOr(tensor['Name'], ''),
      dims: dimsOf(tensor['Dimensions']),
      type: type ?? (joint === null ? null : typeOfFormat(joint)),
      format: joint ?? format ?? type,
    };
  });
}

/** Dimensions as numbers; what is not a number (a range, a name) is dynamic. */
function dimsOf(value: unknown): number[] | null {
  if (!Array.isArray(value)) return null;
  return value.map((size) => (typeof size === 'number' && Number.isFinite(size) && size >= 0 ? size : -1));
}
