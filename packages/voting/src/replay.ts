// Replays a poll from its votes: its state after each vote, and whether the rules stopped it there.
import { type Chances, chancesOf } from './chances.ts';
import { type EndedVote, newPoll, type PollState, type Rules, received, type VotingSeat } from './poll.ts';
import { confidenceOf, tally } from './standing.ts';
import { stopReason, type TerminationReason } from './stop-rules.ts';
import { votesCast } from './tally.ts';
import { type Outcomes, situationOf, type TrackRecord } from './track-record.ts';

export type { Outcomes };

export interface ReplayedVote extends EndedVote {
  /** What the track record said about the state after this vote, if anything. */
  readonly outcomes?: Outcomes | undefined;
}

interface Odds {
  readonly confidence: number | null;
  readonly chances: Chances;
}

export interface Replayed extends Odds {
  readonly state: PollState;
  /** Null if the rules continue to ask. */
  readonly stop: TerminationReason | null;
}

/** One entry per vote, in the order in which they arrived. */
export const replay = (rules: Rules, seats: readonly VotingSeat[], votes: readonly ReplayedVote[]): Replayed[] =>
  statesAfter(newPoll(rules, seats), votes).map((state) => ({
    state,
    ...oddsIn(state),
    stop: stopReason(state),
  }));

/** The odds while the poll runs: models that failed count as absent. */
export const oddsIn = (state: PollState): Odds => ({ confidence: confidenceOf(state), chances: chancesOf(state) });

/** The state of the poll after each of these votes. */
export function statesAfter(start: PollState, votes: readonly ReplayedVote[]): PollState[] {
  let poll = start;
  return votes.map(({ outcomes, ...vote }, i) => {
    poll = received(poll, vote);
    return outcomes === undefined ? poll : withOutcomes(poll, i + 1, outcomes);
  });
}

/** A partial result counts its failed models as still to vote: `outcomes` is what the track record said about that. */
export const withFinalOutcomes = (poll: PollState, outcomes: Outcomes | undefined): PollState =>
  outcomes === undefined ? poll : withOutcomes(poll, votesCast(tally(poll)), outcomes);

function withOutcomes(poll: PollState, ended: number, outcomes: Outcomes): PollState {
  const record: TrackRecord = {
    panelSize: poll.seats.length,
    situations: new Map([[situationOf(tally(poll), ended), outcomes]]),
    isAlarmed: poll.rules.record?.isAlarmed ?? false,
  };
  return { ...poll, rules: { ...poll.rules, record } };
}
