import type { TSchema } from '@sinclair/typebox';
import { namedSchemas } from '../../http/validation/validator.ts';

const made = new WeakMap<TSchema, Record<string, unknown>>();

/** A self-contained JSON Schema: every $ref to a shape of the contract is inlined. Built once per schema. */
export function inlined(schema: TSchema): Record<string, unknown> {
  const known = made.get(schema);
  if (known) return known;
  const whole = plain(schema) as Record<string, unknown>;
  made.set(schema, whole);
  return whole;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return plain(namedSchemas.find((schema) => schema.$id === value.$ref));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (name === '$id' ? [] : [[name, plain(member)]])),
  );
}
