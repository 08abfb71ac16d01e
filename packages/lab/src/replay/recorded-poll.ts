// A recorded question as a poll that could have been run: the roster in the order in which the product would have asked
// it, and the ballot that each model would have cast.
import { newPoll, type PollState, rosterOrder } from '@eloquentpoll/voting';
import { familyOf } from './families.ts';
import type { NamedRoster } from './rosters.ts';
import type { RecordedQuestion, VoteFile } from './vote-file.ts';

export interface RecordedPoll {
  readonly question: RecordedQuestion;
  /** Models in the order in which they are asked. */
  readonly models: readonly string[];
  /** Their ballots: an option, or null for no valid vote. */
  readonly ballots: readonly (number | null)[];
}

/** The polls of a roster. Questions that one of its models was never asked are left out. */
export function recordedPolls(file: VoteFile, roster: NamedRoster): RecordedPoll[] {
  const seats = roster.models.map((model) => ({ family: familyOf(model), column: file.models.indexOf(model) }));
  return file.questions.flatMap((question) => {
    const order = rosterOrder(seats, question.id);
    const ballots = order.map((seat) => question.votes[seats[seat]!.column]);
    if (!ballots.every((ballot) => ballot !== undefined)) return [];
    return [{ question, models: order.map((seat) => roster.models[seat]!), ballots }];
  });
}

/** The poll before its first ballot, with the guards of a paid poll and no limit on cost. */
export function openPoll({ question, models }: RecordedPoll, threshold: number): PollState {
  return newPoll(
    { optionCount: question.optionCount, threshold, minVotes: 3, maxCostU: 0n, hedge: 'one' },
    models.map((model) => ({ family: familyOf(model), reserveU: 0n, failureRate: 0 })),
  );
}
