import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** What a JSON text says, where it is of this shape; throws where it is not. Members without a name here are let through. */
export function readJson<T extends TSchema>(shape: T, text: string): Static<T> {
  const value: unknown = JSON.parse(text);
  if (Value.Check(shape, value)) return value;
  const problem = Value.Errors(shape, value).First();
  throw new TypeError(`JSON of another shape, at ${problem?.path || '/'}: ${problem?.message}`);
}
