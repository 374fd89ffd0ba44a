import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A type of a contract. `fields`: an object's; `values`: the literals of a union of literals; else `type` is its JSON
 * Schema. Each has the text of its doc comment.
 * @typedef {{ name: string, doc: string, fields?: Field[], values?: { value: unknown, doc: string }[], type?: object }} ContractType
 * @typedef {{ name: string, doc: string, optional: boolean, schema: object, text: string }} Field
 */

/**
 * Reads the type `name` of a module and the types that it refers to, wherever they are declared.
 * It knows the forms that contracts use: interfaces, aliases, literals, unions, lists, records and objects inside.
 * @param {string} file from the repository's root
 * @param {string} name
 * @returns {ContractType[]} in the order in which they are first referred to, `name` first
 * @throws when a form or name is not known, or a field has no doc comment
 */
export function readTypes(file, name) {
  const reader = new TypeReader();
  reader.need(file, name);
  return reader.types();
}

class TypeReader {
  /** @type {Map<string, { source: string, comments: any[], declarations: Map<string, any>, imports: Map<string, { file: string, name: string }> }>} */
  #modules = new Map();
  /** By the name in the contract. */
  #wanted = new Map();
  /** @type {Map<string, ContractType>} */
  #done = new Map();

  need(file, name) {
    const module = this.#module(file);
    const imported = module.imports.get(name);
    if (imported) return this.need(imported.file, imported.name);
    const declaration = module.declarations.get(name);
    if (!declaration) throw new Error(`${file} has no type ${name}`);
    if (this.#wanted.get(name)?.file !== undefined && this.#wanted.get(name).file !== file)
      throw new Error(`two types named ${name}: in ${file} and in ${this.#wanted.get(name).file}`);
    if (!this.#wanted.has(name)) this.#wanted.set(name, { file, declaration });
    return { $ref: `#/definitions/${name}` };
  }

  types() {
    // Reading a type may add others, which are then read in turn.
    for (const [name, { file, declaration }] of this.#wanted) this.#done.set(name, this.#read(file, name, declaration));
    return [...this.#done.values()];
  }

  #module(file) {
    const known = this.#modules.get(file);
    if (known) return known;
    const source = readFileSync(join(root, file), 'utf8');
    const { program, comments } = parseSync(file, source);
    const module = { source, comments, declarations: new Map(), imports: new Map() };
    for (const statement of program.body) {
      const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
      if (declaration?.type === 'TSInterfaceDeclaration' || declaration?.type === 'TSTypeAliasDeclaration')
        module.declarations.set(declaration.id.name, { ...declaration, start: statement.start });
      if (statement.type !== 'ImportDeclaration' || !statement.source.value.startsWith('.')) continue;
      const from = join(dirname(file), statement.source.value).replaceAll('\\', '/');
      for (const { local, imported } of statement.specifiers)
        if (imported) module.imports.set(local.name, { file: from, name: imported.name });
    }
    this.#modules.set(file, module);
    return module;
  }

  /** @returns {ContractType} */
  #read(file, name, declaration) {
    const doc = this.#doc(file, declaration.start);
    if (declaration.type === 'TSInterfaceDeclaration') {
      if (declaration.extends?.length > 0) throw new Error(`${file}: ${name} extends another type`);
      return { name, doc, fields: this.#fields(file, name, declaration.body.body) };
    }
    const type = declaration.typeAnnotation;
    if (type.type === 'TSTypeLiteral') return { name, doc, fields: this.#fields(file, name, type.members) };
    const values = this.#literals(file, type);
    return values ? { name, doc, values } : { name, doc, type: this.#schema(file, type) };
  }

  #fields(file, owner, members) {
    return members.map((member) => {
      if (member.type !== 'TSPropertySignature') throw new Error(`${file}: ${owner} has a ${member.type}`);
      const name = member.key.name ?? member.key.value;
      const doc = this.#doc(file, member.start);
      if (doc === '') throw new Error(`${file}: ${owner}.${name} has no doc comment`);
      const type = member.typeAnnotation.typeAnnotation;
      const text = this.#text(file, type);
      return { name, doc, optional: member.optional, schema: this.#schema(file, type), text };
    });
  }

  /** The literals of a union of literals, each with the comment before it; undefined for another type. */
  #literals(file, type) {
    const types = type.type === 'TSUnionType' ? type.types : [type];
    if (types.some((one) => one.type !== 'TSLiteralType')) return undefined;
    return types.map(({ literal, start }) => ({ value: literal.value, doc: this.#doc(file, start) }));
  }

  #schema(file, type) {
    switch (type.type) {
      case 'TSStringKeyword':
        return { type: 'string' };
      case 'TSNumberKeyword':
        return { type: 'number' };
      case 'TSBooleanKeyword':
        return { type: 'boolean' };
      case 'TSNullKeyword':
        return { type: 'null' };
      case 'TSUnknownKeyword':
        return {};
      case 'TSLiteralType':
        return { const: type.literal.value };
      case 'TSArrayType':
        return { type: 'array', items: this.#schema(file, type.elementType) };
      case 'TSTypeOperator':
      case 'TSParenthesizedType':
        return this.#schema(file, type.typeAnnotation);
      case 'TSTypeLiteral':
        return objectSchema(this.#inlineFields(file, type.members));
      case 'TSUnionType':
        return unionSchema(type.types.map((one) => this.#schema(file, one)));
      case 'TSTypeReference':
        return this.#reference(file, type);
      case 'TSIndexedAccessType':
        return this.#indexed(file, type);
      default:
        throw new Error(`${file}: ${type.type} is not a form of a contract`);
    }
  }

  /** The fields of an object written inside another type: the field's own comment speaks for them. */
  #inlineFields(file, members) {
    return members.map(({ key, optional, typeAnnotation, start }) => ({
      name: key.name,
      doc: this.#doc(file, start),
      optional,
      schema: this.#schema(file, typeAnnotation.typeAnnotation),
    }));
  }

  #reference(file, { typeName, typeArguments }) {
    const parameters = typeArguments?.params ?? [];
    if (typeName.name === 'Record') return { type: 'object', additionalProperties: this.#schema(file, parameters[1]) };
    if (typeName.name === 'ReadonlyArray' || typeName.name === 'Array')
      return { type: 'array', items: this.#schema(file, parameters[0]) };
    return this.need(file, typeName.name);
  }

  /** `FusionReport['tensorrt']` */
  #indexed(file, { objectType, indexType }) {
    const name = objectType.typeName.name;
    const from = this.#module(file).imports.get(name) ?? { file, name };
    const members = this.#module(from.file).declarations.get(from.name).body.body;
    const member = members.find(({ key }) => key.name === indexType.literal.value);
    return this.#schema(from.file, member.typeAnnotation.typeAnnotation);
  }

  /** A type as it is written, for the tables of the documentation. */
  #text(file, type) {
    return this.#module(file).source.slice(type.start, type.end).replaceAll(/\s+/g, ' ').replace(/^\| /, '');
  }

  /** The text of the doc comment that ends right before a place; '' without one. */
  #doc(file, start) {
    const { comments, source } = this.#module(file);
    const comment = comments.findLast(({ end }) => end <= start);
    if (!comment?.value.startsWith('*') || !/^[\s|]*$/.test(source.slice(comment.end, start))) return '';
    const lines = comment.value
      .slice(1)
      .split('\n')
      .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd());
    return lines
      .join('\n')
      .trim()
      .replaceAll(/\n(?!\n|- )/g, ' ');
  }
}

/** JSON Schema of an object. Other fields are allowed: contracts may grow. */
export function objectSchema(fields) {
  const properties = Object.fromEntries(
    fields.map(({ name, doc, schema }) => [name, doc ? { description: doc, ...schema } : schema]),
  );
  const required = fields.filter(({ optional }) => !optional).map(({ name }) => name);
  return { type: 'object', ...(required.length > 0 && { required }), properties };
}

/** Simple types become one list of types, literals one list of values. */
function unionSchema(schemas) {
  if (schemas.every((schema) => 'const' in schema || schema.type === 'null'))
    return { enum: schemas.map((schema) => ('const' in schema ? schema.const : null)) };
  if (schemas.every(({ type, ...rest }) => typeof type === 'string' && Object.keys(rest).length === 0))
    return { type: schemas.map(({ type }) => type) };
  const [only, ...others] = schemas.filter(({ type }) => type !== 'null');
  // A list, or nothing.
  if (others.length === 0 && schemas.length === 2 && typeof only.type === 'string')
    return { ...only, type: [only.type, 'null'] };
  return { anyOf: schemas };
}
