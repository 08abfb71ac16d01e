import { type Static, type TSchema, Type } from '@sinclair/typebox';

// What may be asked of the model registry. These names go upstream and no others do, so this list is also what separates
// one kept listing from another.

/** More rows than a registry has; a higher limit is sent upstream as this one. */
const MAX_ROWS = 10_000;

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{Cc}]*$', description }));

const parameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Maximum number of variants to list.' })),
  available_only: text('`true` leaves out variants that cannot be called at present.'),
  org: text('Who made the model.'),
  country: text('The country of its maker, as two letters.'),
  source: text('Where the variant runs.'),
  config_key: text('The name of one variant.'),
  is_alias: text('`true` lists aliases only, `false` none.'),
  one_per_model: text('`true` lists one variant of each model.'),
  sort: text('The field to sort by; a leading minus reverses the order.'),
} satisfies Record<string, TSchema>;

export const ModelsQuery = Type.Object(parameters);
export type ModelsQuery = Static<typeof ModelsQuery>;

/** In the order in which they are sent. */
const PARAMETERS = Object.keys(parameters) as (keyof ModelsQuery)[];

/** What goes upstream, as one of a bounded number of queries. */
export function registryQuery(query: ModelsQuery): URLSearchParams {
  const bounded = { ...query, ...(query.limit !== undefined && { limit: Math.min(query.limit, MAX_ROWS) }) };
  const sent = new URLSearchParams();
  for (const name of PARAMETERS) if (bounded[name] !== undefined) sent.set(name, String(bounded[name]));
  return sent;
}
