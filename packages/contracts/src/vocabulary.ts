import { type Static, type TSchema, Type } from '@sinclair/typebox';

// The words that every shape is written in, chosen so that the served OpenAPI reads as a person would write it:
// enums instead of unions of constants, `type: [x, "null"]` instead of `anyOf`.

export const literals = <const T extends readonly string[]>(
  values: T,
  options: { default?: T[number]; description?: string } = {},
) => Type.Unsafe<T[number]>({ type: 'string', enum: [...values], ...options });

/** The same schema, with null allowed. For scalars; a nullable object is a union of a reference and null. */
export const nullable = <T extends TSchema>(schema: T) =>
  Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [schema.type as string, 'null'],
    ...(Array.isArray(schema.enum) && { enum: [...(schema.enum as unknown[]), null] }),
  });

/** What counts as a close call, in lists and in usage. */
export const CLOSE_CALL =
  'A tie, a lead that one switched vote would end, or an outcome that missing votes could have changed.';

export const Count = Type.Integer({ minimum: 0 });
export const TokenUsage = Type.Object(
  { prompt_tokens: Count, completion_tokens: Count, total_tokens: Count },
  {
    description:
      'Tokens of the calls for `votes`, as counted by the providers; missing if a provider did not report them.',
  },
);
export const Milliseconds = Type.Integer({ minimum: 0 });
export const Usd = Type.Number({ minimum: 0 });
export const Probability = Type.Number({ minimum: 0, maximum: 1 });
/** What each option's chance is to be the winner once all models have voted, and that of a tie; sums to 1. */
export const Chances = Type.Array(Probability, {
  minItems: 3,
  maxItems: 11,
  description:
    'The probability that each option wins, in the order of `options`, followed by that of a tie. The sum is 1.',
});
/** Of audited polls that stood like this one, how many there were, and in how many its leader of then was elected. */
export const StoodAlike = Type.Object(
  { audits: Type.Integer({ minimum: 1 }), same_leader: Count },
  {
    description:
      'Audited polls that were in a similar state, and how many of them the leader of that state won (`same_leader`). Confidence is at most (20 x confidence from the votes alone + same_leader) / (20 + audits). Missing if no track record was used.',
  },
);
export const DateTime = Type.String({ format: 'date-time' });
export const Uuid = Type.String({ format: 'uuid' });

/** Option text -> votes. Any text is a legal key, `__proto__` too: build it with `Object.fromEntries`. */
export const Tally = Type.Unsafe<Record<string, number>>({
  type: 'object',
  additionalProperties: { type: 'integer', minimum: 0 },
});
