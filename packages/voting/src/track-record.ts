// What became of audited polls that stood like this one. A panel asked in a biased order agrees too early for the urn,
// which knows no order; its own record brakes it. The record only ever lowers confidence, so a record that is stale,
// empty or false makes polls longer and stops none that the urn would not.
import { descending, leader, type Votes } from './tally.ts';

export interface TrackRecord {
  /** Seats of the panel that it is about. */
  readonly panelSize: number;
  readonly situations: ReadonlyMap<string, Outcomes>;
  /** More early stops were wrong than the promise allows: nothing but a lock may stop a poll. */
  readonly isAlarmed: boolean;
}

/** Of `polls` that stood like this, the leader of then was the full panel's winner in `won`. */
export interface Outcomes {
  readonly polls: number;
  readonly won: number;
}

/** A poll whose whole panel was heard, in the order in which it was or would have been asked. */
export interface HeardPoll {
  readonly optionCount: number;
  /** An option, or null for a model that gave no vote. */
  readonly votes: readonly (number | null)[];
}

/** The urn counts as much as this many polls. */
const URN_WEIGHT = 20;

/** (20 urn + W) / (20 + N) where that is lower than what the urn says, else the urn. */
export function trackRecordSays(record: TrackRecord, votes: Votes, left: number, urn: number): number {
  const outcomes = stoodAlike(record, votes, left);
  if (outcomes === undefined) return urn;
  const braked = (URN_WEIGHT * urn + outcomes.won) / (URN_WEIGHT + outcomes.polls);
  return braked < urn ? Math.max(0, braked) : urn;
}

/** What became of audited polls that stood like this, where there were any. */
export const stoodAlike = (record: TrackRecord, votes: Votes, left: number): Outcomes | undefined =>
  record.situations.get(situationOf(votes, record.panelSize - left));

/** Votes that have ended, sorted counts, and the class of the number of options: to 4, to 7, more. */
export function situationOf(votes: Votes, ended: number): string {
  const optionClass = votes.length <= 4 ? 4 : votes.length <= 7 ? 7 : 'more';
  return `${ended} ${descending(votes.filter((count) => count > 0)).join()} ${optionClass}`;
}

/** Adds what one heard poll says about every situation in which it had a leader; a negative number takes it back. */
export function learn(situations: Map<string, Outcomes>, { optionCount, votes }: HeardPoll, times = 1): void {
  const tally = new Array<number>(optionCount).fill(0);
  const stood: { readonly situation: string; readonly leading: number }[] = [];
  for (const [i, option] of votes.entries()) {
    if (option !== null) tally[option]! += 1;
    const leading = leader(tally);
    if (leading !== null && i + 1 < votes.length) stood.push({ situation: situationOf(tally, i + 1), leading });
  }
  const winner = leader(tally);
  for (const { situation, leading } of stood) {
    const { polls, won } = situations.get(situation) ?? { polls: 0, won: 0 };
    const after = { polls: polls + times, won: won + (leading === winner ? times : 0) };
    if (after.polls === 0) situations.delete(situation);
    else situations.set(situation, after);
  }
}
