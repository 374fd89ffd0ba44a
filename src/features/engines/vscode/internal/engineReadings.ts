import { createHash } from 'node:crypto';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { writeWhole } from '../../../../kernel/node/files/writeWhole.ts';
import type { EngineReading } from '../../../../kernel/inspect/inspection.ts';
import { toolsOf } from '../../../../kernel/vscode/builds/toolsOf.ts';
import { openGraph } from '../../../../kernel/vscode/graph/graphEditorProvider.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { showError } from '../../../../kernel/vscode/platform/messages.ts';
import { mayRun, tellUntrusted } from '../../../../kernel/vscode/platform/trust.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { fileUri } from '../../../../kernel/vscode/platform/fileUri.ts';

/** What TensorRT said of engines in this session, until their files change. */
export class EngineReadings {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #read = new Map<string, { reading: EngineReading; state: string }>();

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
  }

  /** null: not read, or the file has changed since. */
  async of(uri: vscode.Uri): Promise<EngineReading | null> {
    const kept = this.#read.get(uri.toString());
    return kept !== undefined && kept.state === (await stateOf(uri)) ? kept.reading : null;
  }

  /** Runs TensorRT on an engine, with the interpreter or launcher of the settings; false: it did not run, which the user was told. */
  async read(uri: vscode.Uri, product: 'tensorrt' | 'tensorrt-rtx' | null): Promise<boolean> {
    if (!mayRun()) {
      await tellUntrusted('Reading an engine');
      return false;
    }
    const state = await stateOf(uri);
    const reading = await withProgress(`Reading ${nameOf(uri)} with TensorRT`, this.#log, async (signal) => {
      const { readEngine } = await import('../../../../kernel/node/run/readEngine.ts');
      const { python, launcher, driver } = toolsOf(this.#context, uri, {}).tools;
      const output = (line: string) => this.#log.info(line);
      return readEngine({ path: uri.fsPath, product, scripts: dirname(driver), python, launcher, signal, output });
    });
    if (reading === undefined) return false;
    this.#read.set(uri.toString(), { reading, state });
    return true;
  }

  /** Opens the layers of an engine that was read, as a graph. */
  async openLayers(uri: vscode.Uri): Promise<void> {
    const reading = await this.of(uri);
    if (reading === null || reading.layers === null) {
      const message = `${nameOf(uri)}: read the engine with TensorRT first.`;
      await showError(message);
      return;
    }
    // A folder for each, because what is next to a file of layers is taken for its build.
    const place = createHash('sha256').update(uri.toString()).digest('hex').slice(0, 16);
    const folder = join(this.#context.globalStorageUri.fsPath, 'layers', place);
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${nameOf(uri)}.layers.json`);
    await writeWhole(path, reading.layers);
    await openGraph(fileUri(path));
  }
}

/** Changes whenever the file is written. */
async function stateOf(uri: vscode.Uri): Promise<string> {
  const { mtimeMs, size } = await stat(uri.fsPath);
  return `${mtimeMs} ${size}`;
}
