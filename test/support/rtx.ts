import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { ensurePackages, type Installed } from '../../src/kernel/node/tools/ensurePackages.ts';

/** The driver as it lies in the sources. */
export const driverPath = fileURLToPath(new URL('../../src/driver/build_engine.py', import.meta.url));

let rtx: Promise<Installed> | undefined;

/** TensorRT-RTX as a user gets it, from the user's own cache once it is there. */
export const rtxForTests = (): Promise<Installed> =>
  (rtx ??= ensurePackages('tensorrt-rtx', {
    confirm: () => Promise.resolve(true),
    progress: (line) => console.log(line),
  }));

/** A folder of the calling test file, gone after its last test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tensorrt-lens-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
