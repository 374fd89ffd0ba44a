import * as vscode from 'vscode';
import type { LanguageClient, LanguageClientOptions, Middleware } from 'vscode-languageclient/node';
import {
  type KeepInfo,
  languageMessages,
  type ModelPathParams,
  overrideLanguageId,
  type ReplayEntryInfo,
  replayLanguageIds,
  type RuleVerdictInfo,
} from '../../protocol/language.ts';
import { FactsFeed } from './factsFeed.ts';
import { nodeListUri } from './internal/nodeList.ts';
import { servedKind } from './internal/servedDocuments.ts';
import { showError } from '../platform/messages.ts';

const loadLibrary = () => import('./internal/clientLibrary.ts');
type Library = Awaited<ReturnType<typeof loadLibrary>>;

/**
 * The language server for override files and replays: started when the first such document is open, started again by its
 * client when it dies, stopped with the extension. It reads no files and starts no programs, so it also runs in
 * workspaces that are not trusted.
 */
export class LanguageService implements vscode.Disposable {
  readonly #feed: FactsFeed;
  readonly #log: vscode.LogOutputChannel;
  readonly #extensionUri: vscode.Uri;
  readonly #begun = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[] = [this.#begun];
  #client: LanguageClient | undefined;
  #library: Library | undefined;
  #started: Promise<void> | undefined;
  #disposed = false;

  /** A server has begun to run. What was asked of one that has died got no answer. */
  readonly onDidStart = this.#begun.event;

  constructor(extensionUri: vscode.Uri, feed: FactsFeed, log: vscode.LogOutputChannel) {
    this.#feed = feed;
    this.#log = log;
    this.#extensionUri = extensionUri;
    const consider = (document: vscode.TextDocument) => {
      if (this.#started === undefined && servedKind(document) !== undefined) void this.start();
    };
    this.#subscriptions.push(vscode.workspace.onDidOpenTextDocument(consider));
    for (const document of vscode.workspace.textDocuments) consider(document);
  }

  /** Starts the server where it does not run yet. Resolves when it answers; a failure is in the log and told once. */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  /**
   * Makes sure that the server has a document as it is now, where it is one of ours: it may be closed when a command is
   * about it, or someone typed right before. Never rejects: what cannot be opened, the command tells.
   */
  async serve(uri: vscode.Uri): Promise<void> {
    try {
      const kind = servedKind(await vscode.workspace.openTextDocument(uri));
      if (kind !== undefined) await this.start();
      // Before it answers anything, the server says which model the text names now.
      if (kind === 'overrides') await this.nodesAt(uri, new vscode.Position(0, 0));
    } catch (error) {
      this.#log.debug(`${uri.toString(true)}: ${String(error)}`);
    }
  }

  /** What happened to each rule in the last build. */
  verify(uri: vscode.Uri): Promise<RuleVerdictInfo[]> {
    return this.#ask(uri, languageMessages.verify, { uri: uri.toString() }, []);
  }

  /** Ids of the nodes that a place in a document is about. */
  nodesAt(uri: vscode.Uri, { line, character }: vscode.Position): Promise<string[]> {
    const params = { uri: uri.toString(), line, character };
    return this.#ask(uri, languageMessages.nodesAt, params, []);
  }

  /** The rules to add so that nodes get a type; undefined: the server does not know the file's model. */
  async keep(uri: vscode.Uri, nodes: readonly string[], type: string): Promise<KeepInfo | undefined> {
    await this.start();
    const facts = await this.#feed.settled(uri);
    if (facts?.model == null) return undefined;
    return this.#ask<KeepInfo | undefined>(uri, languageMessages.keep, { uri: uri.toString(), nodes, type }, undefined);
  }

  /** Where the entries of a replay are, and what their layers are. */
  replayEntries(uri: vscode.Uri): Promise<ReplayEntryInfo[]> {
    return this.#ask(uri, languageMessages.replayEntries, { uri: uri.toString() }, []);
  }

  dispose(): void {
    this.#disposed = true;
    for (const subscription of this.#subscriptions) subscription.dispose();
    // It also ends by itself when this process has gone.
    void this.#client?.dispose().catch(() => undefined);
  }

  async #ask<T>(uri: vscode.Uri, method: string, params: object, otherwise: T): Promise<T> {
    await this.start();
    await this.#feed.settled(uri);
    if (this.#client === undefined || this.#client.state !== this.#library?.State.Running) return otherwise;
    try {
      return await this.#client.sendRequest<T>(method, params);
    } catch (error) {
      // It may have died meanwhile; what is to be seen is requested again when another one runs.
      this.#log.debug(`${method}: ${String(error)}`);
      return otherwise;
    }
  }

  async #start(): Promise<void> {
    const library = await loadLibrary();
    if (this.#disposed) return;
    this.#library = library;
    const { ErrorAction, State } = library;
    const client: LanguageClient = library.createClient('tensorrtLens.language', 'TensorRT Lens', this.#extensionUri, {
      ...this.#options(library),
      errorHandler: {
        // What is written to a server that has just died fails. The client's own handler takes the third such error
        // for a reason to give up; the end of the connection says the same, and starts another server.
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => restarts.closed(),
      },
    });
    const restarts = client.createDefaultErrorHandler(4);
    this.#client = client;
    client.onNotification(languageMessages.modelPath, ({ uri, path, scales }: ModelPathParams) =>
      this.#feed.named(vscode.Uri.parse(uri, true), path, scales),
    );
    const feed = (uri: vscode.Uri) => {
      const facts = this.#feed.paramsOf(uri);
      if (facts !== undefined && client.state === State.Running)
        client
          .sendNotification(languageMessages.facts, facts)
          .catch((error: unknown) => this.#log.debug(String(error)));
    };
    this.#subscriptions.push(
      this.#feed.onDidChange(feed),
      client.onDidChangeState(({ newState }) => {
        if (newState !== State.Running) return;
        // A new server knows nothing: its client opens the documents again, what is known of them comes from here.
        for (const uri of this.#feed.served()) feed(uri);
        this.#begun.fire();
      }),
    );
    try {
      await client.start();
      await openTheRest(client, library);
    } catch (error) {
      if (this.#disposed) return;
      this.#log.error(`The language server failed to start: ${String(error)}`);
      void showError(
        'Override files and replays are not checked, because the language server failed to start. See the output for the reason.',
      );
    }
  }

  #options({ RevealOutputChannelOn }: Library): LanguageClientOptions {
    const languages = [overrideLanguageId, ...replayLanguageIds];
    return {
      documentSelector: languages.map((language) => ({ language })),
      middleware: this.#middleware(),
      outputChannel: this.#log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      // Bodies of models' names are text, never commands or HTML.
      markdown: { isTrusted: false, supportHtml: false },
    };
  }

  #middleware(): Middleware {
    const isServed = (uri: vscode.Uri) => this.#feed.isServed(uri);
    return {
      // Any other JSON stays with the editor: the server never sees it.
      didOpen: async (document, next) => {
        const kind = servedKind(document);
        if (kind === undefined) return;
        this.#feed.open(document.uri, kind);
        await next(document);
      },
      didChange: async (event, next) => {
        if (isServed(event.document.uri)) await next(event);
      },
      didClose: async (document, next) => {
        if (!isServed(document.uri)) return;
        this.#feed.close(document.uri);
        await next(document);
      },
      // The server names a node by its line among the model's nodes; here that is a text to go to and to peek into.
      provideDefinition: async (document, position, token, next) => {
        const found = (await next(document, position, token)) ?? [];
        const places = Array.isArray(found) ? found : [found];
        return places.map((place) => ('targetUri' in place ? place : toLink(place))).map(intoNodeList);
      },
    };
  }
}

/** At its start the client opens those documents that have a tab; a command may be about one that has none. */
async function openTheRest(client: LanguageClient, { DidOpenTextDocumentNotification }: Library): Promise<void> {
  const feature = client.getFeature(DidOpenTextDocumentNotification.method);
  const opened = new Set(feature.openDocuments);
  const rest = vscode.workspace.textDocuments.filter((one) => servedKind(one) !== undefined && !opened.has(one));
  await Promise.all(rest.map(async (document) => feature.getProvider(document)?.send(document)));
}

const toLink = ({ uri, range }: vscode.Location): vscode.LocationLink => ({ targetUri: uri, targetRange: range });

const intoNodeList = (link: vscode.LocationLink): vscode.LocationLink => ({
  ...link,
  targetUri: nodeListUri(link.targetUri),
});
