// What is derived from the types of the contracts: their JSON Schemas, and the tables of fields in docs/.
import { objectSchema, readTypes } from './readTypes.mjs';
import { replacePart } from './replacePart.mjs';

/** Each contract: the type that describes it, its schema, its page. */
const contracts = [
  {
    file: 'src/kernel/fusion/fusionReport.ts',
    type: 'FusionReport',
    schema: 'fusion-report',
    title: 'Fusion report of TensorRT Lens',
    page: 'docs/fusion-report.md',
  },
  {
    file: 'src/kernel/build/internal/manifest.ts',
    type: 'BuildManifest',
    schema: 'build-manifest',
    title: 'Build manifest of TensorRT Lens',
    page: 'docs/build-folder.md',
  },
  {
    file: 'src/kernel/report/buildDiff.ts',
    type: 'BuildDiff',
    schema: 'diff',
    title: 'Comparison of two builds by TensorRT Lens',
  },
  {
    file: 'src/features/gate/gateFile.ts',
    type: 'GateResult',
    schema: 'gate-result',
    title: 'Verdict of a gate of TensorRT Lens',
  },
];

/** @type {import('../generate.mjs').Producer} */
export function contractFiles(read) {
  return contracts.flatMap(({ file, type, schema, title, page }) => {
    const types = readTypes(file, type);
    const [root, ...others] = types;
    const text = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title,
      description: root.doc,
      ...schemaOf(root),
      definitions: Object.fromEntries(
        others.map((one) => [one.name, { description: one.doc || undefined, ...schemaOf(one) }]),
      ),
    };
    return [
      { file: `schemas/${schema}.schema.json`, content: JSON.stringify(text, null, 2) },
      ...(page ? [{ file: page, content: replacePart(read(page), 'fields', types.map(section).join('\n\n')) }] : []),
    ];
  });
}

const schemaOf = ({ fields, values, type }) =>
  fields ? objectSchema(fields) : values ? { enum: values.map(({ value }) => value) } : type;

/** A table of an object's fields, or of what a value can be. */
function section({ name, doc, fields, values, type }) {
  const rows = fields
    ? [
        ['field', 'type', 'meaning'],
        ...fields.map((field) => [
          `\`${field.name}\`${field.optional ? ' (optional)' : ''}`,
          linked(field),
          cell(field.doc),
        ]),
      ]
    : (values ?? []).map(({ value, doc: meaning }) => [`\`"${value}"\``, cell(meaning)]);
  if (values) rows.unshift(['value', 'meaning']);
  const heading = `### ${name}\n\n${doc}`;
  if (type) return heading;
  const lines = rows.map((row) => `| ${row.join(' | ')} |`);
  lines.splice(1, 0, `|${' --- |'.repeat(rows[0].length)}`);
  return `${heading}\n\n${lines.join('\n')}`;
}

const cell = (text) => text.replaceAll('|', '\\|').replaceAll(/\n+/g, '<br>');

/** The type as it is written, with links to the types that have a section of their own. */
function linked({ text, schema }) {
  const names = new Set([...JSON.stringify(schema).matchAll(/#\/definitions\/(\w+)/g)].map(([, name]) => name));
  const parts = text.replaceAll('readonly ', '').split(/(\w+)/);
  return parts
    .map((part) => (names.has(part) ? `[${part}](#${part.toLowerCase()})` : cell(part)))
    .join('')
    .replaceAll("'", '"');
}
