import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The part of JSON Schema that our schemas and SARIF's use. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  required?: string[];
  properties?: Record<string, JsonSchema>;
  patternProperties?: Record<string, JsonSchema>;
  additionalProperties?: boolean | JsonSchema;
  items?: JsonSchema | JsonSchema[];
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  pattern?: string;
  format?: string;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  not?: JsonSchema;
  minItems?: number;
  maxItems?: number;
  minimum?: number;
  maximum?: number;
  definitions?: Record<string, JsonSchema>;
  if?: JsonSchema;
  then?: JsonSchema;
}

/** A file of schemas/, by its name without `.schema.json`. */
export const readSchema = (name: string): JsonSchema =>
  JSON.parse(
    readFileSync(fileURLToPath(new URL(`../../schemas/${name}.schema.json`, import.meta.url)), 'utf8'),
  ) as JsonSchema;

/** Places where a file does not fit a schema with an optional condition: `then` applies to what fits `if`. */
export function schemaViolations(value: unknown, schema: JsonSchema): string[] {
  const meant = schema.if !== undefined && violations(value, schema.if, schema).length === 0;
  return [...violations(value, schema), ...(meant ? violations(value, schema.then ?? {}, schema) : [])];
}

/** The schema without room for fields that it does not name: what we write ourselves has no others. */
export function withoutOtherFields(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema), (_key, part: unknown) => {
    const isObject = typeof part === 'object' && part !== null && 'properties' in part && 'type' in part;
    return isObject ? { additionalProperties: false, ...part } : part;
  }) as JsonSchema;
}

/** Places where a value does not fit a rule of the schema `root`; it knows the part of JSON Schema that our schemas use. */
function violations(value: unknown, rule: JsonSchema, root: JsonSchema = rule, path = ''): string[] {
  if (rule.$ref !== undefined) {
    const target = root.definitions?.[rule.$ref.replace('#/definitions/', '')];
    if (!target) throw new Error(`${rule.$ref} is not defined`);
    return violations(value, target, root, path);
  }
  const fitting = (some: JsonSchema[]) => some.filter((one) => violations(value, one, root, path).length === 0).length;
  if (rule.anyOf && fitting(rule.anyOf) === 0) return [path];
  if (rule.oneOf && fitting(rule.oneOf) !== 1) return [path];
  if (rule.not && fitting([rule.not]) === 1) return [path];
  if (!isScalarOf(value, rule)) return [path];
  if (Array.isArray(value)) return listViolations(value, rule, root, path);
  return typeof value === 'object' && value !== null
    ? objectViolations(value as Record<string, unknown>, rule, root, path)
    : [];
}

/** Whether a value fits what a rule says of its type and itself, whatever is in it. */
function isScalarOf(value: unknown, rule: JsonSchema): boolean {
  const literals = rule.const === undefined ? rule.enum : [rule.const];
  if (literals && !literals.includes(value)) return false;
  const types = rule.type === undefined ? [] : [rule.type].flat();
  if (types.length > 0 && !types.some((type) => isOf(value, type))) return false;
  if (typeof value === 'number') return isWithin(value, rule);
  return typeof value !== 'string' || isText(value, rule);
}

function isWithin(value: number, { minimum = -Infinity, maximum = Infinity }: JsonSchema): boolean {
  return minimum <= value && value <= maximum;
}

/** Formats: `uri-reference` and `uri` have no characters that a URI cannot have; others are not checked. */
function isText(value: string, { pattern, format }: JsonSchema): boolean {
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) return false;
  return format?.startsWith('uri') !== true || /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[\dA-Fa-f]{2})*$/.test(value);
}

function isOf(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function listViolations(
  list: unknown[],
  { items, minItems = 0, maxItems = Infinity, uniqueItems }: JsonSchema,
  root: JsonSchema,
  path: string,
): string[] {
  if (list.length < minItems || list.length > maxItems) return [path];
  if (uniqueItems && new Set(list.map((one) => JSON.stringify(one))).size < list.length) return [path];
  return list.flatMap((one, i) => {
    const rule = Array.isArray(items) ? items[i] : items;
    return rule ? violations(one, rule, root, `${path}[${i}]`) : [];
  });
}

function objectViolations(object: Record<string, unknown>, rule: JsonSchema, root: JsonSchema, path: string): string[] {
  const missing = (rule.required ?? []).filter((key) => !(key in object)).map((key) => `${path}.${key}`);
  const wrong = Object.entries(object).flatMap(([key, value]) => {
    const at = `${path}.${key}`;
    const pattern = Object.entries(rule.patternProperties ?? {}).find(([source]) => new RegExp(source).test(key))?.[1];
    const own = rule.properties?.[key] ?? pattern ?? rule.additionalProperties;
    if (own === false) return [at];
    return typeof own === 'object' ? violations(value, own, root, at) : [];
  });
  const count = Object.keys(object).length;
  const few = count < (rule.minProperties ?? 0) || count > (rule.maxProperties ?? Infinity) ? [path] : [];
  return [...missing, ...wrong, ...few];
}
