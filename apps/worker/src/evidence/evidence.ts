import type { Vote } from '@eloquentpoll/contracts';
import { effectiveVotesOf, type Reading, readingOf } from '@eloquentpoll/evidence';
import type { ModelEvidence } from '@eloquentpoll/storage';

/** What is known about the models that voted in a poll. Methods return null if it is not enough. */
export interface Evidence {
  /** How many independent votes the votes of these models are worth. */
  effectiveVotes(votes: readonly Vote[]): number | null;
  reading(optionCount: number, votes: readonly Vote[]): Reading | null;
}

export const NO_EVIDENCE: Evidence = { effectiveVotes: () => null, reading: () => null };

export function evidenceOf({ version, reliabilities, agreement }: ModelEvidence, withReadings: boolean): Evidence {
  const models = new Map(Object.entries(reliabilities));
  const worth = (votes: readonly Vote[]) =>
    effectiveVotesOf(
      agreement,
      votes.filter(({ option }) => option !== null).map(({ model_id }) => model_id),
    );
  return {
    effectiveVotes: worth,
    reading: (optionCount, votes) =>
      withReadings
        ? readingOf(
            { version, models },
            optionCount,
            votes.map(({ model_id, option }) => ({ model: model_id, option })),
            worth(votes),
          )
        : null,
  };
}
