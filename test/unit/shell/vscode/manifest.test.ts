import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildOptions } from '../../../../src/kernel/build/buildOptions.ts';
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
import { manifest, menuOf, paletteOnGraph, root, text } from '../../../support/manifest.ts';
import { bisectViewType } from '../../../../src/kernel/vscode/ids.ts';

const { contributes } = manifest;
const hostSource = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => text(`src/${file}`))
  .join('\n');

it('contributes only commands, views, editors and task types that the code knows', () => {
  const known = new Set<string>(Object.values(commands));
  expect(contributes.commands.map(({ command }) => command).filter((name) => !known.has(name))).toEqual([]);
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
  const known = new Set<string>(Object.values(commands));
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

it('offers each command that it contributes somewhere, and in menus no other', () => {
  const offered = new Set(
    Object.entries(contributes.menus).flatMap(([menu, entries]) =>
      entries.flatMap(({ command, when }) =>
        command === undefined || (menu === 'commandPalette' && when === 'false') ? [] : command,
      ),
    ),
  );
  const hidden = new Set(
    contributes.menus['commandPalette']!.flatMap(({ command, when }) => (when === 'false' ? command! : [])),
  );
  const names = contributes.commands.map(({ command }) => command);
  expect(names.filter((name) => hidden.has(name) && !offered.has(name))).toEqual([]);
  expect([...offered].filter((name) => !names.includes(name) && !name.startsWith('workbench.'))).toEqual([]);
});

it('shows in the palette on a graph what is about it, once', () => {
  const shown = paletteOnGraph(manifest, ['tensorrtLens.quantized']);
  expect(shown).toContain('changeModel');
  expect(shown).toContain('openQuantizationPage');
  expect(shown).not.toContain('openGraph');
  expect(shown).not.toContain('openSample');
  expect(JSON.stringify(contributes.commands).match(/ in Graph"/g)!.length).toBeLessThanOrEqual(4);
});

it('offers a node only what applies to it', () => {
  const menu = (section: string, ...keys: string[]) => menuOf(manifest, 'webview/context', section, keys);
  expect(menu('node', 'takesType')).toContain('keep');
  expect(menu('node')).not.toContain('keep');
  expect(menu('tensor')).toEqual(['graph.isolate', 'graph.showAll', 'copy', 'goTo', 'changeModel']);
  expect(menuOf(manifest, 'tensorrtLens.goTo', 'tensor', [])).toEqual(['revealInLog', 'revealInText']);
});

it('gives each welcome text a key of its own', () => {
  const all = contributes.viewsWelcome.map(({ contents }) => contents);
  expect(new Set(all).size).toBe(all.length);
  expect(all[0]).toContain('Open an .onnx file');
});
