// Start-time fair queueing. Time is counted in turns: in each turn every tenant with waiting polls has one of them taken. A
// poll's turn is the present one plus its rank, so a tenant with many polls gets neither more nor less than one with few,
// and one that had none waits for nothing of the past. The present turn is that of the job that is taken next.

/** A poll's place in the fair order. */
export interface FairPlace {
  /** How many polls of its tenant wait before it. */
  rank: number;
  isAwaited: boolean;
}

/** Counted from the beginning of the present turn; in a turn the polls that their callers wait for come first. */
export const placeInTurns = ({ rank, isAwaited }: FairPlace): number => 2 * rank + (isAwaited ? 0 : 1);

/** Before all places: a poll that a worker had already, or that has to end. */
export const BEFORE_ALL = -1;
