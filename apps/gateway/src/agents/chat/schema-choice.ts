import { isJsonObject } from '@eloquentpoll/contracts';

// The one choice in a JSON Schema, and how to fill the schema with what was chosen. Forms that the common libraries emit:
// an enum, constants in `anyOf` or `oneOf`, either by reference, and beside it members that need no answer of a model.

export type SchemaPart =
  /** The descriptions on the way to it, the outermost first. */
  | { kind: 'choice'; options: string[]; descriptions: string[]; fill: (option: string) => unknown }
  /** Valid without an answer. */
  | { kind: 'constant'; value: unknown }
  | { kind: 'wrong'; detail: string };

/** References can make a small schema large. */
const MAX_PARTS = 500;
const MAX_DEPTH = 8;

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
    if (schema === null) return wrong(name, 'is no JSON Schema that can be read');
    if (depth > MAX_DEPTH || this.#parts > MAX_PARTS) return wrong(name, 'is too large a JSON Schema');
    const values = this.#valuesOf(schema);
    const texts = values?.filter((value) => value !== null);
    if (texts && texts.length > 1) {
      if (!texts.every((value) => typeof value === 'string')) return wrong(name, 'must be an enum of strings');
      return { kind: 'choice', options: texts, descriptions: describedBy(given), fill: (option) => option };
    }
    if (values?.[0] !== undefined) return { kind: 'constant', value: values[0] };
    if (isJsonObject(schema.properties)) return this.#readObject(schema, schema.properties, name, depth);
    if (this.#isNullable(schema)) return { kind: 'constant', value: null };
    return wrong(name, 'cannot be filled by a poll: make it optional or nullable, or leave it out');
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

  /** The values that a schema lists; null where it lists none. */
  #valuesOf(schema: Record<string, unknown>): unknown[] | null {
    if (Array.isArray(schema.enum)) return [...(schema.enum as unknown[])];
    if ('const' in schema) return [schema.const];
    if (schema.type === 'null') return [null];
    const variants = schema.anyOf ?? schema.oneOf;
    if (!Array.isArray(variants)) return null;
    const values: unknown[] = [];
    for (const variant of variants) {
      this.#parts += 1;
      const resolved = this.#parts > MAX_PARTS ? null : this.#resolve(variant);
      const own = resolved && !('anyOf' in resolved) && !('oneOf' in resolved) ? this.#valuesOf(resolved) : null;
      if (own === null) return null;
      values.push(...own);
    }
    return values;
  }

  #isNullable({ type, anyOf, oneOf }: Record<string, unknown>): boolean {
    if (Array.isArray(type) && type.includes('null')) return true;
    const variants = anyOf ?? oneOf;
    return Array.isArray(variants) && variants.some((variant) => isJsonObject(variant) && variant.type === 'null');
  }

  /** Follows `$ref` within the schema, alone or as the one member of `allOf`. */
  #resolve(given: unknown): Record<string, unknown> | null {
    let schema = given;
    for (let steps = 0; steps <= MAX_DEPTH; steps++) {
      if (!isJsonObject(schema)) return null;
      if (typeof schema.$ref === 'string') schema = this.#at(schema.$ref);
      else if (Array.isArray(schema.allOf) && schema.allOf.length === 1) schema = schema.allOf[0];
      else return schema;
    }
    return null;
  }

  #at(reference: string): unknown {
    const [start, ...steps] = reference.split('/');
    if (start !== '#') return null;
    return steps.reduce<unknown>((schema, step) => {
      const member = unescaped(step);
      return isJsonObject(schema) && Object.hasOwn(schema, member) ? schema[member] : null;
    }, this.#root);
  }
}

const describedBy = (schema: unknown): string[] =>
  isJsonObject(schema) && typeof schema.description === 'string' ? [schema.description] : [];

/** A step of a JSON pointer in a URI fragment. */
function unescaped(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step;
  }
}

const wrong = (name: string, problem: string): SchemaPart => ({
  kind: 'wrong',
  detail: `${name === '' ? 'the schema' : `the property ${name.slice(0, 100)}`} ${problem}`,
});
