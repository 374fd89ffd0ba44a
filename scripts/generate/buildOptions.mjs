// What is derived from the table of build options: the schema of tasks in package.json, and
// docs/reference/build-options.md.
import { loadSource } from './loadSource.mjs';
import { table } from './markdown.mjs';

/** @type {import('../generate.mjs').Producer} */
export async function buildOptionFiles(read) {
  const { optionRows } = await loadSource('src/kernel/build/buildOptions.ts');
  const { runFlags } = await loadSource('src/kernel/node/cli/buildOptions.ts');
  const manifest = JSON.parse(read('package.json'));
  const task = manifest.contributes.taskDefinitions.find(({ type }) => type === 'tensorrt');
  const { model, launcher } = task.properties;
  const inTasks = optionRows.filter(([, { except }]) => !except?.includes('task'));
  task.properties = {
    model,
    ...Object.fromEntries(inTasks.map(([name, row]) => [name, schemaOf(row)])),
    launcher,
  };
  return [
    { file: 'package.json', content: `${JSON.stringify(manifest, null, 2)}\n` },
    { file: 'docs/reference/build-options.md', content: page(optionRows, runFlags) },
  ];
}

const shape = {
  type: 'string',
  pattern: '^(\\d+(x\\d+)*)?$',
  description: 'A shape such as 1x3x224x224; empty for a scalar.',
};

/** JSON Schema of each kind of value. Only kinds that a task can give. */
const schemas = {
  text: { type: 'string' },
  path: { type: 'string' },
  flag: { type: 'boolean' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  texts: { type: 'array', items: { type: 'string' } },
  textsOrAll: { anyOf: [{ const: 'all' }, { type: 'array', items: { type: 'string' } }] },
  numbersByName: { type: 'object', additionalProperties: { type: 'number', minimum: 0 } },
  textsByName: { type: 'object', additionalProperties: { type: 'string' } },
  profiles: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        required: ['min', 'opt', 'max'],
        properties: { min: shape, opt: shape, max: shape },
        additionalProperties: false,
        description: 'Smallest, usual and largest shape of this input.',
      },
    },
  },
};

function schemaOf({ kind, description, schema, default: usual }) {
  const type = typeof kind === 'string' ? schemas[kind] : { type: 'string', enum: kind };
  if (type === undefined) throw new Error(`no schema for the kind ${kind}`);
  return { ...type, description, ...(usual !== undefined && { default: usual }), ...schema };
}

function page(rows, runFlags) {
  const options = rows.map(([name, { cli, kind, description, default: usual, except = [] }]) => [
    cli.map((flag) => flagText(flag, kind)).join(', '),
    except.includes('task') && except.includes('matrix') ? '' : `\`${name}\``,
    typeof kind === 'string' ? values[kind] : kind.map((word) => `\`${word}\``).join(', '),
    usual === undefined ? description : `${description} Default: \`${usual}\`.`,
  ]);
  const others = Object.entries(runFlags).map(([flag, rest]) => [
    flagText({ flag, ...rest }),
    flag === 'launcher' ? '`launcher`' : '',
    rest.value ? 'text' : values.flag,
    sentence(rest.help),
  ]);
  return `# Build options

Options of \`trtlens build\`, with their names in \`tasks.json\` of VS Code and in [matrix files](../building.md#many-models-precisions-and-gpus).

${table(['option', 'in tasks and matrix files', 'value there', 'meaning'], [...options, ...others])}
`;
}

/** An example of each kind of value, as YAML has it. */
const values = {
  text: 'text',
  path: 'path',
  flag: '`true` or `false`',
  number: 'number',
  integer: 'integer',
  texts: 'list',
  textsOrAll: 'list, or `all`',
  numbersByName: '`{ NAME: number }`',
  textsByName: '`{ NAME: text }`',
  profiles: '`[{ INPUT: { min: 1x3, opt: 4x3, max: 8x3 } }]`',
  layerTypes: '`[{ name: LAYER, type: fp32 }]`',
  layerOutputTypes: '`[{ name: LAYER, types: [fp32] }]`',
};

const flagText = ({ flag, short, value }, kind) =>
  `${short === undefined ? '' : `\`-${short}\`, `}\`--${flag}${value === undefined ? '' : ` ${Array.isArray(kind) ? kind.join('|') : value}`}\``;

const sentence = (text) => (text.startsWith('{') ? `\`${text}\`` : `${text[0].toUpperCase()}${text.slice(1)}.`);
