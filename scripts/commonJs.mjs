// The editor loads CommonJS, and Node starts it in half the time of modules; but esbuild cannot split into it: modules
// first, each of them then translated.
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

/**
 * An esbuild plugin for a build into modules with splitting: translates its outputs, the parts, and gives them to `write`.
 * A part runs when it is first required: by a number, since hashes compress badly.
 * @param write gets the options and outputs of the build, the code of each part, and the numbers of the parts by file
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
      const paths = outputs.map((path) => join(absWorkingDir, path));
      const { outputFiles } = await build({
        entryPoints: paths,
        outbase: modules,
        platform,
        target,
        minify,
        sourcemap,
        outdir,
        outExtension,
        format: 'cjs',
        supported: { 'dynamic-import': false },
        logLevel: 'warning',
        legalComments: 'none',
        // While developing, one file a part, with its map.
        write: Boolean(sourcemap),
      });
      await rm(resolve(absWorkingDir, modules), { recursive: true });
      if (outputFiles === undefined) return;
      await mkdir(outdir, { recursive: true });
      const numbers = new Map(outputFiles.map(({ path }, index) => [basename(path), index]));
      const numbered = (text) => text.replaceAll(/(?<=require\("\.[^"]*\/)[^"/]+(?="\))/g, (name) => numbers.get(name));
      const hashbang = /^#!.*\n/;
      const loader = await write({
        outdir,
        outputs: metafile.outputs,
        parts: outputFiles.map(({ text }) => numbered(text).replace(hashbang, '')),
        numbers,
      });
      for (const entry of Object.keys(options.entryPoints).map((name) => `${name}${extension}`)) {
        const number = numbers.get(entry);
        const [line = ''] = hashbang.exec(outputFiles[number].text) ?? [];
        // oxlint-disable-next-line no-await-in-loop -- one or two files
        await replaceFile(join(outdir, entry), `${line}${loader}module.exports=load(${number});\n`);
      }
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
  const partOrOther=(path)=>path[0]==="."?load(path.slice(path.lastIndexOf("/")+1)):require(path);
  ${run}
  return module.exports;
};
`;

/**
 * For the editor, which keeps code that it has compiled: the parts in a file for each of `packs`, which is read with its
 * first part. A part belongs to the first pack with an entry that needs it at once; what no entry needs at once comes into
 * the pack `rest`. Hundreds of small files would take longer to read and compress worse.
 * @param packs pack → its entries, as paths of their sources
 */
export const inPacks = (packs) =>
  commonJs(async ({ outdir, outputs, parts, numbers }) => {
    await mkdir(join(outdir, 'parts'), { recursive: true });
    const packOf = packed(outputs, packs);
    const packNames = [...numbers.keys()].map((name) => packOf.get(name));
    for (const pack of new Set(packNames)) {
      const inside = parts.flatMap((code, number) =>
        packNames[number] === pack ? `${number}(module,exports,require,__dirname){${code}}` : [],
      );
      // oxlint-disable-next-line no-await-in-loop -- a handful of files
      await writeFile(join(outdir, 'parts', `${pack}.cjs`), `module.exports={${inside.join(',\n')}};\n`);
    }
    const run = 'require("./parts/"+packOf[number]+".cjs")[number](module,module.exports,partOrOther,__dirname);';
    return `const packOf=${JSON.stringify(packNames)};\n${loaderOf(run)}`;
  });

/** Part → the pack that contains it, both by name. */
function packed(outputs, packs) {
  const packOf = new Map();
  for (const [pack, entries] of Object.entries(packs)) {
    const needed = new Set(Object.keys(outputs).filter((path) => entries.includes(outputs[path].entryPoint)));
    for (const path of needed) {
      if (!packOf.has(basename(path))) packOf.set(basename(path), pack);
      for (const { path: other, kind, external } of outputs[path].imports)
        if (!external && kind !== 'dynamic-import') needed.add(other);
    }
  }
  for (const path of Object.keys(outputs)) if (!packOf.has(basename(path))) packOf.set(basename(path), 'rest');
  return packOf;
}

/**
 * For a process of its own: the parts one after the other in a file, of which a process reads and compiles those that it
 * runs.
 */
export const inOneFile = (name) =>
  commonJs(async ({ outdir, parts }) => {
    await replaceFile(join(outdir, name), parts.join(''));
    let end = 0;
    const ends = parts.map((code) => (end += Buffer.byteLength(code)));
    return `const {openSync,readSync}=require("node:fs");
const {compileFunction}=require("node:vm");
const ends=${JSON.stringify(ends)};
const filename=__dirname+"/${name}";
const file=openSync(filename);
${loaderOf(`const start=ends[number-1]??0;
  const code=Buffer.allocUnsafe(ends[number]-start);
  readSync(file,code,0,code.length,start);
  compileFunction(code.toString(),["module","exports","require","__dirname"],{filename})(module,module.exports,partOrOther,__dirname);`)}`;
  });
