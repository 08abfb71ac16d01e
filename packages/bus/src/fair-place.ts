// Start-time fair queueing. Time is counted in turns: in each turn, one poll of every tenant with waiting polls is
// taken. A poll's turn is the current one plus its rank, so all tenants get the same share however many polls they
// have, and a new tenant does not wait for the backlog of others. The current turn is that of the next job.

/** A poll's place in the fair order. */
export interface FairPlace {
  /** How many polls of its tenant wait ahead of it. */
  rank: number;
  isAwaited: boolean;
}

/** Counted from the start of the current turn. Within a turn, polls whose callers wait come first. */
export const placeInTurns = ({ rank, isAwaited }: FairPlace): number => 2 * rank + (isAwaited ? 0 : 1);

/** Ahead of all places: for polls that a worker already had, or that have to end. */
export const BEFORE_ALL = -1;
