import { type Static, Type } from '@sinclair/typebox';
import { nullable, Probability } from './vocabulary.ts';

/** A second opinion on the votes of a poll. It stops no poll and replaces no winner. */
export const PollReading = Type.Object(
  {
    winner: nullable(
      Type.String({
        description:
          'The option that the votes speak for once each counts by how reliable its model is; null where two are alike.',
      }),
    ),
    differs: Type.Boolean({
      description: 'True where it prefers another option than the plurality, or leans in its tie.',
    }),
    likelihood: nullable({
      ...Probability,
      description:
        'How likely that option is the right one if models err independently. They do not quite: a lean, no proof.',
    }),
    version: Type.String({ description: 'Of the record that the reliabilities come from.' }),
  },
  {
    $id: 'Reading',
    description:
      'Missing until there is a record: 200 polls in all, and 50 votes of each model that voted. It is learned daily from votes, without known answers but for feedback of their owners.',
  },
);
export type PollReading = Static<typeof PollReading>;
