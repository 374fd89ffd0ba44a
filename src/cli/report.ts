import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { askedPrecisions } from '../builder/askedPrecisions.ts';
import { readBuildFolder, writeWhole } from '../builder/buildFolder.ts';
import { readBuildReport, readReport, toViewData } from '../builder/readBuild.ts';
import { spareInputs } from '../builder/spareInputs.ts';
import { fileTrouble, Unusable } from '../builder/unusable.ts';
import type { ViewData } from '../core/scene/viewData.ts';
import { readArguments } from './arguments.ts';
import { type Command, exitCodes, Usage } from './command.ts';
import { buildFileOptions, requireBuildFiles } from './fusion.ts';

export const report: Command = {
  name: 'report',
  summary: 'the views of a build as one page',
  help: `trtlens report --onnx MODEL.onnx [--layers F] [--log F] [--profile F] -o report.html
trtlens report --build FOLDER [--onnx MODEL.onnx] -o report.html

Writes one self-contained page with the graph and the fusion view; it loads nothing from anywhere.

  --build FOLDER       a build folder of trtlens, in place of the files
  -o, --output FILE    where it goes; a name that ends in .json gives the page's data alone
`,
  run: async (args, terminal) => {
    const options = { ...buildFileOptions, build: { type: 'string' }, output: { type: 'string', short: 'o' } } as const;
    const { values } = readArguments(args, options);
    const { output } = values;
    if (output === undefined) throw new Usage('-o report.html is missing');
    await spareInputs(output, [values.onnx, values.log, values.layers, values.profile]);
    await writeReport(output, await readData(values));
    terminal.note(`Written: ${output}`);
    return exitCodes.done;
  },
};

/** Writes the page, or its data alone where the name ends in `.json`. */
export async function writeReport(output: string, data: ViewData): Promise<void> {
  await writeWhole(output, output.endsWith('.json') ? JSON.stringify(data) : await page(data));
}

async function readData(values: {
  build?: string;
  onnx?: string;
  layers?: string;
  log?: string;
  profile?: string;
}): Promise<ViewData> {
  if (values.build === undefined)
    return toViewData(await readReport({ ...values, onnx: requireBuildFiles(values) }), null);
  if (values.log !== undefined || values.layers !== undefined || values.profile !== undefined)
    throw new Usage('--build goes without --log, --layers and --profile: the folder has its own');
  const build = await readBuildFolder(values.build);
  if (!build) throw new Unusable(`${values.build}: no build folder: manifest.json is missing or damaged`);
  const read = await readBuildReport(build, values.onnx);
  return { ...toViewData(read, build.manifest), asked: await askedPrecisions(build, read) };
}

/** The built page lies beside this bundle. Its comment says what is replaced by what. */
async function page(data: ViewData): Promise<string> {
  const folder = join(__dirname, 'webview');
  const read = (name: string) =>
    readFile(join(folder, name), 'utf8').catch((error: unknown) => {
      throw fileTrouble(join(folder, name), error);
    });
  const [html, style, script] = await Promise.all(['playground.html', 'playground.css', 'playground.js'].map(read));
  // In code, `<\/script` means the same; in JSON, `\u003c` does.
  const code = script!.replaceAll(/<\/(script)/gi, '<\\/$1');
  const json = JSON.stringify(data).replaceAll('<', '\\u003c');
  const policy = `default-src 'none'; script-src ${hash(code)}; style-src ${hash(style!)}; worker-src blob:; img-src data: blob:; base-uri 'none'; form-action 'none'`;
  return [
    ['<head>', `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`],
    [elementOf(html!, 'style'), `<style id="style">${style}</style>`],
    [elementOf(html!, 'view-data'), `<script type="application/json" id="view-data">${json}</script>`],
    [elementOf(html!, 'script'), `<script id="script">${code}</script>`],
  ].reduce((text, [from, to]) => replaceOnce(text, from!, to!), html!);
}

const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** The line of the page's markup with this id; the comment above speaks of the ids, too. */
function elementOf(html: string, id: string): string {
  const body = html.slice(html.indexOf('-->') + 3);
  const line = body.split('\n').find((one) => one.includes(`id="${id}"`));
  if (!line) throw new Error(`the page has no element with id="${id}"`);
  return line.trim();
}

function replaceOnce(text: string, from: string, to: string): string {
  const at = text.lastIndexOf(from);
  if (at < 0) throw new Error(`the page has no ${from}`);
  return text.slice(0, at) + to + text.slice(at + from.length);
}
