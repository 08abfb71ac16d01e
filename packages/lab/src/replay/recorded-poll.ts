// A recorded question as a poll that could have been run: the panel in the order in which the product would have asked
// it, and the vote that each model would have cast.
import {
  type AskingOrder,
  askingOrder,
  MAX_FEW_OPTIONS,
  newPoll,
  type PollState,
  type TrackRecord,
} from '@eloquentpoll/voting';
import { makerOf } from './families.ts';
import type { NamedPanel } from './panels.ts';
import type { Prices } from './price-file.ts';
import type { RecordedQuestion, VoteFile } from './vote-file.ts';

export interface RecordedPoll {
  readonly question: RecordedQuestion;
  /** Models in the order in which they are asked. */
  readonly models: readonly string[];
  /** Their votes: an option, or null for no valid vote. */
  readonly votes: readonly (number | null)[];
  /** What each call costs, in milli-dollars; null where no prices are known. */
  readonly prices: readonly number[] | null;
  readonly record?: TrackRecord;
}

export interface Asking {
  readonly order: AskingOrder;
  readonly prices: Prices | null;
}

export const SHUFFLED: Asking = { order: 'shuffled', prices: null };

/** The polls of a panel. Questions that one of its models was never asked are left out. */
export function recordedPolls(file: VoteFile, panel: NamedPanel, asking: Asking = SHUFFLED): RecordedPoll[] {
  const seats = panel.models.map((model) => ({
    family: makerOf(model),
    column: file.models.indexOf(model),
    typicalCostU: BigInt(Math.round(1_000_000 * (asking.prices?.get(model) ?? 0))),
  }));
  return file.questions.flatMap((question) => {
    // No file has enough questions of few options for a certificate of their own.
    const order = question.optionCount <= MAX_FEW_OPTIONS ? 'shuffled' : asking.order;
    const inOrder = askingOrder(order, seats, question.id);
    const votes = inOrder.map((seat) => question.votes[seats[seat]!.column]);
    if (!votes.every((vote) => vote !== undefined)) return [];
    const models = inOrder.map((seat) => panel.models[seat]!);
    const prices = asking.prices && models.map((model) => asking.prices!.get(model)!);
    return [{ question, models, votes, prices }];
  });
}

/** The poll before its first vote, with the guards of a paid poll and no limit on cost. */
export function openPoll({ question, models, record }: RecordedPoll, threshold: number): PollState {
  return newPoll(
    {
      ...{ optionCount: question.optionCount, threshold, minVotes: 3, maxCostU: 0n, hedge: 'one' },
      ...(record && { record }),
    },
    models.map((model) => ({ family: makerOf(model), reserveU: 0n, failureRate: 0 })),
  );
}
