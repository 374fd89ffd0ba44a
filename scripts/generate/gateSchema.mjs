// schemas/gate.schema.json, from the table of rules that the reader of gate files uses.
import { loadSource } from './loadSource.mjs';

/** @type {import('../generate.mjs').Producer} */
export async function gateSchema() {
  const { commonKeys, gateKeys, gateRules } = await loadSource('src/features/gate/gateFile.ts');
  const { units } = await loadSource('src/features/gate/internal/readLimit.ts');
  const { precisionTypes, precisionWords } = await loadSource('src/kernel/rules/overrideFile.ts');
  const common = { optional: { description: commonKeys.optional, type: 'boolean' } };

  const ruleSchema = ([name, { about, words, keys = {}, patterns, short, settings = {} }]) => {
    const limits = Object.entries(keys).map(([key, grammar]) => [key, limitSchema(grammar, units)]);
    const other =
      patterns === 'type'
        ? typeSchema(precisionTypes, precisionWords)
        : patterns && limitSchema({ unit: patterns }, units);
    const table = {
      type: 'object',
      additionalProperties: other ?? false,
      ...atLeastOne(words ? ['is'] : Object.keys(keys), other !== undefined),
      properties: {
        ...Object.fromEntries(limits),
        ...(words && { is: { description: about, enum: words } }),
        ...Object.fromEntries(
          Object.entries(settings).map(([key, { about: text, values }]) => [
            key,
            { description: text, ...(values ? { enum: values } : { type: 'string', pattern: '.' }) },
          ]),
        ),
        ...common,
      },
    };
    const value = words ? { enum: words } : short && limits.find(([key]) => key === short)[1];
    return [name, { description: about, ...(value ? { anyOf: [value, table] } : table) }];
  };

  const text = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Gate file of TensorRT Lens',
    description: 'The rules for a build of a model, which `trtlens gate` checks.',
    type: 'object',
    required: ['rules'],
    additionalProperties: false,
    properties: {
      model: { description: gateKeys.model, type: 'string' },
      baseline: { description: gateKeys.baseline, type: 'string' },
      rules: {
        description: gateKeys.rules,
        type: 'object',
        additionalProperties: false,
        minProperties: 1,
        properties: Object.fromEntries(Object.entries(gateRules).map(ruleSchema)),
      },
    },
  };
  return [{ file: 'schemas/gate.schema.json', content: JSON.stringify(text, null, 2) }];
}

/** A rule needs a limit: `optional` alone checks nothing. */
const atLeastOne = (keys, hasPatterns) =>
  hasPatterns
    ? { minProperties: 1, not: { required: ['optional'], maxProperties: 1 } }
    : { anyOf: keys.map((key) => ({ required: [key] })) };

/** Any word for a type, in any case; the usual ones are there for completion. */
const typeSchema = (types, words) => ({
  anyOf: [
    { enum: types },
    { type: 'string', pattern: `^(${anyCase('datatype\\.')})?(${words.map(anyCase).join('|')})$` },
  ],
});
const anyCase = (word) => word.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** A limit: a number with its unit, or a difference to the baseline. */
function limitSchema({ unit, about, absolute, scale }, units) {
  const names = Object.keys(units[unit]);
  const needsUnit = names.length > 0 && scale === undefined;
  const integer = unit === 'count';
  const sign = absolute ? '' : '[+-]?';
  const number = '\\d+(\\.\\d+)?([eE][+-]?\\d{1,3})?';
  const suffix = names.length > 0 ? ` *(${names.join('|')})${needsUnit ? '' : '?'}` : '';
  const texts = [`${sign}${integer ? '\\d+' : number}${suffix}`, ...(absolute ? [] : [`[+-]${number} *%`])];
  // Zero needs no unit.
  const plain = needsUnit ? { const: 0 } : { type: integer ? 'integer' : 'number', ...(absolute && { minimum: 0 }) };
  return {
    ...(about && { description: about }),
    anyOf: [plain, { type: 'string', pattern: `^(${texts.join('|')})$` }],
  };
}
