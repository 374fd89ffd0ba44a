// How the tests in test/host/extension run inside VS Code. `node test/host/run.mjs host` builds them and sets the
// variables; with DESKTOP=1 they run in a downloaded desktop VS Code instead of the one for the browser.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from '@vscode/test-cli';

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const tests = pathOf('../../out/host/tests/');

export default defineConfig({
  files: readdirSync(tests)
    .filter((file) => file.endsWith('.test.cjs'))
    .map((file) => tests + file),
  extensionDevelopmentPath: process.env.EXTENSION_FOLDER ?? pathOf('../..'),
  workspaceFolder: process.env.TEST_WORKSPACE ?? pathOf('../fixtures/models'),
  ...(process.env.DESKTOP ? {} : { useInstallation: { fromPath: pathOf('runtime/vscode-shim.cjs') } }),
  mocha: { ui: 'bdd', timeout: 60_000, reporter: pathOf('extension/reporter.cjs') },
});
