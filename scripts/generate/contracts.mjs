// What is derived from the types of the contracts: their JSON Schemas, and pages of their fields in docs/reference.
import { objectSchema, readTypes } from './readTypes.mjs';
import { table } from './markdown.mjs';

/** Each contract: the type that describes it, its schema, its page. */
const contracts = [
  {
    file: 'src/kernel/fusion/fusionReport.ts',
    type: 'FusionReport',
    schema: 'fusion-report',
    title: 'Fusion report of TensorRT Lens',
    page: 'fusion-report',
  },
  {
    file: 'src/kernel/build/internal/manifest.ts',
    type: 'BuildManifest',
    schema: 'build-manifest',
    title: 'Build manifest of TensorRT Lens',
    page: 'build-manifest',
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
export function contractFiles() {
  return [...contracts.flatMap(filesOf), ...outputSchemas()];
}

/** A schema for what each command prints with `--json`. */
function outputSchemas() {
  const [{ fields }, ...others] = readTypes('src/shell/cli/outputs.ts', 'CommandOutputs', false);
  const known = new Map(others.map((each) => [each.name, { description: each.doc || undefined, ...schemaOf(each) }]));
  return fields.map(({ name, schema }) => {
    const needed = new Set();
    const add = (part) => {
      for (const [, type] of JSON.stringify(part).matchAll(/#\/definitions\/(\w+)/g))
        if (!needed.has(type)) add(known.get(needed.add(type) && type));
    };
    add(schema);
    const text = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: `What trtlens ${name.replace(/^(precision|replay)-/, '$1 ')} prints with --json`,
      ...schema,
      definitions: Object.fromEntries([...needed].map((type) => [type, known.get(type)])),
    };
    return { file: `schemas/${name}.schema.json`, content: JSON.stringify(text, null, 2) };
  });
}

function filesOf({ file, type, schema, title, page }) {
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
    ...(page
      ? [
          {
            file: `docs/reference/${page}.md`,
            content: `# ${title}\n\n[A JSON Schema](../../schemas/${schema}.schema.json) describes the same fields.\n\n${types.map(section).join('\n\n')}\n`,
          },
        ]
      : []),
  ];
}

const schemaOf = ({ fields, values, type }) =>
  fields ? objectSchema(fields) : values ? { enum: values.map(({ value }) => value) } : type;

/** A table of an object's fields, or of what a value can be. */
function section({ name, doc, fields, values, type }) {
  const heading = `## ${name}\n\n${doc}`;
  if (type) return heading;
  if (values)
    return `${heading}\n\n${table(
      ['value', 'meaning'],
      values.map(({ value, doc: meaning }) => [`\`"${value}"\``, meaning]),
    )}`;
  const rows = fields.map((field) => [
    `\`${field.name}\`${field.optional ? ' (optional)' : ''}`,
    linked(field),
    field.doc,
  ]);
  return `${heading}\n\n${table(['field', 'type', 'meaning'], rows)}`;
}

/** The type as it is written, with links to the types that have a section of their own. */
function linked({ text, schema }) {
  const names = new Set([...JSON.stringify(schema).matchAll(/#\/definitions\/(\w+)/g)].map(([, name]) => name));
  const parts = text.replaceAll('readonly ', '').split(/(\w+)/);
  return parts
    .map((part) => (names.has(part) ? `[${part}](#${part.toLowerCase()})` : part))
    .join('')
    .replaceAll("'", '"');
}
