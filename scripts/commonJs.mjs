// The editor loads CommonJS, and Node starts it in half the time of modules; but esbuild cannot split into it: modules
// first, each of them then translated.
import { rm, writeFile } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import { build } from 'esbuild';

/**
 * An esbuild plugin for a build into modules with splitting: translates its outputs, and packs them into a file for each
 * of `packs`: a part belongs to the first pack with an entry that needs it at once. What no entry needs at once comes
 * into the pack `rest`, or into one for each dynamic import. A part runs when it is first required, and a pack is read
 * with its first part: hundreds of small files would take longer to read and compress worse.
 * @param packs pack → its entries, as paths of their sources
 * @param prefix what the name of a pack's file begins with, from the folder of the entries
 * @param byImport a pack for each dynamic import in place of `rest`
 */
export const commonJs = (packs, prefix, { byImport = false } = {}) => ({
  name: 'commonJs',
  setup({ initialOptions: options, onEnd }) {
    onEnd(async ({ metafile, errors }) => {
      if (errors.length > 0 || options.write === false) return;
      const { platform, target, minify, sourcemap, absWorkingDir = '', outdir, outExtension } = options;
      const extension = outExtension?.['.js'] ?? '.js';
      const outputs = Object.keys(metafile.outputs).filter((path) => path.endsWith(extension));
      const paths = outputs.map((path) => join(absWorkingDir, path));
      const { outputFiles } = await build({
        entryPoints: paths,
        outbase: outdir,
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
        allowOverwrite: true,
        // While developing, one file a part, with its map.
        write: Boolean(sourcemap),
      });
      if (outputFiles === undefined) return;
      const packOf = packed(metafile, byImport ? withImports(metafile, packs) : packs);
      // Numbers in place of hashes, which compress badly.
      const numbers = new Map([...packOf.keys()].map((name, index) => [name, `${index}`]));
      const numbered = (text) => text.replaceAll(/(?<=require\("\.[^"]*\/)[^"/]+(?="\))/g, (name) => numbers.get(name));
      const codes = new Map(outputFiles.map(({ path, text }) => [basename(path), numbered(text)]));
      const hashbang = /^#!.*\n/;
      await Promise.all(paths.map((path) => rm(path)));
      const names = [...codes.keys()];
      for (const pack of new Set(packOf.values())) {
        const parts = names
          .filter((name) => packOf.get(name) === pack)
          .map((name) => `${numbers.get(name)}(module,exports,require){${codes.get(name).replace(hashbang, '')}}`);
        // oxlint-disable-next-line no-await-in-loop -- a handful of files
        await writeFile(join(outdir, `${prefix}${pack}.cjs`), `module.exports={${parts.join(',\n')}};\n`);
      }
      const load = loader([...packOf.values()], prefix);
      const entries = Object.keys(options.entryPoints).map((name) => `${name}${extension}`);
      await Promise.all(
        entries.map((name) => {
          const [first = ''] = hashbang.exec(codes.get(name)) ?? [];
          return writeFile(join(outdir, name), `${first}${load}module.exports=load(${numbers.get(name)});\n`);
        }),
      );
    });
  },
});

/** Part → the pack that contains it. */
function packed({ outputs }, packs) {
  const packOf = new Map();
  for (const [pack, entries] of Object.entries(packs)) {
    for (const path of neededBy(outputs, entries)) if (!packOf.has(basename(path))) packOf.set(basename(path), pack);
  }
  for (const path of Object.keys(outputs)) if (!packOf.has(basename(path))) packOf.set(basename(path), 'rest');
  return packOf;
}

/** Outputs that entries need at once. */
function neededBy(outputs, entries) {
  const needed = new Set(Object.keys(outputs).filter((path) => entries.includes(outputs[path].entryPoint)));
  for (const path of needed)
    for (const { path: other, kind, external } of outputs[path].imports)
      if (!external && kind !== 'dynamic-import') needed.add(other);
  return needed;
}

/** The packs, and one for each other dynamic import: those that need the least code first, so that others read little else. */
function withImports({ outputs }, packs) {
  const known = Object.values(packs).flat();
  const bytes = (entry) => [...neededBy(outputs, [entry])].reduce((sum, path) => sum + outputs[path].bytes, 0);
  const others = Object.values(outputs)
    .flatMap(({ entryPoint }) => (entryPoint === undefined || known.includes(entryPoint) ? [] : [entryPoint]))
    .map((entry) => [bytes(entry), entry])
    .sort(([a], [b]) => a - b);
  const all = { ...packs };
  for (const [, entry] of others) all[parse(entry).name] = [...(all[parse(entry).name] ?? []), entry];
  return all;
}

/** Gives a part by the name of its file. Parts require each other by relative paths, and else what Node or the editor has. */
const loader = (packOf, prefix) => `const packOf=${JSON.stringify(packOf)};
const running={};
const load=(name)=>{
  const known=running[name];
  if(known)return known.exports;
  const module=running[name]={exports:{}};
  require("./${prefix}"+packOf[name]+".cjs")[name](module,module.exports,(path)=>path[0]==="."?load(path.slice(path.lastIndexOf("/")+1)):require(path));
  return module.exports;
};
`;
