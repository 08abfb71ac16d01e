import type { Conclusion } from './conclude.ts';

type Ended = Pick<Conclusion, 'winner' | 'tally' | 'requested' | 'succeeded'>;

/** The one sentence of a quick poll: the winner's share of the successful votes, and how many models gave one. */
export function reasoning({ winner, tally, requested, succeeded }: Ended): string {
  if (succeeded === 0) return `No successful votes from ${variants(requested)}`;
  const share = Math.round((100 * Math.max(...tally)) / succeeded);
  return winner === null
    ? `No winner: tie at ${share}% after ${variants(succeeded)}`
    : `${share}% confidence after ${variants(succeeded)}`;
}

const variants = (count: number): string => (count === 1 ? '1 variant' : `${count} variants`);
