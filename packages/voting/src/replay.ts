// A poll once more from its votes: where it stood after each of them, and whether the rules stopped it there.
import { type Chances, chancesOf } from './chances.ts';
import { type EndedVote, newPoll, type PollState, type Rules, received, type VotingSeat } from './poll.ts';
import { standing, tally } from './standing.ts';
import { stopReason, type TerminationReason } from './stop-rules.ts';
import { type Outcomes, situationOf, type TrackRecord } from './track-record.ts';

export type { Outcomes };

export interface ReplayedVote extends EndedVote {
  /** What the track record said about where the poll stood after this vote, where it said anything. */
  readonly outcomes?: Outcomes | undefined;
}

export interface Replayed {
  readonly state: PollState;
  readonly confidence: number | null;
  readonly chances: Chances;
  /** Null where the rules go on asking. */
  readonly stop: TerminationReason | null;
}

/** One entry per vote, in the order in which they arrived. */
export const replay = (rules: Rules, seats: readonly VotingSeat[], votes: readonly ReplayedVote[]): Replayed[] =>
  statesAfter(newPoll(rules, seats), votes).map((state) => ({
    state,
    confidence: standing(state).confidence,
    chances: chancesOf(state),
    stop: stopReason(state),
  }));

/** Where this poll stood after each of these votes. */
export function statesAfter(start: PollState, votes: readonly ReplayedVote[]): PollState[] {
  let poll = start;
  return votes.map(({ outcomes, ...vote }, i) => {
    poll = received(poll, vote);
    return outcomes === undefined ? poll : withOutcomes(poll, i + 1, outcomes);
  });
}

function withOutcomes(poll: PollState, ended: number, outcomes: Outcomes): PollState {
  const record: TrackRecord = {
    panelSize: poll.seats.length,
    situations: new Map([[situationOf(tally(poll), ended), outcomes]]),
    isAlarmed: poll.rules.record?.isAlarmed ?? false,
  };
  return { ...poll, rules: { ...poll.rules, record } };
}
