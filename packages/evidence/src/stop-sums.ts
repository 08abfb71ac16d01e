// What a way of stopping polls came to, over many polls: calls and money, early stops and wrong ones, right answers.

export interface StoppedPoll {
  readonly panelSize: number;
  /** Votes that were asked. */
  readonly calls: number;
  readonly cost: number;
  /** Null for a tie and without votes. */
  readonly winner: number | null;
  /** What the whole panel elects; undefined where that is not known. */
  readonly elected: number | null | undefined;
  /** The right option. */
  readonly answer: number;
}

/** Plain JSON. */
export interface StopSums {
  polls: number;
  calls: number;
  panelCalls: number;
  cost: number;
  right: number;
  early: number;
  /** Early stops of which it is known what the whole panel elects, and those on another winner. */
  earlyJudged: number;
  wrong: number;
  /** Polls of which that is known, and those with the panel's outcome. */
  judged: number;
  agreed: number;
}

export const noStops = (): StopSums => ({
  ...{ polls: 0, calls: 0, panelCalls: 0, cost: 0, right: 0 },
  ...{ early: 0, earlyJudged: 0, wrong: 0, judged: 0, agreed: 0 },
});

export function addStop(sums: StopSums, { panelSize, calls, cost, winner, elected, answer }: StoppedPoll): void {
  const isEarly = calls < panelSize;
  sums.polls += 1;
  sums.calls += calls;
  sums.panelCalls += panelSize;
  sums.cost += cost;
  sums.right += Number(winner === answer);
  sums.early += Number(isEarly);
  if (elected === undefined) return;
  sums.judged += 1;
  sums.agreed += Number(winner === elected);
  sums.earlyJudged += Number(isEarly);
  sums.wrong += Number(isEarly && winner !== elected);
}

export interface StopShares {
  /** Share of the calls of a full panel. */
  readonly callsSaved: number;
  /** Share of all polls that stopped early. */
  readonly stoppedEarly: number;
  /** Share of the early stops whose winner is not the one that the full panel elects, of those where that is known. */
  readonly wrongStops: number;
  /** Share of all polls with the outcome of the full panel, ties included, of those where that is known. */
  readonly agreement: number;
  /** Share of all polls whose winner is the right answer. */
  readonly accuracy: number;
}

export const stopShares = (sums: StopSums): StopShares => ({
  callsSaved: savedOf(sums.calls, sums.panelCalls) ?? 0,
  stoppedEarly: sums.early / Math.max(1, sums.polls),
  wrongStops: sums.wrong / Math.max(1, sums.earlyJudged),
  agreement: sums.agreed / Math.max(1, sums.judged),
  accuracy: sums.right / Math.max(1, sums.polls),
});

/** The share of `full` that is not spent; null where it is nothing. */
export const savedOf = (spent: number, full: number): number | null => (full > 0 ? (full - spent) / full : null);
