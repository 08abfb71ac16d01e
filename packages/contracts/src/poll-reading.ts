import { type Static, Type } from '@sinclair/typebox';
import { nullable, Probability } from './vocabulary.ts';

/** A second opinion on the votes of a poll. It stops no poll and replaces no winner. */
export const PollReading = Type.Object(
  {
    winner: nullable(
      Type.String({
        description:
          'The option that leads when each vote is weighted by the reliability of its model; null if two options are equal.',
      }),
    ),
    differs: Type.Boolean({
      description: 'Whether `winner` differs from the plurality winner, or decides a tie.',
    }),
    likelihood: nullable({
      ...Probability,
      description:
        'The probability that `winner` is right if the votes are worth `effective_votes` independent ones; null if that is not known. An indication only.',
    }),
    version: Type.String({ description: 'Version of the model evidence that the reliabilities come from.' }),
  },
  {
    $id: 'Reading',
    description:
      'A second opinion on the votes. Missing until there is enough evidence: 200 polls in total and 50 votes of each model that voted. Reliabilities are learned daily from votes and the feedback of poll owners, without other known answers.',
  },
);
export type PollReading = Static<typeof PollReading>;
