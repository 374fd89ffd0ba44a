// One script, all bundles. Rolldown splits into CommonJS without `scripts/commonJs.mjs`: its 134 files start in 0.94 to 1.03
// times the CPU time (least of 25 alternating runs: inspect 0.99, fusion 1.02, diagnose 0.96). But it does not bundle style
// sheets, so there would be two bundlers, and the files would have to be packed as well.
// `--watch` rebuilds on change; `--minify` is for packaging; `--clean` empties dist first.
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { build, context } from 'esbuild';
import { inOneFile, inPacks } from './scripts/commonJs.mjs';
import { writeSamples } from './scripts/samples.mjs';

/** Inside a webview a worker must start from a Blob: `import code from 'worker:./layoutWorker.ts'` gives its bundled text. */
const workers = {
  name: 'workers',
  setup({ onResolve, onLoad, resolve }) {
    onResolve({ filter: /^worker:/ }, async ({ path, resolveDir }) => {
      const found = await resolve(path.slice('worker:'.length), { resolveDir, kind: 'import-statement' });
      return { path: found.path, namespace: 'worker' };
    });
    onLoad({ filter: /.*/, namespace: 'worker' }, async ({ path }) => {
      const options = { bundle: true, format: 'iife', target: 'es2022', minify: true, write: false, metafile: true };
      const { outputFiles, metafile } = await build({ ...options, entryPoints: [path] });
      return { contents: outputFiles[0].text, loader: 'text', watchFiles: Object.keys(metafile.inputs) };
    });
  },
};

/**
 * The editor's API as one module of named exports. Compiled to CommonJS, each `import * as vscode` would copy the whole
 * API, which took half of the extension's start.
 */
const editorApi = {
  name: 'editorApi',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^vscode$/ }, ({ kind, namespace, path }) =>
      kind === 'import-statement' && namespace !== 'editorApi' ? { path, namespace: 'editorApi' } : { external: true },
    );
    onLoad({ filter: /.*/, namespace: 'editorApi' }, async () => {
      const types = await readFile(fileURLToPath(import.meta.resolve('@types/vscode/index.d.ts')), 'utf8');
      const names = types.matchAll(/^ {0,4}\t?export (?:class|enum|namespace|const) (\w+)/gm);
      return { contents: `export { ${[...names].map(([, name]) => name).join(', ')} } from 'vscode';` };
    });
  },
};

/** Which code the editor reads when: see `inPacks`. */
const packs = {
  start: ['src/host/extension.ts'],
  reading: [
    'src/host/workspace/diskSource.ts',
    'src/builder/files/internal/parsers.ts',
    'src/core/diagnose/diagnoseLog.ts',
  ],
  server: ['src/server/main.ts'],
  clientLibrary: ['src/host/language/internal/clientLibrary.ts'],
};

/** What runs in a browser: the extension, in the editor's worker, and the language server, in a worker of its own. */
const inBrowserToo = { extension: 'src/host/web/extension.ts', server: 'src/server/worker.ts' };

/** Node's modules of which the browser's extension has a form of its own, by its file in src/host/web/internal/node. */
const nodeInBrowser = {
  path: 'path',
  fs: 'fs',
  'fs/promises': 'fsPromises',
  crypto: 'crypto',
  zlib: 'zlib',
  stream: 'stream',
  util: 'util',
  os: 'os',
  'timers/promises': 'timersPromises',
};

/** What runs programs, or needs their results, is not in the browser's extension. */
const onComputersOnly = new RegExp(
  [
    String.raw`^src/builder/(?:accuracy|cluster|repair|simulation|precision|surgery)/`,
    String.raw`^src/builder/quantization/(?:calibrat|measure|migrate)`,
    String.raw`^src/builder/run/(?!importBuild|internal/buildFailure)`,
    String.raw`^src/builder/tools/(?!shell|answers|packageSets|exportTrace|findProgram|internal/)`,
    String.raw`^src/builder/files/(?:writeZip|writeModel|fillWeights|linkWeights|borrowCaches)`,
    String.raw`^src/host/tasks/internal/`,
    String.raw`^src/cli/`,
  ].join('|'),
);

/** What language servers can do and ours does not: the language client goes without it. */
const usedFeatures = {
  name: 'usedFeatures',
  setup({ onLoad }) {
    const unused =
      /[\\/]vscode-languageclient[\\/]lib[\\/]common[\\/](?:notebook|diagnostic|fileOperations|callHierarchy|typeHierarchy|linkedEditingRange|inlineValue|colorProvider|selectionRange|typeDefinition|implementation|declaration|documentLink|semanticTokens|workspaceSymbol|signatureHelp)\.js$/;
    onLoad({ filter: unused }, () => ({
      contents: `class None {
          fillClientCapabilities() {} initialize() {} clear() {} getState() { return { kind: 'static' }; }
        }
        module.exports = new Proxy({}, { get: (_, name) => (name === '__esModule' ? undefined : None) });`,
      loader: 'js',
    }));
  },
};

/** Features that the browser goes without. */
const notInBrowser =
  /^src\/host\/(?:lint\/registerLint|agents\/registerAgentTools|accuracy\/registerAccuracy|surgery\/registerSurgery)\.ts$/;

/** What is only for the browser as it stands. */
const webOnly = /[\\/]src[\\/](?:host[\\/]web[\\/]|server[\\/]worker\.ts)/;

/**
 * For the browser: of the host and the builder, forms of their own ("web:" and the file), which use the web's form of
 * each module of Node's and of two of the host's, and, of what only computers have, functions that say so. A path is that
 * of a URI there: `fsPath` has backslashes in a browser on Windows. Everything else is the same code as on a computer.
 */
const inBrowser = {
  name: 'inBrowser',
  setup({ onResolve, onLoad }) {
    const root = fileURLToPath(new URL('.', import.meta.url));
    const web = (name) => ({ path: join(root, 'src/host/web/internal', `${name}.ts`) });
    const ofBrowser = ({ namespace, importer }) =>
      ['web', 'computer', 'nothing'].includes(namespace) || (namespace === 'file' && webOnly.test(importer));
    onResolve({ filter: /^node:/ }, ({ path, ...from }) => {
      if (!ofBrowser(from)) return undefined;
      const name = nodeInBrowser[path.slice('node:'.length)];
      return name === undefined ? { path, namespace: 'computer' } : web(`node/${name}`);
    });
    onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir, ...from }) => {
      if (!ofBrowser(from)) return undefined;
      const whole = join(resolveDir, path);
      const file = relative(root, whole).replaceAll('\\', '/');
      if (notInBrowser.test(file)) return { path: file, namespace: 'nothing' };
      if (onComputersOnly.test(file)) return { path: file, namespace: 'computer' };
      const replaced = /^src\/host\/(?:platform\/(fileUri)|language\/internal\/(clientLibrary))\.ts$/.exec(file);
      if (replaced && !webOnly.test(from.importer)) return web(replaced[1] ?? replaced[2]);
      return /^src\/(?:host(?!\/web\/)|builder)\//.test(file) ? { path: whole, namespace: 'web' } : undefined;
    });
    onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({
      contents: `const get = (_, name) => name === '__esModule' ? undefined : () => ({ dispose() {} });
        module.exports = Object.create(new Proxy({}, { get }));`,
    }));
    onLoad({ filter: /.*/, namespace: 'computer' }, () => ({
      resolveDir: root,
      contents: `const { UserError } = require('./src/builder/userError.ts');
        const only = () => { throw new UserError('This runs programs, so it needs VS Code on a computer'); };
        const get = (_, name) => name === '__esModule' ? undefined : function () { return only(); };
        module.exports = Object.create(new Proxy({}, { get }));`,
    }));
    const load = async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const globals = /\b(?:process|Buffer|setImmediate)\b/.test(text) && !path.endsWith('globals.ts');
      const imported = `import { process, Buffer, setImmediate } from ${JSON.stringify(web('node/globals').path)};`;
      const adapted = text.replaceAll(/\.fsPath\b/g, '.path').replaceAll(/\{ fsPath \}/g, '{ path: fsPath }');
      return { contents: `${globals ? imported : ''}${adapted}`, loader: 'ts', resolveDir: dirname(path) };
    };
    onLoad({ filter: /.*/, namespace: 'web' }, load);
    onLoad({ filter: webOnly }, load);
  },
};

/** Options of every bundle that ships. */
export function bundles({ minify = false, sourcemap = false } = {}) {
  const shared = { bundle: true, minify, sourcemap, logLevel: 'warning', metafile: true, legalComments: 'none' };
  const browser = {
    ...shared,
    platform: 'browser',
    format: 'iife',
    target: 'es2022',
    plugins: [workers],
    loader: { '.svg': 'text' },
  };
  return [
    {
      ...shared,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      splitting: true,
      entryPoints: {
        extension: 'src/host/extension.ts',
        server: 'src/server/main.ts',
        webExtension: inBrowserToo.extension,
        webServer: inBrowserToo.server,
      },
      outdir: 'dist',
      outExtension: { '.js': '.cjs' },
      chunkNames: 'parts/[name]-[hash]',
      define: { 'import.meta.dirname': '__dirname' },
      // The browser's form of libraries that have one: it does for Node, too.
      conditions: ['browser'],
      alias: { yaml: fileURLToPath(new URL('node_modules/yaml/browser/index.js', import.meta.url)) },
      plugins: [editorApi, usedFeatures, inBrowser, inPacks(packs, inBrowserToo)],
    },
    cliBundle('dist', shared),
    ...['editor', 'playground'].map((view) => ({
      ...browser,
      entryPoints: [`webview/${view}/main.ts`],
      outfile: `dist/webview/${view}.js`,
    })),
  ];
}

/**
 * Node's own modules, each loaded at the first use of what it exports: some take longer than all of a command's own code,
 * and most commands use few of what they import.
 */
const builtinModules = {
  name: 'builtinModules',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'node' } : { external: true },
    );
    // What an import takes over from a module in CommonJS form is its prototype, and what it exports at that time.
    onLoad({ filter: /.*/, namespace: 'node' }, ({ path }) => ({
      contents: `let loaded;
        const get = (_, name) =>
          name !== '__esModule' && (loaded ??= process.getBuiltinModule(${JSON.stringify(path)}))[name];
        module.exports = Object.create(new Proxy({}, { get }));`,
    }));
  },
};

/** Writes what `--help` prints for each command, so that a process need not load a command for it. */
const helpTexts = (file) => ({
  name: 'helpTexts',
  setup({ initialOptions: { write }, onEnd }) {
    onEnd(async ({ errors }) => {
      if (errors.length > 0 || write === false) return;
      const { outputFiles } = await build({
        bundle: true,
        write: false,
        platform: 'node',
        format: 'cjs',
        define: { 'import.meta.dirname': '""' },
        stdin: {
          contents: `import { commandTable } from './src/cli/commandTable.ts';
            const loaded = Object.entries(commandTable).map(async ([name, { load }]) => [name, (await load()).help]);
            module.exports = Promise.all(loaded);`,
          resolveDir: fileURLToPath(new URL('.', import.meta.url)),
        },
      });
      const module = { exports: Promise.resolve([]) };
      compileFunction(outputFiles[0].text, ['module', 'exports', 'require'])(
        module,
        {},
        createRequire(import.meta.url),
      );
      await writeFile(file, JSON.stringify(Object.fromEntries(await module.exports)));
    });
  },
});

/** The command line: its entry `cli.js` loads the code of a command when the command runs. */
export function cliBundle(outdir, options = {}) {
  return {
    bundle: true,
    ...options,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    splitting: true,
    metafile: true,
    entryPoints: { cli: 'src/cli/main.ts' },
    outdir,
    chunkNames: 'cli-[name]-[hash]',
    define: { 'import.meta.dirname': '__dirname' },
    plugins: [builtinModules, inOneFile('cli-parts.cjs'), helpTexts(join(outdir, 'cli-help.json'))],
  };
}

async function main(flags) {
  const watch = flags.includes('--watch');
  if (flags.includes('--clean')) await rm('dist', { recursive: true, force: true });
  // Their names change with what is in them.
  await rm('dist/parts', { recursive: true, force: true });
  await mkdir('dist/driver', { recursive: true });
  await mkdir('dist/webview', { recursive: true });
  await cp('src/driver', 'dist/driver', { recursive: true, filter: (path) => !path.includes('__pycache__') });
  // Node looks here before it reads the extension's manifest.
  await writeFile('dist/package.json', '{ "type": "commonjs" }\n');
  await cp('webview/playground/index.html', 'dist/webview/playground.html');
  await writeSamples('dist/samples');
  await Promise.all(
    bundles({ minify: flags.includes('--minify'), sourcemap: watch && 'linked' }).map(async (options) =>
      watch ? (await context(options)).watch() : build(options),
    ),
  );
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main(process.argv.slice(2));
