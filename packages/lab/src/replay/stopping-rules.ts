// The rules that are compared. Each looks at the votes so far and decides whether to stop. A lock costs nothing and is
// never wrong, so every rule but the full panel also stops on a lock: this shows the other rules at their best.
import { decide, isLocked, type PollState, standing } from '@eloquentpoll/voting';

export interface VotesSoFar {
  readonly poll: PollState;
  /** Votes in the order of their arrival; null is no valid vote. */
  readonly votes: readonly (number | null)[];
}

export interface StoppingRule {
  readonly name: string;
  readonly stops: (progress: VotesSoFar) => boolean;
}

export const stoppingRules = (threshold: number): StoppingRule[] => [
  { name: 'full panel', stops: () => false },
  { name: 'lock only', stops: locked },
  { name: 'EloquentPoll', stops: ({ poll }) => decide(poll, { slow: false }).kind === 'stop' },
  { name: 'Adaptive-Consistency (Beta)', stops: (now) => locked(now) || leaderBeatsRunnerUp(now) > threshold },
  { name: 'ESC, window 3', stops: (now) => locked(now) || windowAgrees(now, 3) },
];

const locked = ({ poll, votes }: VotesSoFar): boolean =>
  isLocked(standing(poll).tally, poll.seats.length - votes.length);

/** Aggarwal et al. 2023: the leader's share against the runner-up is Beta(v1 + 1, v2 + 1); this is P(share > 1/2). */
export function leaderBeatsRunnerUp({ poll }: Pick<VotesSoFar, 'poll'>): number {
  const [first = 0, second = 0] = standing(poll).tally.toSorted((a, b) => b - a);
  // For whole numbers the Beta tail is a binomial one: at most `first` heads in first + second + 1 fair throws.
  const throws = first + second + 1;
  let ways = 1;
  let atMost = 0;
  for (let heads = 0; heads <= first; heads++) {
    atMost += ways;
    ways = (ways * (throws - heads)) / (heads + 1);
  }
  return atMost / 2 ** throws;
}

/** Li et al. 2024: votes come in windows, and a window whose votes all agree ends the poll. */
export function windowAgrees({ votes }: Pick<VotesSoFar, 'votes'>, size: number): boolean {
  if (votes.length === 0 || votes.length % size !== 0) return false;
  const [first, ...others] = votes.slice(-size);
  return first !== null && others.every((vote) => vote === first);
}
