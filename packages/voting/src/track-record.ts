// How audited polls in a similar state ended. The urn ignores the asking order, so in a biased order it is too
// confident too early. The track record corrects that and only lowers confidence: a stale, empty or wrong one makes
// polls longer, but never stops a poll that the urn would not stop.
import { descending, leader, type Votes } from './tally.ts';

export interface TrackRecord {
  /** Number of seats of its panel. */
  readonly panelSize: number;
  readonly situations: ReadonlyMap<string, Outcomes>;
  /** More early stops were wrong than promised, so only a lock may stop a poll. */
  readonly isAlarmed: boolean;
}

/** Of `polls` audited polls in this state, the leader at that time became the full panel's winner in `won`. */
export interface Outcomes {
  readonly polls: number;
  readonly won: number;
}

/** A poll with the votes of its whole panel, in the order in which they were or would have been asked. */
export interface HeardPoll {
  readonly optionCount: number;
  /** An option, or null if the model gave no vote. */
  readonly votes: readonly (number | null)[];
}

/** The weight of the urn, as a number of polls. */
const URN_WEIGHT = 20;

/** (20 urn + W) / (20 + N) if that is lower than the urn's probability, else the urn's. */
export function trackRecordSays(record: TrackRecord, votes: Votes, left: number, urn: number): number {
  const outcomes = stoodAlike(record, votes, left);
  if (outcomes === undefined) return urn;
  const braked = (URN_WEIGHT * urn + outcomes.won) / (URN_WEIGHT + outcomes.polls);
  return braked < urn ? Math.max(0, braked) : urn;
}

/** How audited polls in this state ended, if there were any. */
export const stoodAlike = (record: TrackRecord, votes: Votes, left: number): Outcomes | undefined =>
  record.situations.get(situationOf(votes, record.panelSize - left));

/**
 * The key of a state: number of ended votes, sorted counts, and class of the number of options (up to 4, up to 7,
 * more).
 */
export function situationOf(votes: Votes, ended: number): string {
  const optionClass = votes.length <= 4 ? 4 : votes.length <= 7 ? 7 : 'more';
  return `${ended} ${descending(votes.filter((count) => count > 0)).join()} ${optionClass}`;
}

/** Adds one heard poll to every situation in which it had a leader. A negative `times` removes it. */
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
