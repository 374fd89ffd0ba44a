import * as vscode from 'vscode';
import type { ParsedFiles } from '../../../../kernel/node/files/parsedFiles.ts';
import { engineOriginOf, type EngineTarget, unknownTarget } from '../../../../kernel/inspect/inspection.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { enterText, pickItem } from '../../../../kernel/vscode/platform/askUser.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { engineDocument } from './enginePage.ts';
import { renderHtml } from '../../../../kernel/document/render.ts';
import { commandLinks } from '../../../../kernel/vscode/platform/commandLinks.ts';
import { engineLayers } from './engineLayers.ts';
import type { EngineReadings } from './engineReadings.ts';
import { FilePages } from './filePages.ts';
import { inspectUri } from './inspectUri.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** Shows an engine, read-only: what its header says, whether it loads, the build that it came from. */
export class EngineEditor implements vscode.CustomReadonlyEditorProvider {
  readonly #files: ParsedFiles;
  readonly #readings: EngineReadings;
  readonly #pages = new FilePages((uri) => this.#page(uri));
  /** What the engines are compared with; the user chooses it. */
  #target: EngineTarget = unknownTarget;

  constructor(files: ParsedFiles, readings: EngineReadings) {
    this.#files = files;
    this.#readings = readings;
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => {} };
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const { compareEngine, openGraph, readEngine, openEngineLayers } = commands;
    return this.#pages.show(uri, panel, [compareEngine, openGraph, readEngine, openEngineLayers]);
  }

  /** Asks what the engines are to run on, and shows the verdicts again. */
  async compare(): Promise<void> {
    const version = await enterText({
      title: 'Compare with a Version of TensorRT',
      prompt: 'The version that will run the engine; begin with rtx- for TensorRT-RTX',
      placeHolder: '10.6.0 or rtx-1.7.1',
      validateInput: (text) => (versionForm.test(text) ? undefined : 'Enter a version such as 10.6.0 or rtx-1.7.1'),
    });
    if (version === undefined) return;
    const computeCapability = await enterText({
      title: 'Compare with a GPU',
      prompt: 'The compute capability of the GPU; empty: not known',
      placeHolder: '8.9',
      validateInput: (text) =>
        text === '' || /^\d+\.\d$/.test(text) ? undefined : 'Enter a compute capability such as 8.9',
    });
    if (computeCapability === undefined) return;
    const [, rtx, number = null] = versionForm.exec(version) ?? [];
    // TensorRT-RTX has only one.
    const runtime = rtx === undefined ? await askForRuntime() : null;
    if (runtime === undefined) return;
    const platform = rtx === undefined ? await askForPlatform() : null;
    if (platform === undefined) return;
    this.#target = {
      product: rtx === undefined ? 'tensorrt' : 'tensorrt-rtx',
      version: number,
      computeCapability: computeCapability === '' ? null : computeCapability,
      runtime,
      platform,
    };
    await this.#pages.draw();
  }

  /** Reads an engine with TensorRT, and shows what it says. */
  async read(uri: vscode.Uri): Promise<void> {
    const { tensorrt, engine } = await inspectUri(uri, this.#target);
    if (engine !== undefined && (await this.#readings.read(uri, tensorrt.product))) await this.#pages.draw(uri);
  }

  async #page(uri: vscode.Uri): Promise<string> {
    const [{ buildOfEngine, whyStale }, { judgeEngine }] = await Promise.all([
      import('../../../../kernel/node/store/buildOfEngine.ts'),
      import('../../../../kernel/inspect/inspectFile.ts'),
    ]);
    const [found, build, reading] = await Promise.all([
      inspectUri(uri, this.#target),
      buildOfEngine(uri.fsPath).catch(() => null),
      this.#readings.of(uri),
    ]);
    const layers = await engineLayers(uri, build, this.#files);
    const stale = build === null ? null : await whyStale(build, this.#files);
    const model = build === null ? null : fileUri(build.manifest.model.file);
    const judged = judgeEngine(found, this.#target, { origin: build && engineOriginOf(build.manifest), reading });
    return renderHtml(
      engineDocument({ name: nameOf(uri), found: judged, build: build?.manifest ?? null, stale, reading, layers }),
      {
        hrefOf: commandLinks({
          compare: [commands.compareEngine],
          model: [commands.openGraph, model],
          read: [commands.readEngine, uri],
          layers: [commands.openEngineLayers, uri],
        }),
      },
    );
  }
}

async function askForRuntime(): Promise<EngineTarget['runtime'] | undefined> {
  const items = [
    { label: 'Full', description: 'libnvinfer, what the tensorrt package installs', runtime: 'full' as const },
    { label: 'Lean', description: 'libnvinfer_lean, for version-compatible engines', runtime: 'lean' as const },
    { label: 'Dispatch', description: 'libnvinfer_dispatch, loads lean runtimes', runtime: 'dispatch' as const },
  ];
  const picked = await pickItem(items, { title: 'Select the Runtime Library' });
  return picked?.runtime;
}

async function askForPlatform(): Promise<EngineTarget['platform'] | undefined> {
  const items = [
    { label: 'Linux', platform: 'linux' as const },
    { label: 'Windows', platform: 'windows' as const },
    { label: 'Not Known', platform: null },
  ];
  const picked = await pickItem(items, { title: 'Select the Operating System' });
  return picked?.platform;
}

const versionForm = /^(rtx-)?(\d+(?:\.\d+){0,3})$/;
