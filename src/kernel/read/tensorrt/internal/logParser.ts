import { appended } from '../../../base/addTo.ts';
import type { ParsedNode } from '../../../network/nodeNames.ts';
import type { LogCursor } from './logCursor.ts';
import { enterStage, forget, keep, kept, type LogState, own, type PhraseHandler } from './logState.ts';

/** Lines of the ONNX parser. */
export const PARSER_PHRASES: [string, PhraseHandler][] = [
  ['Registering layer: ', onRegisteringLayer],
  ['Searching for input: ', ignore],
  ['Static check for parsing node: ', onStaticCheck],
  ['Parsing node: ', onParsingNode],
  ['Registering tensor: ', ignore],
  ['Importing initializer: ', ignore],
  ['Reading weights from external file: ', ignore],
  ['Mapping external weights file to memory: ', ignore],
  ['Registered plugin creator', ignore],
  ['No importer registered for op: ', onSought],
  ['No checker registered for op: ', onSought],
  ['Successfully created plugin: ', onPluginFound],
  ['Local registry found ', onPluginFound],
  ['Global registry found ', onPluginFound],
  ['Adding network input: ', onNetworkInput],
  ['Marking ', onMarking],
  ['Input filename:', onModel],
  ['Opset version:', onOpset],
  ['Producer name:', onProducer],
  ['Start parsing network model', (state, cursor) => startParse(state, cursor.line)],
  ['Finished parsing network model', onFinishedParsing],
];

function ignore(): void {}

function onPluginFound(state: LogState): void {
  delete state.log.sought;
}

/** `No importer registered for op: GridSample. Attempting to import as plugin.` */
function onSought(state: LogState, cursor: LogCursor, at: number): void {
  const op = /^\w+/.exec(cursor.text.slice(at, at + 100))?.[0];
  if (op !== undefined) state.log.sought = { op: own(state, op), line: cursor.line };
}

function startParse(state: LogState, line: number): void {
  state.section = 'parse';
  state.log.reached = 'parsing';
  state.builds.parse(line);
  state.restartNodes = true;
  state.node = null;
  enterStage(state, 'parse', line);
}

function onModel(state: LogState, cursor: LogCursor, at: number): void {
  startParse(state, cursor.line);
  state.log.model = {
    file: kept(state, cursor, at).trim() || null,
    producer: null,
    opset: null,
    inputs: [],
    outputs: [],
  };
}

function onOpset(state: LogState, cursor: LogCursor, at: number): void {
  const opset = Number.parseInt(kept(state, cursor, at), 10);
  if (state.log.model && Number.isFinite(opset)) state.log.model.opset = opset;
}

function onProducer(state: LogState, cursor: LogCursor, at: number): void {
  if (state.log.model) state.log.model.producer = kept(state, cursor, at).trim() || null;
}

/** `NAME [OP]`: a name may hold brackets, an operator may not. */
function splitNode({ text, to }: LogCursor, at: number): { name: string; op: string } {
  let end = to;
  while (end > at && text.charCodeAt(end - 1) <= 0x20) end--;
  const open = text.lastIndexOf(' [', end - 2);
  if (open < at || text.charCodeAt(end - 1) !== 0x5d) return { name: text.slice(at, to), op: '' };
  return { name: text.slice(at, open), op: text.slice(open + 2, end - 1) };
}

function onStaticCheck(state: LogState): void {
  state.section = 'parse';
}

/** A list grows by a new one: see `appended`. */
const NONE: string[] = [];

function onParsingNode(state: LogState, cursor: LogCursor, at: number): void {
  if (state.restartNodes) {
    state.restartNodes = false;
    state.log.parsedNodes = [];
    state.nodesByName = null;
    state.nodeNames = [];
    state.freshNames = [];
    state.askedNames.clear();
    forget(state.room.parsedNodes);
    forget(state.room.registeredLayers);
  }
  state.section = 'parse';
  state.builds.goOn();
  state.begun = true;
  if (!keep(state.room.parsedNodes, cursor.to - at)) return;
  const { name, op } = splitNode(cursor, at);
  if (name.includes('\n')) state.broken.add(name);
  const node: ParsedNode = { name, op, line: cursor.line, layers: NONE, helpers: NONE };
  if (state.registered) {
    node.name = own(state, name);
    node.op = own(state, op);
    state.log.parsedNodes.push(node);
    state.nodesByName?.set(node.name, node);
  } else {
    state.log.parsedNodes[0] = node;
    state.freshNames.push(name);
  }
  state.node = node;
  state.nodeInputs = '';
  enterStage(state, 'parse', cursor.line);
  state.onEvent?.({ kind: 'node', name, op, parsed: state.room.parsedNodes.items, line: cursor.line });
}

/** `NAME [OP] inputs: [a -> (2, 4)[FLOAT]], `: kept of the node that is being parsed, for the error that may follow. */
export function readNodeInputs(state: LogState, text: string, from: number, to: number): void {
  if (state.node === null) return;
  const { name, op } = state.node;
  const at = from + name.length + op.length + 3;
  if (!text.startsWith(' inputs: ', at) || !text.startsWith(name, from)) return;
  state.nodeInputs = text.slice(at + 9, to);
  if (op === 'Shape' || op === 'Size') {
    const dims = / -> \(([-\d, ]*)\)/.exec(state.nodeInputs)?.[1];
    if (dims !== undefined) state.node.inputDims = dims === '' ? [] : dims.split(',').map(Number);
  }
}

const FOR_NODE = ' for ONNX node: ';
const HELPER = ' required by ONNX-TRT';

function onRegisteringLayer(state: LogState, cursor: LogCursor, at: number): void {
  if (state.node === null || !state.registered || !keep(state.room.registeredLayers, cursor.to - at)) return;
  const { text } = cursor;
  const name = state.node.name;
  const owned = cursor.to - name.length;
  // The common case, without a search: the layer of the node that is being parsed.
  if (text.startsWith(FOR_NODE, owned - FOR_NODE.length) && text.startsWith(name, owned)) {
    const end = owned - FOR_NODE.length;
    const same = end - at === name.length && text.startsWith(name, at);
    state.node.layers = appended(state.node.layers, same ? name : kept(state, cursor, at, end));
    return;
  }
  if (text.startsWith(HELPER, cursor.to - HELPER.length)) {
    const helper = kept(state, cursor, at, cursor.to - HELPER.length);
    state.node.helpers = appended(state.node.helpers, helper);
    return;
  }
  const rest = text.slice(at, cursor.to);
  const split = rest.lastIndexOf(FOR_NODE);
  if (split < 0) {
    state.node.layers = appended(state.node.layers, kept(state, cursor, at));
    return;
  }
  const owner = findNode(state, rest.slice(split + FOR_NODE.length));
  const layer = kept(state, cursor, at, at + split);
  if (owner === undefined) state.node.helpers = appended(state.node.helpers, layer);
  else owner.layers = appended(owner.layers, layer);
}

/** No name holds it. */
const BETWEEN_NAMES = '\0';

/** Keeps the names of a piece of the log in memory of their own, before the piece goes. */
export function keepNodeNames(state: LogState): void {
  if (state.freshNames.length === 0) return;
  state.nodeNames.push(state.freshNames.join(BETWEEN_NAMES));
  state.freshNames = [];
  const [node] = state.log.parsedNodes;
  if (node !== undefined) node.name = own(state, node.name);
}

/** Whether a node of this name was parsed. */
export function isNode(state: LogState, name: string): boolean {
  if (state.registered) return findNode(state, name) !== undefined;
  keepNodeNames(state);
  for (const names of state.nodeNames) for (const one of names.split(BETWEEN_NAMES)) state.askedNames.add(one);
  state.nodeNames = [];
  return state.askedNames.has(name);
}

/** A parsed node by name. The index is made when it is first needed. */
function findNode(state: LogState, name: string): ParsedNode | undefined {
  if (state.nodesByName === null) {
    state.nodesByName = new Map();
    for (const node of state.log.parsedNodes) state.nodesByName.set(node.name, node);
  }
  return state.nodesByName.get(name);
}

function onNetworkInput(state: LogState, cursor: LogCursor, at: number): void {
  state.section = 'parse';
  const match = /^(.*) with dtype: (\w+), dimensions: (.*)$/.exec(cursor.text.slice(at, cursor.to));
  const model = (state.log.model ??= { file: null, producer: null, opset: null, inputs: [], outputs: [] });
  if (match && keep(state.room.bindings, match[0].length)) {
    const [, name = '', type = '', dims = ''] = match;
    model.inputs.push({ name: kept(state, cursor, at, at + name.length), type, dims: dims.trim() });
  }
}

function onMarking(state: LogState, cursor: LogCursor, at: number): void {
  const text = cursor.text.slice(at, cursor.to);
  const split = text.lastIndexOf(' as output: ');
  if (split < 0 || state.section !== 'parse') return;
  if (state.log.model && keep(state.room.bindings, text.length))
    state.log.model.outputs.push(kept(state, cursor, at + split + 12));
}

function onFinishedParsing(state: LogState, cursor: LogCursor, at: number): void {
  const match = /Parse time: ([\d.e+-]+)/.exec(cursor.text.slice(at, cursor.to));
  if (match) state.log.seconds.parse = Number(match[1]);
  state.node = null;
}
