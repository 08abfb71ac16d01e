// The results of one way of stopping polls, over many polls: calls and money, early stops and wrong ones, right
// answers.

export interface StoppedPoll {
  readonly panelSize: number;
  /** Number of votes that were asked. */
  readonly calls: number;
  readonly cost: number;
  /** Null for a tie and without votes. */
  readonly winner: number | null;
  /** What the full panel elects. Undefined if unknown. */
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
  /** Early stops for which the full panel's outcome is known, and how many of them had another winner. */
  earlyJudged: number;
  wrong: number;
  /** Polls for which the full panel's outcome is known, and how many of them had the same outcome. */
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
  /** Share of a full panel's calls that were not made. */
  readonly callsSaved: number;
  /** Share of polls that stopped early. */
  readonly stoppedEarly: number;
  /** Share of early stops with another winner than the full panel, among those where it is known. */
  readonly wrongStops: number;
  /** Share of polls with the same outcome as the full panel, including ties, among those where it is known. */
  readonly agreement: number;
  /** Share of polls whose winner is the right answer. */
  readonly accuracy: number;
}

export const stopShares = (sums: StopSums): StopShares => ({
  callsSaved: savedOf(sums.calls, sums.panelCalls) ?? 0,
  stoppedEarly: sums.early / Math.max(1, sums.polls),
  wrongStops: sums.wrong / Math.max(1, sums.earlyJudged),
  agreement: sums.agreed / Math.max(1, sums.judged),
  accuracy: sums.right / Math.max(1, sums.polls),
});

/** The share of `full` that is not spent. Null if `full` is 0. */
export const savedOf = (spent: number, full: number): number | null => (full > 0 ? (full - spent) / full : null);
