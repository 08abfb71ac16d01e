import { isJsonObject } from '@eloquentpoll/contracts';

// Finds the one choice in a JSON Schema, and how to fill the schema with the winner. Common libraries write an enum, or
// constants in `anyOf` or `oneOf`, also by reference, and beside it members that need no model's answer.

export type SchemaPart =
  /** `descriptions` are those on the path to the choice, the outermost first. */
  | { kind: 'choice'; options: string[]; descriptions: string[]; fill: (option: string) => unknown }
  /** A part that can be filled without an answer. */
  | { kind: 'constant'; value: unknown }
  | { kind: 'wrong'; detail: string };

/** A limit, because references can make a small schema large. */
const MAX_PARTS = 500;
const MAX_DEPTH = 8;

const TOO_LARGE = 'is too large a JSON Schema';
const NOT_FILLED = 'cannot be filled by a poll: make it optional or nullable, or leave it out';

export function readSchema(schema: unknown): SchemaPart {
  return new SchemaReader(schema).read(schema, '', 0);
}

class SchemaReader {
  readonly #root: unknown;
  #parts = 0;

  constructor(root: unknown) {
    this.#root = root;
  }

  read(given: unknown, name: string, depth: number): SchemaPart {
    this.#parts += 1;
    const schema = this.#resolve(given);
    if (typeof schema === 'string') return wrong(name, schema);
    if (depth > MAX_DEPTH || this.#parts > MAX_PARTS) return wrong(name, TOO_LARGE);
    const values = this.#valuesOf(schema);
    const listed = typeof values === 'string' ? [] : values;
    const texts = listed.filter((value) => value !== null);
    if (texts.length > 1) {
      if (!texts.every((value) => typeof value === 'string')) return wrong(name, 'must be an enum of strings');
      return { kind: 'choice', options: texts, descriptions: describedBy(given), fill: (option) => option };
    }
    // No model was asked about this member: null says so wherever it is allowed, in any position of the enum.
    if (listed.includes(null)) return { kind: 'constant', value: null };
    if (listed[0] !== undefined) return { kind: 'constant', value: listed[0] };
    if (isJsonObject(schema.properties)) return this.#readObject(schema, schema.properties, name, depth);
    if (this.#isNullable(schema)) return { kind: 'constant', value: null };
    return wrong(name, typeof values === 'string' ? values : NOT_FILLED);
  }

  #readObject(
    schema: Record<string, unknown>,
    properties: Record<string, unknown>,
    name: string,
    depth: number,
  ): SchemaPart {
    const required = Array.isArray(schema.required) ? schema.required : [];
    const filled: (readonly [string, Exclude<SchemaPart, { kind: 'wrong' }>])[] = [];
    for (const [member, given] of Object.entries(properties)) {
      const part = this.read(given, name === '' ? member : `${name}.${member}`, depth + 1);
      const isRequired = required.includes(member);
      if (part.kind === 'wrong' && isRequired) return part;
      if (part.kind === 'choice' || (part.kind === 'constant' && isRequired)) filled.push([member, part]);
    }
    const choices = filled.flatMap(([, part]) => (part.kind === 'choice' ? [part] : []));
    const [choice, second] = choices;
    if (second) return wrong(name, 'has several enums, and a poll has one question');
    const fill = (option: string): unknown =>
      Object.fromEntries(
        filled.map(([member, part]) => [member, part.kind === 'choice' ? part.fill(option) : part.value]),
      );
    if (!choice) return { kind: 'constant', value: fill('') };
    return { ...choice, descriptions: [...describedBy(schema), ...choice.descriptions], fill };
  }

  /** The values that a schema lists, empty if it lists none; a string says why a variant cannot be read. */
  #valuesOf(schema: Record<string, unknown>): unknown[] | string {
    if (Array.isArray(schema.enum)) return [...(schema.enum as unknown[])];
    if ('const' in schema) return [schema.const];
    if (schema.type === 'null') return [null];
    const values: unknown[] = [];
    for (const variant of variantsOf(schema)) {
      this.#parts += 1;
      if (this.#parts > MAX_PARTS) return TOO_LARGE;
      const resolved = this.#resolve(variant);
      if (typeof resolved === 'string') return resolved;
      const own = variantsOf(resolved).length === 0 ? this.#valuesOf(resolved) : [];
      if (typeof own === 'string' || own.length === 0) return own;
      values.push(...own);
    }
    return values;
  }

  #isNullable(schema: Record<string, unknown>): boolean {
    if (Array.isArray(schema.type) && schema.type.includes('null')) return true;
    return variantsOf(schema).some((variant) => isJsonObject(variant) && variant.type === 'null');
  }

  /** Follows `$ref` within the schema, alone or as the only member of `allOf`. A string says why nothing was found. */
  #resolve(given: unknown): Record<string, unknown> | string {
    let schema = given;
    for (let steps = 0; steps <= MAX_DEPTH; steps++) {
      if (!isJsonObject(schema)) return 'is no JSON Schema that can be read';
      if (typeof schema.$ref === 'string') {
        const found = this.#at(schema.$ref);
        if (found === undefined)
          return `refers to ${schema.$ref.slice(0, 100).toWellFormed()}, which the schema does not hold`;
        schema = found;
      } else if (Array.isArray(schema.allOf) && schema.allOf.length === 1) schema = schema.allOf[0];
      else return schema;
    }
    return `follows more than ${MAX_DEPTH} references without an end`;
  }

  #at(reference: string): unknown {
    const [start, ...steps] = reference.split('/');
    if (start !== '#') return undefined;
    return steps.reduce<unknown>((schema, step) => {
      const member = unescaped(step);
      return isJsonObject(schema) && Object.hasOwn(schema, member) ? schema[member] : undefined;
    }, this.#root);
  }
}

const variantsOf = ({ anyOf, oneOf }: Record<string, unknown>): unknown[] => {
  const variants = anyOf ?? oneOf;
  return Array.isArray(variants) ? variants : [];
};

const describedBy = (schema: unknown): string[] =>
  isJsonObject(schema) && typeof schema.description === 'string' ? [schema.description] : [];

/** Decodes one step of a JSON pointer in a URI fragment. */
function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

const wrong = (name: string, problem: string): SchemaPart => ({
  kind: 'wrong',
  detail: `${name === '' ? 'the schema' : `the property ${name.slice(0, 100).toWellFormed()}`} ${problem}`,
});
