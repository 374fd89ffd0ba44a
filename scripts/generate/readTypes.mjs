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
 * @param {boolean} documented every field must have a doc comment
 * @returns {ContractType[]} in the order in which they are first referred to, `name` first
 * @throws when a form or name is not known, or a field has no doc comment
 */
export function readTypes(file, name, documented = true) {
  const reader = new TypeReader();
  reader.documented = documented;
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
      if (!statement.source?.value.startsWith('.')) continue;
      const from = join(dirname(file), statement.source.value).replaceAll('\\', '/');
      // What is imported has its own name elsewhere; what is exported from elsewhere has another one here.
      for (const { local, imported, exported } of statement.specifiers ?? []) {
        if (imported) module.imports.set(local.name, { file: from, name: imported.name });
        else if (exported) module.imports.set(exported.name, { file: from, name: local.name });
      }
    }
    this.#modules.set(file, module);
    return module;
  }

  /** @returns {ContractType} */
  #read(file, name, declaration) {
    const doc = this.#doc(file, declaration.start);
    if (declaration.type === 'TSInterfaceDeclaration') {
      const inherited = this.#inherited(file, declaration);
      return { name, doc, fields: [...inherited, ...this.#fields(file, name, declaration.body.body)] };
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
      if (doc === '' && this.documented) throw new Error(`${file}: ${owner}.${name} has no doc comment`);
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
      case 'TSIntersectionType':
        return objectSchema(this.#objectFields(file, type));
      case 'TSTupleType':
        return { type: 'array', items: type.elementTypes.map((each) => this.#schema(file, each.elementType ?? each)) };
      case 'TSTypeReference':
        return this.#reference(file, type);
      case 'TSIndexedAccessType':
        return this.#indexed(file, type);
      default:
        // The type of a value, which only the compiler knows.
        if (type.type === 'TSTypeQuery' && !this.documented) return {};
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
    if (/^(?:Exclude|Extract)$/.test(typeName.name)) return this.#schema(file, parameters[0]);
    if (!this.documented && /^(?:Readonly)?(?:Map|Set)$/.test(typeName.name)) return { type: 'object' };
    if (typeName.name === 'ReadonlyArray' || typeName.name === 'Array')
      return { type: 'array', items: this.#schema(file, parameters[0]) };
    if (/^(?:Pick|Omit|Partial|Readonly)$/.test(typeName.name))
      return objectSchema(this.#objectFields(file, { type: 'TSTypeReference', typeName, typeArguments }));
    return this.need(file, typeName.name);
  }

  /** The fields of an object that other types are made into: those of both, or some of one. */
  #objectFields(file, type) {
    if (type.type === 'TSParenthesizedType') return this.#objectFields(file, type.typeAnnotation);
    if (type.type === 'TSTypeLiteral') return this.#inlineFields(file, type.members);
    if (type.type === 'TSIntersectionType') return type.types.flatMap((each) => this.#objectFields(file, each));
    if (type.type === 'TSUnionType') {
      // Which of them it is, the other fields say.
      const each = type.types.map((part) => this.#objectFields(file, part));
      const all = new Map();
      for (const field of each.flat()) {
        const before = all.get(field.name);
        all.set(field.name, before ? { ...field, schema: unionSchema([before.schema, field.schema]) } : field);
      }
      const isInAll = ({ name }) => each.every((fields) => fields.some((field) => field.name === name));
      return [...all.values()].map((field) => (isInAll(field) ? field : { ...field, optional: true }));
    }
    if (type.type !== 'TSTypeReference') throw new Error(`${file}: a ${type.type} has no fields`);
    const { name } = type.typeName;
    const [of, keys] = type.typeArguments?.params ?? [];
    // Its names are not known.
    if (name === 'Record') return [];
    if (name === 'Readonly') return this.#objectFields(file, of);
    if (name === 'Partial') return this.#objectFields(file, of).map((field) => ({ ...field, optional: true }));
    if (name === 'Pick' || name === 'Omit') {
      const names = (keys.type === 'TSUnionType' ? keys.types : [keys]).map(({ literal }) => literal.value);
      return this.#objectFields(file, of).filter((field) => names.includes(field.name) === (name === 'Pick'));
    }
    const { file: from, declaration } = this.#resolve(file, name);
    if (declaration.type === 'TSTypeAliasDeclaration') return this.#objectFields(from, declaration.typeAnnotation);
    return [...this.#inherited(from, declaration), ...this.#inlineFields(from, declaration.body.body)];
  }

  #inherited(file, declaration) {
    return (declaration.extends ?? []).flatMap(({ expression, typeArguments }) =>
      this.#objectFields(file, { type: 'TSTypeReference', typeName: expression, typeArguments }),
    );
  }

  #resolve(file, name) {
    const module = this.#module(file);
    const imported = module.imports.get(name);
    if (imported) return this.#resolve(imported.file, imported.name);
    const declaration = module.declarations.get(name);
    if (!declaration) throw new Error(`${file} has no type ${name}`);
    return { file, declaration };
  }

  /** `FusionReport['tensorrt']`, `FusionReport['layers'][number]` */
  #indexed(file, { objectType, indexType }) {
    if (indexType.type === 'TSNumberKeyword') return this.#schema(file, objectType).items ?? {};
    const name = indexType.literal.value;
    if (objectType.type !== 'TSTypeReference') return this.#schema(file, objectType).properties[name];
    return this.#objectFields(file, objectType).find((field) => field.name === name).schema;
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
