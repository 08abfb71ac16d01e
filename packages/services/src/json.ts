import type { Static, TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/** Parses a JSON text of this shape and throws if it has another. Members that the shape does not name are kept. */
export function readJson<T extends TSchema>(shape: T, text: string): Static<T> {
  const value: unknown = JSON.parse(text);
  if (Value.Check(shape, value)) return value;
  const problem = Value.Errors(shape, value).First();
  throw new TypeError(`JSON of another shape, at ${problem?.path || '/'}: ${problem?.message}`);
}
