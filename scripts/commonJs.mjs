// The editor loads CommonJS, and Node starts it in half the time of modules; but esbuild cannot split into it: modules
// first, each of them then translated.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * An esbuild plugin for a build into modules with splitting: translates its outputs, the parts, and gives them to `write`.
 * A part runs when it is first required: by a number, since hashes compress badly.
 * @param write gets the folder and outputs of the build, the code of each part, the numbers of the parts by file and of
 *   the entries; resolves to the text of each file that an entry becomes
 */
export const commonJs = (write) => ({
  name: 'commonJs',
  setup({ initialOptions: options, onEnd }) {
    if (options.write === false) return;
    const { platform, target, minify, sourcemap, absWorkingDir = '', outdir, outExtension } = options;
    const [first] = Object.keys(options.entryPoints);
    // The modules in a folder of their own: a process that starts meanwhile finds the last build, not these.
    const modules = join(outdir, `${first}-modules`);
    options.outdir = modules;
    onEnd(async ({ metafile, errors }) => {
      if (errors.length > 0) return;
      const extension = outExtension?.['.js'] ?? '.js';
      const outputs = Object.keys(metafile.outputs).filter((path) => path.endsWith(extension));
      const numbers = new Map(outputs.map((path, index) => [basename(path), index]));
      const { outputFiles } = await build({
        entryPoints: outputs.map((path) => join(absWorkingDir, path)),
        outbase: modules,
        platform,
        target,
        minify,
        sourcemap,
        outdir,
        outExtension,
        format: 'cjs',
        supported: { 'dynamic-import': false },
        // Each part by itself: what it imports stays outside, and the other parts by their numbers where they are packed.
        bundle: true,
        plugins: [outside(sourcemap ? undefined : numbers)],
        logLevel: 'warning',
        legalComments: 'none',
        // While developing, one file a part, with its map.
        write: Boolean(sourcemap),
      });
      await rm(resolve(absWorkingDir, modules), { recursive: true });
      if (outputFiles === undefined) return;
      await mkdir(outdir, { recursive: true });
      const codes = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
      const entries = await write({
        outdir,
        outputs: metafile.outputs,
        parts: [...numbers.keys()].map((name) => codes.get(name)),
        numbers,
        entries: Object.keys(options.entryPoints).map((name) => {
          const file = `${name}${extension}`;
          return { file, number: numbers.get(file) };
        }),
      });
      // oxlint-disable-next-line no-await-in-loop -- a few files
      for (const [file, text] of Object.entries(entries)) await replaceFile(join(outdir, file), text);
    });
  },
});

/** Nothing that a part imports comes into it. */
const outside = (numbers) => ({
  name: 'outside',
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ kind, path }) => {
      if (kind === 'entry-point') return undefined;
      const number = path.startsWith('.') ? numbers?.get(basename(path)) : undefined;
      return { path: number === undefined ? path : `./${number}`, external: true };
    });
  },
});

/** Replaces a file as a whole: a process that runs meanwhile has the old one open. */
async function replaceFile(path, text) {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}

/** What `load` of a part's number has in common: parts require each other by relative paths. */
const loaderOf = (run) => `const running={};
const load=(number)=>{
  const known=running[number];
  if(known)return known.exports;
  const module=running[number]={exports:{}};
  const partOrOther=(path)=>path[0]==="."?load(path.slice(2)):require(path);
  ${run}
  return module.exports;
};
`;

/**
 * For the editor, which keeps code that it has compiled: the parts in a file for each of `packs`, which is read with its
 * first part. A part belongs to the first pack with an entry that needs it at once; what no entry needs at once comes into
 * the pack `both`, `web` or `rest`: needed in browsers and elsewhere, only there, only elsewhere. Hundreds of small files
 * would take longer to read and compress worse.
 * @param packs pack → its entries, as paths of their sources
 * @param web the entries of the browser's extension and of its language server's worker, as paths of their sources; they
 *   become one file `web.js`
 */
export const inPacks = (packs, web) =>
  commonJs(async ({ outdir, outputs, parts, numbers, entries }) => {
    await mkdir(join(outdir, 'parts'), { recursive: true });
    const inWeb = reached(outputs, Object.values(web), true);
    const packOf = packed(outputs, packs, inWeb);
    const packNames = [...numbers.keys()].map((name) => packOf.get(name));
    for (const pack of new Set(packNames)) {
      const inside = parts.flatMap((code, number) =>
        packNames[number] === pack ? `${number}(module,exports,require,__dirname){${code}}` : [],
      );
      // oxlint-disable-next-line no-await-in-loop -- a handful of files
      await writeFile(join(outdir, 'parts', `${pack}.cjs`), `module.exports={${inside.join(',\n')}};\n`);
    }
    const numberOf = (source) =>
      numbers.get(basename(Object.keys(outputs).find((path) => outputs[path].entryPoint === source)));
    const webNumbers = Object.entries(web).map(([name, source]) => [name, numberOf(source)]);
    const packList = JSON.stringify(packNames);
    const run = 'require("./parts/"+packOf[number]+".cjs")[number](module,module.exports,partOrOther,__dirname);';
    const loader = `const packOf=${packList};\n${loaderOf(run)}`;
    const own = entries.filter(({ number }) => !webNumbers.some(([, other]) => other === number));
    return {
      ...Object.fromEntries(own.map(({ file, number }) => [file, `${loader}module.exports=load(${number});\n`])),
      'web.js': webEntry({
        packs: [...new Set([...inWeb].map((path) => packOf.get(basename(path))))],
        packOf: packNames,
        ...Object.fromEntries(webNumbers),
      }),
    };
  });

/**
 * The extension in a browser: the editor evaluates it as a function of `module` and `require`, which gives only the
 * editor's API, so the packs are read through that and evaluated the same way. The language server's worker starts from
 * the same text, which `activate` of the extension gets.
 */
const webEntry = ({ packs, packOf, extension, server }) => `const packNames=${JSON.stringify(packs)};
const loaderOf=(packs,require)=>{
  const packOf=${JSON.stringify(packOf)};
  ${loaderOf('packs[packOf[number]][number](module,module.exports,partOrOther,"");')}
  return load;
};
let running;
module.exports={
  async activate(context){
    const {Uri,workspace}=require("vscode");
    const texts=await Promise.all(packNames.map(async(name)=>{
      const file=Uri.joinPath(context.extensionUri,"dist","parts",name+".cjs");
      return new TextDecoder().decode(await workspace.fs.readFile(file));
    }));
    const packs={};
    texts.forEach((text,index)=>{
      const module={};
      new Function("module",text)(module);
      packs[packNames[index]]=module.exports;
    });
    const own=packNames.map((name,index)=>"((module)=>{"+texts[index]+"packs."+name+"=module.exports;})({});");
    running=loaderOf(packs,require)(${extension});
    return running.activate(context,"const packs={};"+own.join("")+"("+loaderOf+")(packs)(${server});");
  },
  deactivate:()=>running?.deactivate(),
};
`;

/** The outputs that entries need at once, or also later. */
function reached(outputs, sources, later) {
  const needed = new Set(Object.keys(outputs).filter((path) => sources.includes(outputs[path].entryPoint)));
  for (const path of needed)
    for (const { path: other, kind, external } of outputs[path].imports)
      if (!external && (later || kind !== 'dynamic-import')) needed.add(other);
  return needed;
}

/** Part → the pack that contains it, both by name. */
function packed(outputs, packs, inWeb) {
  const packOf = new Map();
  const put = (pack, paths) => {
    for (const name of [...paths].map((path) => basename(path))) if (!packOf.has(name)) packOf.set(name, pack);
  };
  for (const [pack, entries] of Object.entries(packs)) put(pack, reached(outputs, entries, false));
  const elsewhere = reached(outputs, Object.values(packs).flat(), true);
  for (const path of Object.keys(outputs))
    put(!inWeb.has(path) ? 'rest' : elsewhere.has(path) ? 'both' : 'web', [path]);
  return packOf;
}

/**
 * For a process of its own: the parts one after the other in a file, of which a process reads and compiles those that it
 * runs.
 */
export const inOneFile = (name) =>
  commonJs(async ({ outdir, parts, entries }) => {
    await replaceFile(join(outdir, name), parts.join(''));
    let end = 0;
    const ends = parts.map((code) => (end += Buffer.byteLength(code)));
    const loader = `const {openSync,readSync}=require("node:fs");
const {compileFunction}=require("node:vm");
const ends=${JSON.stringify(ends)};
const filename=__dirname+"/${name}";
const file=openSync(filename);
${loaderOf(`const start=ends[number-1]??0;
  const code=Buffer.allocUnsafe(ends[number]-start);
  readSync(file,code,0,code.length,start);
  compileFunction(code.toString(),["module","exports","require","__dirname"],{filename})(module,module.exports,partOrOther,__dirname);`)}`;
    return Object.fromEntries(
      entries.map(({ file, number }) => [file, `#!/usr/bin/env node\n${loader}module.exports=load(${number});\n`]),
    );
  });
