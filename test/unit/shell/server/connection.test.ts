import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type {
  CodeAction,
  CompletionList,
  Diagnostic,
  DocumentSymbol,
  Hover,
  InitializeResult,
  InlayHint,
  PublishDiagnosticsParams,
} from 'vscode-languageserver';
import {
  createConnection,
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import type { ProtocolConnection } from 'vscode-languageserver/node';
import { languageMessages } from '../../../../src/kernel/protocol/language.ts';
import type { ModelPathParams } from '../../../../src/kernel/protocol/language.ts';
import { serve } from '../../../../src/shell/server/serve.ts';
import { captureText } from '../../../support/fixtures.ts';
import { applied, factsFor, uri } from './serverFixtures.ts';

/** A real client end of a real connection, over streams in memory. */
class Client {
  readonly connection: ProtocolConnection;
  readonly diagnostics: PublishDiagnosticsParams[] = [];
  readonly paths: ModelPathParams[] = [];
  private readonly waiting: (() => void)[] = [];

  constructor() {
    const up = new PassThrough();
    const down = new PassThrough();
    serve(createConnection(new StreamMessageReader(up), new StreamMessageWriter(down)));
    this.connection = createProtocolConnection(new StreamMessageReader(down), new StreamMessageWriter(up));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: PublishDiagnosticsParams) => {
      this.diagnostics.push(params);
      for (const wake of this.waiting.splice(0)) wake();
    });
    this.connection.onNotification(languageMessages.modelPath, (params: ModelPathParams) => {
      this.paths.push(params);
      for (const wake of this.waiting.splice(0)) wake();
    });
    this.connection.onRequest('workspace/inlayHint/refresh', () => null);
    this.connection.onRequest('workspace/codeLens/refresh', () => null);
    this.connection.listen();
  }

  async start(): Promise<InitializeResult> {
    const result = await this.connection.sendRequest<InitializeResult>('initialize', {
      processId: null,
      rootUri: null,
      capabilities: {},
    });
    await this.connection.sendNotification('initialized', {});
    return result;
  }

  async open(text: string, languageId = 'trtprec', at = uri): Promise<void> {
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri: at, languageId, version: 1, text },
    });
  }

  async change(version: number, line: number, start: number, end: number, text: string): Promise<void> {
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri, version },
      contentChanges: [{ range: { start: { line, character: start }, end: { line, character: end } }, text }],
    });
  }

  /** Waits until something that has arrived fits. */
  async until(fits: () => boolean): Promise<void> {
    while (!fits()) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** The diagnostics of a version of a document. */
  async diagnosed(version: number, codes: string[], at = uri): Promise<Diagnostic[]> {
    const of = () => this.diagnostics.findLast((params) => params.uri === at && params.version === version);
    await this.until(
      () =>
        of()
          ?.diagnostics.map(({ code }) => code)
          .join() === codes.join(),
    );
    return of()?.diagnostics ?? [];
  }

  ask<T>(method: string, params: object = {}, at = uri): Promise<T> {
    return this.connection.sendRequest<T>(method, { textDocument: { uri: at }, ...params });
  }
}

describe('the language server over a connection', () => {
  let client: Client;

  beforeEach(async () => {
    client = new Client();
    const { capabilities, serverInfo } = await client.start();
    expect(serverInfo?.name).toBe('TensorRT Lens');
    for (const feature of [
      'hoverProvider',
      'completionProvider',
      'inlayHintProvider',
      'codeLensProvider',
      'codeActionProvider',
      'renameProvider',
      'definitionProvider',
      'documentFormattingProvider',
      'documentSymbolProvider',
    ] as const) {
      expect(capabilities[feature]).toBeTruthy();
    }
  });

  afterEach(async () => {
    await client.connection.sendRequest('shutdown');
    client.connection.dispose();
  });

  test('type, see, fix', async () => {
    await client.open('model ./m.onnx\n/layers.1/atn/Softmax fp3x\n');
    await client.diagnosed(1, ['unknown-type']);
    await client.until(() => client.paths.length > 0);
    expect(client.paths).toEqual([{ uri, path: './m.onnx', scales: null }]);
    await client.connection.sendNotification(languageMessages.facts, factsFor(uri));
    await client.diagnosed(1, ['matches-nothing', 'unknown-type']);
    await client.change(2, 1, 22, 26, 'fp32');
    const diagnostics = await client.diagnosed(2, ['matches-nothing']);
    const range = diagnostics[0]!.range;
    const actions = await client.ask<CodeAction[]>('textDocument/codeAction', { range, context: { diagnostics } });
    const fix = actions.find(({ isPreferred }) => isPreferred);
    const [edit] = fix?.edit?.changes?.[uri] ?? [];
    expect(edit?.newText).toBe('/layers.1/attn/Softmax');
    await client.change(3, 1, edit!.range.start.character, edit!.range.end.character, edit!.newText);
    await client.diagnosed(3, []);
    const place = { uri, line: 1, character: 5 };
    expect(await client.connection.sendRequest(languageMessages.nodesAt, place)).toEqual(['2']);
  });

  test('which model the text names now is told before a request is answered that comes right behind the change', async () => {
    await client.open('model ./m.onnx\nop:Softmax fp32\n');
    await client.until(() => client.paths.length > 0);
    const changed = client.change(2, 0, 8, 9, 'other');
    const answer = client.connection.sendRequest(languageMessages.nodesAt, { uri, line: 0, character: 0 });
    await Promise.all([changed, answer]);
    expect(client.paths.map(({ path }) => path)).toEqual(['./m.onnx', './other.onnx']);
  });

  test('the file of the scales line: who reads it is told, and what is wrong with it is shown there', async () => {
    await client.open('scales ./gone.cache\n/layers.1/attn/MatMul int8\n');
    await client.until(() => client.paths.length > 0);
    expect(client.paths).toEqual([{ uri, path: null, scales: './gone.cache' }]);
    const scales = { tensors: null, problem: './gone.cache: no such file' };
    await client.connection.sendNotification(languageMessages.facts, { ...factsFor(uri), scales });
    const [problem] = await client.diagnosed(1, ['scales-unreadable']);
    expect(problem).toMatchObject({ message: scales.problem, range: { start: { line: 0, character: 7 } } });
  });

  test('every feature answers', async () => {
    const text = '# attention\nop:Softmax   float32\n/layers.1/norm1/LayerNormalization fp32\n';
    await client.open(text);
    await client.connection.sendNotification(languageMessages.facts, factsFor(uri));
    await client.diagnosed(1, []);
    const position = { line: 1, character: 5 };
    expect(await client.ask<Hover>('textDocument/hover', { position })).toMatchObject({
      contents: { kind: 'markdown' },
    });
    const completion = await client.ask<CompletionList>('textDocument/completion', {
      position: { line: 3, character: 0 },
    });
    expect(completion.items.length).toBeGreaterThan(10);
    const hints = await client.ask<InlayHint[]>('textDocument/inlayHint', {
      range: { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } },
    });
    expect(hints.map(({ label }) => label)).toEqual(['3 nodes', '1 node']);
    const lenses = await client.ask<{ data?: unknown }[]>('textDocument/codeLens');
    expect(lenses).toHaveLength(4);
    const resolved = await client.connection.sendRequest<{ command: { title: string } }>('codeLens/resolve', lenses[2]);
    expect(resolved.command.title).toBe('Show 3 nodes in the graph');
    expect(await client.ask('textDocument/definition', { position })).toHaveLength(3);
    expect(await client.ask('textDocument/prepareRename', { position })).toMatchObject({ placeholder: 'Softmax' });
    expect(await client.ask('textDocument/rename', { position, newName: 'MatMul' })).toMatchObject({
      changes: { [uri]: [{ newText: 'MatMul' }] },
    });
    expect(await client.ask('textDocument/documentHighlight', { position })).toHaveLength(1);
    const edits = await client.ask<[]>('textDocument/formatting', { options: { tabSize: 2, insertSpaces: true } });
    expect(applied(text, edits)).toBe(
      '# attention\nop:Softmax                          fp32\n/layers.1/norm1/LayerNormalization  fp32\n',
    );
    const symbols = await client.ask<DocumentSymbol[]>('textDocument/documentSymbol');
    expect(symbols.map(({ name }) => name)).toEqual(['attention']);
    expect(await client.ask('textDocument/foldingRange')).toHaveLength(1);
    expect(await client.connection.sendRequest(languageMessages.keep, { uri, nodes: ['1'], type: 'fp32' })).toEqual({
      text: '/layers.1/attn/MatMul  fp32\n',
      selectors: ['/layers.1/attn/MatMul'],
    });
  });

  test('the model’s path is told again only when it changes', async () => {
    await client.open('a fp32\n');
    await client.until(() => client.paths.length === 1);
    await client.change(2, 0, 0, 0, 'model x.onnx\n');
    await client.until(() => client.paths.length === 2);
    await client.change(3, 1, 0, 1, 'b');
    await client.change(4, 0, 6, 7, 'y');
    await client.until(() => client.paths.length === 3);
    expect(client.paths.map(({ path }) => path)).toEqual([null, 'x.onnx', 'y.onnx']);
  });

  test('replays are recognized among other JSON, and facts may change', async () => {
    const replayUri = 'file:///work/replay.json';
    const other = 'file:///work/package.json';
    await client.open('{"name": 1}', 'json', other);
    await client.diagnosed(1, [], other);
    expect(await client.ask('textDocument/hover', { position: { line: 0, character: 3 } }, other)).toBeNull();
    const text = captureText('tensorrt-10.6.0/vit_tiny.poly_replay/replay.json');
    await client.open(text ?? '', 'json', replayUri);
    await client.diagnosed(1, ['foreign-entry'], replayUri);
    const target = { product: 'tensorrt' as const, version: '11.2.1', gpu: null };
    await client.connection.sendNotification(languageMessages.facts, factsFor(replayUri, { model: null, target }));
    await client.diagnosed(1, ['no-replay-support', 'foreign-entry'], replayUri);
    expect(await client.connection.sendRequest(languageMessages.replayEntries, { uri: replayUri })).toHaveLength(2);
  });

  test('a closed file has no diagnostics', async () => {
    await client.open('oops');
    await client.diagnosed(1, ['missing-type']);
    await client.connection.sendNotification('textDocument/didClose', { textDocument: { uri } });
    await client.until(() => client.diagnostics.at(-1)?.diagnostics.length === 0);
    expect(await client.connection.sendRequest(languageMessages.nodesAt, { uri, line: 0, character: 0 })).toEqual([]);
  });
});
