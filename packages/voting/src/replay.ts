// Replays a poll from its votes: its state after each vote, and whether the rules stopped it there.
import { type Chances, chancesOf } from './chances.ts';
import { type EndedVote, newPoll, type PollState, type Rules, received, type VotingSeat } from './poll.ts';
import { standing, tally } from './standing.ts';
import { stopReason, type TerminationReason } from './stop-rules.ts';
import { type Outcomes, situationOf, type TrackRecord } from './track-record.ts';

export type { Outcomes };

export interface ReplayedVote extends EndedVote {
  /** What the track record said about the state after this vote, if anything. */
  readonly outcomes?: Outcomes | undefined;
}

export interface Replayed {
  readonly state: PollState;
  readonly confidence: number | null;
  readonly chances: Chances;
  /** Null if the rules continue to ask. */
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

/** The state of the poll after each of these votes. */
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
