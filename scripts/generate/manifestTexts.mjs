// package.nls.json: what a user reads of package.json, so that it can be translated. A text that stands in package.json
// itself is moved there and replaced by its key, which says where the text belongs.

/** Fields whose value, or whose list of values, VS Code shows. */
const shown = new Set([
  'aliases',
  'altText',
  'category',
  'contents',
  'contextualTitle',
  'deprecationMessage',
  'description',
  'displayName',
  'enumDescriptions',
  'errorMessage',
  'label',
  'markdownDeprecationMessage',
  'markdownDescription',
  'markdownEnumDescriptions',
  'patternErrorMessage',
  'shortTitle',
  'title',
  'userDescription',
]);
/** What is read by other programs: agents read schemas of tools, and completion inserts the body of a snippet. */
const technical = new Set(['body', 'default', 'inputSchema']);

/** @type {import('../generate.mjs').Producer} */
export function manifestTexts(read) {
  const before = JSON.parse(read('package.nls.json') ?? '{}');
  const texts = {};
  const manifest = withTexts(JSON.parse(read('package.json')), (text, key) => {
    texts[key] = resolved(text, before);
    return `%${key}%`;
  });
  const json = (value) => `${JSON.stringify(value, null, 2)}\n`;
  return [
    { file: 'package.json', content: json(manifest) },
    { file: 'package.nls.json', content: json(texts) },
  ];
}

/** The manifest as VS Code shows it, with the texts of package.nls.json. */
export function readManifest(read) {
  const texts = JSON.parse(read('package.nls.json'));
  return withTexts(JSON.parse(read('package.json')), (text) => resolved(text, texts));
}

function resolved(text, texts) {
  const key = /^%(.+)%$/.exec(text)?.[1];
  if (key !== undefined && texts[key] === undefined)
    throw new Error(
      `package.json: '${text}' is not in package.nls.json. Write the text in its place; npm run generate moves it.`,
    );
  return key === undefined ? text : texts[key];
}

/** Replaces each text that VS Code shows by what `replace` makes of it and of its key. */
function withTexts(manifest, replace) {
  const visit = (value, path, field) => {
    if (typeof value === 'string') return isShown(field, path) ? replace(value, keyOf(field, path)) : value;
    if (Array.isArray(value)) {
      const names = namesOf(value);
      return value.map((item, i) => visit(item, [...path, names[i]], shown.has(field) ? field : ''));
    }
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        technical.has(name) && path.at(-1) !== 'properties' ? item : visit(item, [...path, name], name),
      ]),
    );
  };
  return visit(manifest, [], '');
}

/** `name` is an identifier everywhere but in a view. */
const isShown = (field, path) => shown.has(field) || (field === 'name' && path[1] === 'views');

/** A name for each element of a list, no two alike. */
function namesOf(list) {
  const all = list.map(identity);
  return all.map((name, i) => {
    if (name === undefined) return String(i);
    const before = all.slice(0, i).filter((other) => other === name).length;
    return before === 0 ? name : `${name}.${before + 1}`;
  });
}

/** What names an element of a list, so that keys stay as they are when another element comes before it. */
const identity = (item) => item?.command ?? item?.id ?? item?.viewType ?? item?.name ?? item?.view;

/** All commands have the same category. */
const keyOf = (field, path) =>
  field === 'category'
    ? 'category'
    : path
        .filter((part) => part !== 'contributes')
        .join('.')
        .replaceAll('tensorrtLens.', '');
