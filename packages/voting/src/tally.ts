// First past the post. Every vote counts once, the option with the most votes wins, and a tie has no winner.

/** Votes per option. */
export type Votes = readonly number[];

export const votesCast = (votes: Votes): number => votes.reduce((sum, count) => sum + count, 0);

/**
 * The lead of the first option over the second. 0: a tie or no vote. A single pass, because it is called at every vote.
 */
export function lead(votes: Votes): number {
  let [first, second] = [0, 0];
  for (const count of votes) {
    if (count > first) [first, second] = [count, first];
    else if (count > second) second = count;
  }
  return first - second;
}

/** The option with the most votes. Null on a tie and before the first vote. */
export function leader(votes: Votes): number | null {
  return lead(votes) > 0 ? votes.indexOf(Math.max(...votes)) : null;
}

/** Two or more options share the most votes. Without any vote there is no tie. */
export const isTie = (votes: Votes): boolean => votesCast(votes) > 0 && lead(votes) === 0;

export const descending = (votes: Votes): number[] => votes.toSorted((a, b) => b - a);

export const withVotesFor = (votes: Votes, option: number, count: number): number[] =>
  votes.with(option, votes[option]! + count);
