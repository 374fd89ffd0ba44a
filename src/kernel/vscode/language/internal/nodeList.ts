import * as vscode from 'vscode';
import { parserName } from '../../../network/nodeNames.ts';
import { registerChangingTexts } from '../../platform/changingTexts.ts';
import type { Sessions } from '../../workspace/sessions.ts';
import type { FactsReader } from './knownFacts.ts';
import { oneLine } from '../../../base/text.ts';

const scheme = 'tensorrt-nodes';

/** The text that lists a model's nodes, one per line in the model's order. */
export function nodeListUri(model: vscode.Uri): vscode.Uri {
  return vscode.Uri.from({ scheme, path: `${model.path}.nodes`, query: model.toString() });
}

const modelOf = (uri: vscode.Uri): vscode.Uri => vscode.Uri.parse(uri.query, true);

/**
 * A model's nodes as a text, so that "Go to Definition" and peeking work for names in override files. A line that is
 * selected there is selected in the graph, too.
 */
export class NodeList implements vscode.Disposable {
  readonly #reader: FactsReader;
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #subscription: vscode.Disposable;

  constructor(reader: FactsReader, sessions: Sessions) {
    this.#reader = reader;
    this.#subscription = vscode.Disposable.from(
      this.#changed,
      registerChangingTexts(scheme, this.#changed, (uri) => this.#text(uri)),
      // Else its lines would be those of other nodes.
      sessions.onDidChange(({ uri }) => this.#changed.fire(nodeListUri(uri))),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor: { document }, selections }) => {
        if (document.uri.scheme !== scheme) return;
        const session = sessions.find(modelOf(document.uri));
        const lines = new Set(selections.map(({ active }) => active.line));
        const ids = session?.state.graph?.nodes.filter((_, line) => lines.has(line)).map(({ id }) => id) ?? [];
        if (session !== undefined && ids.length > 0) sessions.select(session, { kind: 'nodes', ids }, 'host');
      }),
    );
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  async #text(uri: vscode.Uri): Promise<string> {
    const { model, problem, build } = await this.#reader.read(modelOf(uri));
    if (model === null) return problem;
    const width = Math.min(24, Math.max(0, ...model.nodes.map(({ op }) => op.length)));
    const lines = model.nodes.map((node, i) => {
      const name = oneLine(parserName(node));
      const group = build?.foreignNodes[build.nodes[i]?.foreign ?? -1];
      return `${oneLine(node.op).padEnd(width)}  ${name}${group === undefined ? '' : `  (${oneLine(group.name)})`}`;
    });
    return lines.join('\n');
  }
}

/** A line break in a name would move every line after it. */
