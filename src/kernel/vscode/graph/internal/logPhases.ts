import * as vscode from 'vscode';
import type { BuildStage } from '../../../read/tensorrt/buildOutput.ts';
import type { LogPart, LogStage } from './logOutline.ts';
import { logFiles } from './logLinks.ts';

/** Loaded with the first log. */
const loadOutline = () => import('./logOutline.ts');
type Outline = Awaited<ReturnType<typeof loadOutline>>;

/** Logs of running builds grow; what is drawn follows when they rest. */
const settleMs = 500;

/** Colors of the stages at the side of a log; those that are over at once have none. */
const colors: Partial<Record<BuildStage, string>> = {
  parse: 'charts.blue',
  optimize: 'charts.purple',
  calibrate: 'charts.yellow',
  tactics: 'charts.orange',
  finalize: 'charts.green',
  run: 'charts.foreground',
};

const kinds: Record<LogPart['kind'], vscode.SymbolKind> = {
  stage: vscode.SymbolKind.Namespace,
  step: vscode.SymbolKind.Operator,
  layer: vscode.SymbolKind.Object,
  warning: vscode.SymbolKind.Event,
  error: vscode.SymbolKind.Event,
};

/**
 * The stages of build logs that are open as text: in the Outline and the breadcrumbs, as colors along the scroll bar, and
 * as a word after the line where each begins.
 */
export class LogPhases implements vscode.DocumentSymbolProvider {
  readonly #read = new WeakMap<vscode.TextDocument, { version: number; stages: LogStage[] }>();
  readonly #types = Object.entries(colors).map(([stage, color]) => ({
    stage,
    type: vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      overviewRulerColor: new vscode.ThemeColor(color),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  }));
  readonly #begin = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor('editorCodeLens.foreground'), margin: '0 0 0 3em' },
  });
  #timer: ReturnType<typeof setTimeout> | undefined;

  register(): vscode.Disposable {
    const soon = (ms: number) => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#draw(), ms);
    };
    soon(0);
    return vscode.Disposable.from(
      new vscode.Disposable(() => clearTimeout(this.#timer)),
      this.#begin,
      ...this.#types.map(({ type }) => type),
      vscode.languages.registerDocumentSymbolProvider(logFiles, this, { label: 'TensorRT Build' }),
      vscode.window.onDidChangeVisibleTextEditors(() => soon(0)),
      vscode.workspace.onDidChangeTextDocument(({ document }) => {
        if (vscode.languages.match(logFiles, document) > 0) soon(settleMs);
      }),
    );
  }

  async provideDocumentSymbols(document: vscode.TextDocument): Promise<vscode.DocumentSymbol[]> {
    return this.#stages(document, await loadOutline()).map((stage) => {
      const symbol = symbolOf(document, stage);
      symbol.children = stage.parts.map((part) => symbolOf(document, part));
      return symbol;
    });
  }

  async #draw(): Promise<void> {
    const isLog = ({ document }: vscode.TextEditor) => vscode.languages.match(logFiles, document) > 0;
    if (!vscode.window.visibleTextEditors.some(isLog)) return;
    const outline = await loadOutline();
    for (const editor of vscode.window.visibleTextEditors.filter(isLog)) {
      const { document } = editor;
      const stages = this.#stages(document, outline);
      for (const { stage, type } of this.#types)
        editor.setDecorations(
          type,
          stages.filter((one) => one.stage === stage).map((one) => rangeOf(document, one)),
        );
      editor.setDecorations(
        this.#begin,
        stages.map((one) => ({
          range: document.lineAt(one.line - 1).range,
          renderOptions: { after: { contentText: `— ${textOf(one)}` } },
        })),
      );
    }
  }

  #stages(document: vscode.TextDocument, { logOutline }: Outline): LogStage[] {
    const known = this.#read.get(document);
    if (known?.version === document.version) return known.stages;
    const stages = logOutline(document.getText());
    this.#read.set(document, { version: document.version, stages });
    return stages;
  }
}

/** `timing tactics: 20 layers timed` */
const textOf = ({ title, detail }: LogPart): string => (detail === '' ? title : `${title}: ${detail}`);

const rangeOf = (document: vscode.TextDocument, { line, end }: LogPart): vscode.Range =>
  new vscode.Range(
    document.lineAt(line - 1).range.start,
    document.lineAt(Math.min(end, document.lineCount) - 1).range.end,
  );

const symbolOf = (document: vscode.TextDocument, part: LogPart): vscode.DocumentSymbol =>
  new vscode.DocumentSymbol(
    part.title === '' ? part.kind : part.title,
    part.detail,
    kinds[part.kind],
    rangeOf(document, part),
    document.lineAt(part.line - 1).range,
  );
