export interface AttackOutcome {
  readonly figures: object;
  readonly holds: boolean;
  /** For people; the first is the figure of the run where runs are kept. */
  readonly lines: readonly string[];
  /** Counts that can be added up over runs. */
  readonly counts: Record<string, number>;
}
