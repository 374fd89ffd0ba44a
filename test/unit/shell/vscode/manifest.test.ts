import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { buildOptions } from '../../../../src/kernel/build/buildOptions.ts';
// @ts-expect-error -- the script is plain JavaScript
import * as script from '../../../../scripts/generate/manifestTexts.mjs';
import { graphCommands, graphKeys } from '../../../../src/kernel/protocol/graphActions.ts';
import {
  commands,
  contextKeys,
  fusionTreeId,
  historyTreeId,
  accuracyViewType,
  cacheViewType,
  comparisonViewType,
  engineViewType,
  fusionPageViewType,
  graphViewType,
  quantizationViewType,
  settingsSection,
  taskType,
} from '../../../../src/kernel/vscode/ids.ts';
import { bisectViewType } from '../../../../src/kernel/vscode/ids.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const text = (file: string): string => readFileSync(join(root, file), 'utf8');

const readManifest = script.readManifest as (read: typeof text) => Manifest;

interface Manifest {
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

const manifest = readManifest(text);
const { contributes } = manifest;
const hostSource = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => text(`src/${file}`))
  .join('\n');

it('contributes exactly the commands, views, editors and task types that the code knows', () => {
  expect(contributes.commands.map(({ command }) => command).toSorted()).toEqual(Object.values(commands).toSorted());
  expect(
    Object.values(contributes.views)
      .flat()
      .map(({ id }) => id),
  ).toEqual([fusionTreeId, historyTreeId]);
  expect(contributes.customEditors.map(({ viewType }) => viewType)).toEqual([
    graphViewType,
    engineViewType,
    cacheViewType,
  ]);
  expect(contributes.taskDefinitions.map(({ type }) => type)).toEqual([taskType]);
});

it('is started by each kind of page that comes back with its window, and not by every file of JSON', () => {
  expect(manifest.activationEvents).not.toContain('onLanguage:json');
  expect(manifest.activationEvents.filter((event) => event.startsWith('onWebviewPanel:'))).toEqual(
    [accuracyViewType, bisectViewType, comparisonViewType, fusionPageViewType, quantizationViewType].map(
      (type) => `onWebviewPanel:${type}`,
    ),
  );
});

it('contributes the keys that the help of the graph lists', () => {
  const keys = contributes.keybindings.map(({ command, key, mac = key }) => ({ command, key, mac }));
  expect(keys).toEqual(
    graphKeys.map(({ action, key, mac }) => ({ command: graphCommands[`graph.${action}`], key, mac })),
  );
  for (const { when } of contributes.keybindings) expect(when).toContain(`activeCustomEditorId == ${graphViewType}`);
});

it('offers the back-ends that a build takes as the default', () => {
  const { enum: offered } = contributes.configuration.properties['tensorrtLens.build.backend']!;
  expect(offered).toEqual(buildOptions.backend.kind);
});

it('gives every command the same category, so that they stand together in the palette', () => {
  expect(contributes.commands.filter(({ category }) => category !== 'TensorRT')).toEqual([]);
});

it('offers only commands that exist', () => {
  const known = new Set(contributes.commands.map(({ command }) => command));
  const inMenus = Object.values(contributes.menus)
    .flat()
    .flatMap(({ command }) => command ?? []);
  const inTexts = [...text('package.nls.json').matchAll(/\(command:([\w.]+)[)?]/g)].map(([, id]) => id!);
  const own = [...inMenus, ...inTexts].filter((id) => !id.startsWith('workbench.'));
  expect(own.length).toBeGreaterThan(20);
  expect(own.filter((id) => !known.has(id))).toEqual([]);
});

it('asks in `when` clauses only for keys that the code sets', () => {
  const clauses = JSON.stringify([contributes.menus, contributes.viewsWelcome, contributes.commands]);
  const asked = new Set([...clauses.matchAll(/tensorrtLens\.\w+(?= (?:==|!=|&&|\|\|)|")/g)].map(([key]) => key));
  const keys = new Set<string>(Object.values(contextKeys));
  const ids = new Set([
    ...Object.values<string>(commands),
    ...contributes.submenus.map(({ id }) => id),
    graphViewType,
    engineViewType,
    cacheViewType,
    fusionTreeId,
    historyTreeId,
  ]);
  expect([...asked].filter((key) => !keys.has(key) && !ids.has(key))).toEqual([]);
  for (const name of Object.keys(contextKeys)) expect(hostSource).toContain(`contextKeys.${name}`);
});

it('reads every setting that it contributes, and lets no workspace name a program', () => {
  const { properties } = contributes.configuration;
  for (const name of Object.keys(properties)) {
    expect(name.startsWith(`${settingsSection}.`)).toBe(true);
    expect(hostSource).toContain(`'${name.slice(settingsSection.length + 1)}'`);
  }
  const restricted = manifest.capabilities.untrustedWorkspaces.restrictedConfigurations;
  const programs = Object.entries(properties).filter(([name]) => name.endsWith('.path'));
  expect(programs.length).toBeGreaterThan(2);
  for (const [name, { scope }] of programs) {
    expect(scope).toBe('machine');
    expect(restricted).toContain(name);
  }
});

it('ships every picture that it names', () => {
  const pictures = [...text('package.json').matchAll(/"(media\/[\w./-]+)"/g)].map(([, file]) => file!);
  expect(pictures.length).toBeGreaterThan(4);
  for (const file of pictures) expect(text(file).length, file).toBeGreaterThan(100);
});

/** On the graph of a model of this computer, with a build. */
const values = new Map([
  ['activeCustomEditorId', graphViewType],
  ['resourceExtname', '.onnx'],
  ['resourceScheme', 'file'],
  ['resourceFilename', 'net.onnx'],
  ['tensorrtLens.panel', 'report'],
  ['editorLangId', ''],
]);
const set = (...more: string[]): Set<string> =>
  new Set(['isWorkspaceTrusted', 'tensorrtLens.hasLog', 'tensorrtLens.hasBuilds', ...more]);

/** The commands of the palette. */
const shown = (keys: ReadonlySet<string>): string[] =>
  contributes.commands
    .filter(({ command, enablement = '' }) => {
      const entry = contributes.menus['commandPalette']!.find((one) => one.command === command);
      return [entry?.when ?? '', enablement].every((when) => when === '' || holds(when, keys, values));
    })
    .map(({ command }) => command.replace('tensorrtLens.', ''));

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
  expect(at, when).toBe(tokens.length);
  return result;
}

it('shows at most 30 commands in the palette on a graph, none twice, and INT8 only where there is any', () => {
  const plain = shown(set());
  expect(plain.length).toBeGreaterThan(15);
  expect(plain).toContain('suggestSplit');
  expect(plain).toContain('openSample');
  expect(plain).not.toContain('openGraph');
  const most = shown(set('tensorrtLens.quantized', 'tensorrtLens.building', 'tensorrtLens.searching'));
  expect(most).toContain('migrateCalibration');
  expect(most.length, most.join(' ')).toBeLessThanOrEqual(30);
  expect(JSON.stringify(contributes.commands).match(/ in Graph"/g)!.length).toBeLessThanOrEqual(4);
});

it('gives each welcome text a key of its own', () => {
  const all = contributes.viewsWelcome.map(({ contents }) => contents);
  expect(new Set(all).size).toBe(all.length);
  expect(all[0]).toContain('Open an .onnx file');
});
