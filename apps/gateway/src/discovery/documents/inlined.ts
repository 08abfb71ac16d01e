import type { TSchema } from '@sinclair/typebox';
import { namedSchemas } from '../../http/validation/validator.ts';

/** A self-contained JSON Schema: every $ref to a shape of the contract is inlined. */
export function inlined(schema: TSchema): Record<string, unknown> {
  return plain(schema) as Record<string, unknown>;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if ('$ref' in value) return plain(namedSchemas.find((schema) => schema.$id === value.$ref));
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (name === '$id' ? [] : [[name, plain(member)]])),
  );
}
