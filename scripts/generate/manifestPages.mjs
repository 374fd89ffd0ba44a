// docs/reference/settings.md and commands.md: what the extension contributes to VS Code, from package.json.
import { table } from './markdown.mjs';
import { readManifest } from './manifestTexts.mjs';

/** @type {import('../generate.mjs').Producer} */
export function manifestPages(read) {
  const { contributes } = readManifest(read);
  return [
    { file: 'docs/reference/settings.md', content: settingsPage(contributes) },
    { file: 'docs/reference/commands.md', content: commandsPage(contributes) },
  ];
}

const note = '<!-- Generated from package.json by `npm run generate`. -->';

/** Where VS Code keeps a setting, by its scope. */
const scopes = {
  application: 'user',
  machine: 'user or remote',
  'machine-overridable': 'user, remote, workspace',
  window: 'user, remote, workspace',
  resource: 'user, remote, workspace, folder',
};

function settingsPage({ configuration }) {
  const settings = Object.entries(configuration.properties).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const sections = settings.map(([name, setting]) => {
    const { type, default: standard, scope, minimum, markdownDescription, description } = setting;
    const facts = [
      `type: ${[type].flat().join(' or ')}${minimum === undefined ? '' : `, at least ${minimum}`}`,
      `default: \`${JSON.stringify(standard)}\``,
      `set in: ${scopes[scope ?? 'window']}`,
    ];
    return [
      `## ${name}`,
      markdownDescription ?? description,
      facts.map((fact) => `- ${fact}`).join('\n'),
      ...valuesOf(setting),
    ].join('\n\n');
  });
  const head = `# Settings

To change a setting, open the Settings editor (Ctrl+,) and search for "tensorrt lens", or edit \`settings.json\`:

\`\`\`json
{ "tensorrtLens.build.backend": "rtx" }
\`\`\`

${note}`;
  return `${[head, ...sections].join('\n\n')}\n`;
}

/** The values that a setting can have, or the fields of its objects. */
function valuesOf({ enum: values, enumDescriptions, markdownEnumDescriptions, additionalProperties }) {
  const meanings = markdownEnumDescriptions ?? enumDescriptions;
  if (values)
    return [
      table(
        ['value', 'meaning'],
        values.map((value, i) => [`\`${value}\``, meanings?.[i] ?? '']),
      ),
    ];
  if (!additionalProperties?.properties) return [];
  const { properties, required = [] } = additionalProperties;
  const rows = Object.entries(properties).map(([name, { type, description = '' }]) => [
    `\`${name}\`${required.includes(name) ? '' : ' (optional)'}`,
    type,
    description,
  ]);
  return ['Each value is an object:', table(['field', 'type', 'meaning'], rows)];
}

/** Where a menu is; `{of}`: the file or view that the entry is for. */
const menus = {
  'explorer/context': 'context menu in the Explorer ({of})',
  'editor/title': 'title bar of editors ({of})',
  'editor/context': 'context menu in editors ({of})',
  'view/title': '{of} view, title bar',
  'view/item/context': '{of} view, context menu',
  'webview/context': 'context menu in the graph',
};

/** What an entry of a menu is for, by a part of its `when` clause. */
const subjects = [
  [/resourceExtname == \.onnx|tensorrtLens\.graph|activeCustomEditorId/, '`.onnx`'],
  [/resourceLangId == trtprec|resourceExtname == \.trtprec/, '`.trtprec`'],
  [/replay/i, 'tactic replays'],
  [/gate/i, '`.gate.yaml`'],
  [/view == tensorrtLens\.fusion/, 'Fusion'],
  [/view == tensorrtLens\.builds/, 'Builds'],
];

function commandsPage({ commands, menus: entries, keybindings = [] }) {
  const hidden = new Set(entries.commandPalette.filter(({ when }) => when === 'false').map(({ command }) => command));
  const rows = commands.flatMap(({ command, title, category, enablement = '' }) => {
    const places = Object.entries(menus).flatMap(([menu, words]) =>
      entries[menu]
        .filter((entry) => entry.command === command)
        .map(({ when = '' }) => {
          const of = subjects.find(([pattern]) => pattern.test(when))?.[1];
          return of === undefined ? words.replace(/ \(\{of\}\)/, '') : words.replace('{of}', of);
        }),
    );
    const keys = keybindings.filter((binding) => binding.command === command).map(({ key }) => `\`${key}\``);
    const all = [...(hidden.has(command) ? [] : ['Command Palette']), ...new Set(places), ...keys];
    // Views run it when something is clicked: nothing to look for.
    if (all.length === 0) return [];
    const needs = /isWorkspaceTrusted/.test(enablement) ? ' Needs a trusted workspace.' : '';
    const name = hidden.has(command) ? title : `${category}: ${title}`;
    return [[`**${name}**`, `${all.join('; ')}.${needs}`, `\`${command}\``]];
  });
  return `# Commands

Press F1 and type "TensorRT" for the commands of the Command Palette. Some appear only when they apply, for example while a build runs or when the selected file is a model.

${note}

${table(['command', 'where', 'id'], rows)}
`;
}
