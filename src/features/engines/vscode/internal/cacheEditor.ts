import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { readWhole } from '../../../../kernel/node/files/fileSource.ts';
import type { TimingCacheReading } from '../../../../kernel/node/run/timingCaches.ts';
import { unknownTarget } from '../../../../kernel/inspect/inspection.ts';
import { readCalibrationCache } from '../../../../kernel/quantization/quantization.ts';
import { decodeUtf8 } from '../../../../kernel/base/text.ts';
import { toolsOf } from '../../../../kernel/vscode/builds/toolsOf.ts';
import { commands } from '../../../../kernel/vscode/ids.ts';
import { nameOf } from '../../../../kernel/vscode/platform/nameOf.ts';
import { mayRun, tellUntrusted } from '../../../../kernel/vscode/platform/trust.ts';
import { withProgress } from '../../../../kernel/vscode/platform/withProgress.ts';
import { cacheDocument, mostRows } from './cachePage.ts';
import { renderHtml } from '../../../../kernel/document/render.ts';
import { commandLinks } from '../../../../kernel/vscode/platform/commandLinks.ts';
import { FilePages } from './filePages.ts';
import { inspectUri } from './inspectUri.ts';

/** Shows calibration and timing caches, read-only. */
export class CacheEditor implements vscode.CustomReadonlyEditorProvider {
  readonly #context: vscode.ExtensionContext;
  readonly #log: vscode.LogOutputChannel;
  readonly #pages = new FilePages((uri) => this.#page(uri));
  readonly #readings = new Map<string, { reading: TimingCacheReading; bytes: number }>();

  constructor(context: vscode.ExtensionContext, log: vscode.LogOutputChannel) {
    this.#context = context;
    this.#log = log;
  }

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => {} };
  }

  resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    return this.#pages.show(uri, panel, [commands.readTimingCache]);
  }

  /** Reads a timing cache with TensorRT, and shows its entries. */
  async read(uri: vscode.Uri): Promise<void> {
    if (!mayRun()) return tellUntrusted('Reading a timing cache');
    const { kind, counts } = await inspectUri(uri, unknownTarget);
    if (kind !== 'timing-cache') return;
    const reading = await withProgress(`Reading ${nameOf(uri)} with TensorRT`, this.#log, async (signal) => {
      const { readTimingCache } = await import('../../../../kernel/node/run/timingCaches.ts');
      const { python, launcher, driver } = toolsOf(this.#context, uri, {}).tools;
      const output = (line: string) => this.#log.info(line);
      return readTimingCache({ cache: uri.fsPath, scripts: dirname(driver), python, launcher, signal, output });
    });
    if (reading === undefined) return;
    this.#readings.set(uri.toString(), { reading, bytes: counts['bytes'] ?? 0 });
    await this.#pages.draw(uri);
  }

  async #page(uri: vscode.Uri): Promise<string> {
    const found = await inspectUri(uri, unknownTarget);
    const isCalibration = found.kind === 'calibration-cache';
    const text = isCalibration ? decodeUtf8(await readWhole(uri.fsPath)) : '';
    const kept = this.#readings.get(uri.toString());
    const document = cacheDocument({
      name: nameOf(uri),
      found,
      calibration: isCalibration ? readCalibrationCache(text) : null,
      // A cache that grew since is another one.
      reading: kept !== undefined && kept.bytes === found.counts['bytes'] ? kept.reading : null,
    });
    return renderHtml(document, { hrefOf: commandLinks({ read: [commands.readTimingCache, uri] }), most: mostRows });
  }
}
