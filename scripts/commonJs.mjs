// The editor loads CommonJS, into which esbuild cannot split: modules first, each of them then translated.
import { rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

/**
 * An esbuild plugin for a build into modules with splitting: translates its outputs, and packs them into a file for each
 * of `packs`: a part belongs to the first pack with an entry that needs it at once. What no entry needs at once comes
 * into the pack `rest`. A part runs when it is first required, and a pack is read with its first part: hundreds of small
 * files would take longer to read and compress worse.
 * @param packs pack → its entries, as paths of their sources
 */
export const commonJs = (packs) => ({
  name: 'commonJs',
  setup({ initialOptions: options, onEnd }) {
    onEnd(async ({ metafile, errors }) => {
      if (errors.length > 0 || options.write === false) return;
      const paths = Object.keys(metafile.outputs).filter((path) => path.endsWith('.cjs'));
      const { platform, target, minify, sourcemap, outdir, outExtension } = options;
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
      const packOf = packed(metafile, packs);
      // Numbers in place of hashes, which compress badly.
      const numbers = new Map([...packOf.keys()].map((name, index) => [name, `${index}`]));
      const numbered = (text) => text.replaceAll(/(?<=require\("\.[^"]*\/)[^"/]+(?="\))/g, (name) => numbers.get(name));
      const codes = new Map(outputFiles.map(({ path, text }) => [basename(path), numbered(text)]));
      await Promise.all(paths.map((path) => rm(path)));
      const names = [...codes.keys()];
      for (const pack of new Set(packOf.values())) {
        const parts = names
          .filter((name) => packOf.get(name) === pack)
          .map((name) => `${numbers.get(name)}(module,exports,require){${codes.get(name)}}`);
        // oxlint-disable-next-line no-await-in-loop -- a handful of files
        await writeFile(join(outdir, 'parts', `${pack}.cjs`), `module.exports={${parts.join(',\n')}};\n`);
      }
      await writeFile(join(outdir, 'parts', 'load.cjs'), loader([...packOf.values()]));
      const entries = Object.keys(options.entryPoints).map((name) => `${name}.cjs`);
      await Promise.all(
        entries.map((name) =>
          writeFile(join(outdir, name), `module.exports=require("./parts/load.cjs")(${numbers.get(name)});\n`),
        ),
      );
    });
  },
});

/** Part → the pack that contains it. */
function packed({ outputs }, packs) {
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

/** Gives a part by the name of its file. Parts require each other by relative paths, and else what Node or the editor has. */
const loader = (packOf) => `const packOf=${JSON.stringify(packOf)};
const running={};
const load=(name)=>{
  const known=running[name];
  if(known)return known.exports;
  const module=running[name]={exports:{}};
  require("./"+packOf[name]+".cjs")[name](module,module.exports,(path)=>path[0]==="."?load(path.slice(path.lastIndexOf("/")+1)):require(path));
  return module.exports;
};
module.exports=load;
`;
