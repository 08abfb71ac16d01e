// A recorded question as a poll that could have been run: the panel in the order in which the product would have asked
// it, and the vote that each model would have cast.
import { newPoll, type PollState, panelOrder } from '@eloquentpoll/voting';
import { familyOf } from './families.ts';
import type { NamedPanel } from './panels.ts';
import type { RecordedQuestion, VoteFile } from './vote-file.ts';

export interface RecordedPoll {
  readonly question: RecordedQuestion;
  /** Models in the order in which they are asked. */
  readonly models: readonly string[];
  /** Their votes: an option, or null for no valid vote. */
  readonly votes: readonly (number | null)[];
}

/** The polls of a panel. Questions that one of its models was never asked are left out. */
export function recordedPolls(file: VoteFile, panel: NamedPanel): RecordedPoll[] {
  const seats = panel.models.map((model) => ({ family: familyOf(model), column: file.models.indexOf(model) }));
  return file.questions.flatMap((question) => {
    const order = panelOrder(seats, question.id);
    const votes = order.map((seat) => question.votes[seats[seat]!.column]);
    if (!votes.every((vote) => vote !== undefined)) return [];
    return [{ question, models: order.map((seat) => panel.models[seat]!), votes }];
  });
}

/** The poll before its first vote, with the guards of a paid poll and no limit on cost. */
export function openPoll({ question, models }: RecordedPoll, threshold: number): PollState {
  return newPoll(
    { optionCount: question.optionCount, threshold, minVotes: 3, maxCostU: 0n, hedge: 'one' },
    models.map((model) => ({ family: familyOf(model), reserveU: 0n, failureRate: 0 })),
  );
}
