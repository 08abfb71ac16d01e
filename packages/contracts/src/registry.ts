import { type Static, type TSchema, Type } from '@sinclair/typebox';

// What may be asked of the model registry. These names go upstream and no others do, so this list is also what separates
// one kept listing from another.

/** More rows than a registry has; what is beyond it is a mistake or an attack. */
const MAX_ROWS = 10_000;

const text = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\p{Cc}]*$', description }));

const parameters = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_ROWS, description: 'The most variants to list.' })),
  available_only: text('`true` leaves out what cannot be called right now.'),
  org: text('Who made the model.'),
  country: text('Where its maker is at home, as two letters.'),
  source: text('Where the variant runs.'),
  config_key: text('The name of one variant.'),
  is_alias: text('`true` lists aliases only, `false` none.'),
  one_per_model: text('`true` lists one variant of each model.'),
  sort: text('A field of the rows; a minus before it turns the order round.'),
} satisfies Record<string, TSchema>;

export const ModelsQuery = Type.Object(parameters);
export type ModelsQuery = Static<typeof ModelsQuery>;

/** In the order in which they are sent. */
export const MODELS_PARAMETERS = Object.keys(parameters) as (keyof ModelsQuery)[];
