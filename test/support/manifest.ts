import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
// @ts-expect-error -- the script is plain JavaScript
import * as script from '../../scripts/generate/manifestTexts.mjs';
import { graphViewType } from '../../src/kernel/vscode/ids.ts';

export const root = fileURLToPath(new URL('../../', import.meta.url));
export const text = (file: string): string => readFileSync(join(root, file), 'utf8');

const readManifest = script.readManifest as (read: typeof text) => Manifest;

export interface Manifest {
  activationEvents: string[];
  capabilities: { untrustedWorkspaces: { restrictedConfigurations: string[] } };
  contributes: {
    commands: { command: string; category?: string; enablement?: string }[];
    menus: Record<string, { command?: string; submenu?: string; when?: string }[]>;
    submenus: { id: string }[];
    keybindings: { command: string; key: string; mac?: string; when: string }[];
    views: Record<string, { id: string }[]>;
    viewsWelcome: { contents: string; when: string }[];
    customEditors: { viewType: string }[];
    taskDefinitions: { type: string; properties: Record<string, { enum?: string[] }> }[];
    configuration: { properties: Record<string, { scope?: string; default: unknown; enum?: string[] }> };
    walkthroughs: { steps: { description: string; when?: string; media: { svg: string } }[] }[];
  };
}

/** package.json with its texts. */
export const manifest = readManifest(text);
/** On the graph of a model of this computer, with a build. */
const values: ReadonlyMap<string, string> = new Map([
  ['activeCustomEditorId', graphViewType],
  ['resourceExtname', '.onnx'],
  ['resourceScheme', 'file'],
  ['resourceFilename', 'net.onnx'],
  ['tensorrtLens.panel', 'report'],
  ['editorLangId', ''],
]);
const set = (...more: string[]): Set<string> =>
  new Set(['isWorkspaceTrusted', 'tensorrtLens.hasLog', 'tensorrtLens.hasBuilds', ...more]);

/** The commands of the palette, without the extension's prefix. `more`: further keys that are set. */
export function paletteOnGraph({ contributes }: Manifest, more: readonly string[]): string[] {
  const keys = set(...more);
  return contributes.commands
    .filter(({ command, enablement = '' }) => {
      const entry = contributes.menus['commandPalette']!.find((one) => one.command === command);
      return [entry?.when ?? '', enablement].every((when) => when === '' || holds(when, keys, values));
    })
    .map(({ command }) => command.replace('tensorrtLens.', ''));
}

/** The first level of a menu on a part of the graph, such as a node. */
export function menuOf({ contributes }: Manifest, menu: string, section: string, more: readonly string[]): string[] {
  const here = new Map([...values, ['webviewId', graphViewType], ['webviewSection', section]]);
  return contributes.menus[menu]!.filter(({ when }) => when === undefined || holds(when, set(...more), here)).map(
    ({ command, submenu }) => (command ?? submenu!).replace('tensorrtLens.', ''),
  );
}

/** Whether a `when` clause holds, as VS Code reads it: `a && !b || (c == d || e =~ /f/i)`. */
function holds(when: string, keys: ReadonlySet<string>, values: ReadonlyMap<string, string>): boolean {
  const tokens = when.match(/\/(?:\\.|\[[^\]]*\]|[^/\\[])+\/i?|[()]|&&|\|\||==|!=|=~|!|[\w.:*-]+/g) ?? [];
  let at = 0;
  const any = (): boolean => {
    let result = all();
    while (tokens[at] === '||') {
      at += 1;
      result = all() || result;
    }
    return result;
  };
  const all = (): boolean => {
    let result = one();
    while (tokens[at] === '&&') {
      at += 1;
      result = one() && result;
    }
    return result;
  };
  const one = (): boolean => {
    const token = tokens[at++]!;
    if (token === '!') return !one();
    if (token === '(') {
      const result = any();
      at += 1;
      return result;
    }
    const operator = tokens[at] ?? '';
    if (!['==', '!=', '=~'].includes(operator)) return keys.has(token) || values.has(token);
    const value = tokens[at + 1]!;
    at += 2;
    const now = values.get(token) ?? '';
    if (operator === '=~') return new RegExp(value.slice(1, value.lastIndexOf('/')), 'i').test(now);
    return (now === value) === (operator === '==');
  };
  const result = any();
  if (at !== tokens.length) throw new Error(`${when}: not read to its end`);
  return result;
}
