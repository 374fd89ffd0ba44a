import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The module `entry` with a text of one of its files replaced. Throws where the file does not have the text exactly once. */
export async function mutantOf<T>(entry: string, file: string, [from, to]: readonly [string, string]): Promise<T> {
  const mutate = (text: string) => {
    if (text.split(from).length !== 2) throw new Error(`${file} does not have ${JSON.stringify(from)} once`);
    return text.replace(from, () => to);
  };
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
    plugins: [
      {
        name: 'mutant',
        setup(bundler) {
          bundler.onLoad({ filter: new RegExp(`[\\\\/]${basename(file).replaceAll('.', '\\.')}$`) }, ({ path }) => ({
            contents: mutate(readFileSync(path, 'utf8')),
            loader: 'ts',
          }));
        },
      },
    ],
  });
  const code = Buffer.from(outputFiles[0]!.contents).toString('base64');
  return (await import(/* @vite-ignore */ `data:text/javascript;base64,${code}`)) as T;
}
