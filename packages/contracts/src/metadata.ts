import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';

const { pairs, key, value } = LIMITS.metadata;

/** A caller's own labels of a poll: stored with it, shown to its owner alone. */
export const Metadata = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: pairs,
  propertyNames: { type: 'string', minLength: 1, maxLength: key },
  additionalProperties: { type: 'string', maxLength: value },
  description: `Your own labels: at most ${pairs} pairs, keys of 1 to ${key} characters, values of at most ${value} characters. Only your account sees them, in GET /api/polls; models never do.`,
});
export type Metadata = Static<typeof Metadata>;
