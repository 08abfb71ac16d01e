// A promise of the project: what was promised, what shows it, and what is said where it is not reached.

export interface ProofRow {
  /** Its runs name it as their experiment where no program does. */
  readonly id: string;
  readonly says: string;
  readonly target: string;
  /** How to measure it again. */
  readonly command: string;
  /** Paths from the root of the repository. A change in one of them makes the figure stale. */
  readonly covers: readonly string[];
  /** Programs whose runs count for it, beside those that were recorded by hand. */
  readonly experiments?: readonly string[];
  /**
   * Of the rules of its programs those that it promises, so that a run that breaks others still holds for it; all without it. A run
   * that does not say what it broke holds for no row.
   */
  readonly rules?: readonly string[];
  /** Counts that add up to the figure. Without it the figure is that of the newest run. */
  readonly rate?: Rate;
  /** Counts that must be 0 and are no share of the trials: each is a figure of its own beside the rate. */
  readonly none?: readonly string[];
  /** Counts that say what the rate leaves out, or how many of its trials could fail. They are shown and not judged. */
  readonly beside?: readonly string[];
  /** What all runs together must come to. */
  readonly needs?: readonly RowNeed[];
  /** Runs before this broke the promise, and their cause was mended: those since say whether it holds, and need its size again. */
  readonly mended?: Mend;
  /** What is said while it is not reached. */
  readonly short?: { readonly tried: string; readonly takes: string };
}

export interface Mend {
  readonly at: string;
  readonly what: string;
  /** The programs whose runs broke it; without it all of the row. */
  readonly of?: readonly string[];
}

export interface Rate {
  /** Counts of what must not happen, added. */
  readonly failures: readonly string[];
  /** The count of the trials, which is also their name. */
  readonly of: string;
  /** The share that may fail; none without it. */
  readonly atMost?: number;
}

export interface RowNeed {
  readonly what: string;
  readonly atLeast: number;
  /** Counts or kinds of faults that are added for it; `what` without it. */
  readonly of?: readonly string[];
  /** Several short runs do not show what one long run does. */
  readonly isOfOneRun?: boolean;
}

/** What it takes where each run adds to those before. */
export const LONGER = 'more time: with `--continue`, each run adds to the figure';

/** None of at least so many fails. */
export const noneOf = (failure: string, atLeast: number, of: string): Pick<ProofRow, 'rate' | 'needs'> => ({
  rate: { failures: [failure], of },
  needs: [{ what: of, atLeast }],
});

export interface ProofSection {
  readonly title: string;
  readonly rows: readonly ProofRow[];
  /** A file of docs/proofs with what else is to be said. */
  readonly notes?: string;
}
