// A promise of the project, what shows that it is kept, and what is missing if it is not.

export interface ProofRow {
  /** Also the name of the experiment for runs that are recorded by hand. */
  readonly id: string;
  readonly says: string;
  readonly target: string;
  /** How to measure it again. */
  readonly command: string;
  /** Paths from the root of the repository. A change in one of them makes the figure stale. */
  readonly covers: readonly string[];
  /** Experiments of programs whose runs count for this row, in addition to runs recorded by hand. */
  readonly experiments?: readonly string[];
  /**
   * The rules of its programs that this row is about; a run that broke only others still holds for it. Without it, all
   * rules. A run that does not record what it broke holds for no row.
   */
  readonly rules?: readonly string[];
  /** The counts that make the figure. Without it, the figure is that of the newest run. */
  readonly rate?: Rate;
  /** Further counts that must be 0 but are not failures of the trials. Each is shown beside the rate. */
  readonly none?: readonly string[];
  /** Counts that are shown beside the rate and not judged: what it leaves out, or how many trials could have failed. */
  readonly beside?: readonly string[];
  /** The size that all runs together must reach. */
  readonly needs?: readonly RowNeed[];
  /** A fault that earlier runs found and that was fixed. Only runs since then count, and must reach the size again. */
  readonly mended?: Mend;
  /** Shown while the target is not reached. */
  readonly short?: { readonly tried: string; readonly takes: string };
}

export interface Mend {
  readonly at: string;
  readonly what: string;
  /** The experiments whose runs found the fault; without it, all of the row. */
  readonly of?: readonly string[];
}

export interface Rate {
  /** Counts of failures, which are added up. */
  readonly failures: readonly string[];
  /** The count of trials; also how they are called on the page. */
  readonly of: string;
  /** The share of trials that may fail; without it, none. */
  readonly atMost?: number;
}

export interface RowNeed {
  readonly what: string;
  readonly atLeast: number;
  /** Counts or kinds of faults that are added up; without it, the count named `what`. */
  readonly of?: readonly string[];
  /** One run must reach it alone, such as a long one that several short ones cannot replace. */
  readonly isOfOneRun?: boolean;
}

/** For rows whose runs only need to be more. */
export const LONGER = 'more time: with `--continue`, each run adds to the figure';

/** No failure in at least so many trials. */
export const noneOf = (failure: string, atLeast: number, of: string): Pick<ProofRow, 'rate' | 'needs'> => ({
  rate: { failures: [failure], of },
  needs: [{ what: of, atLeast }],
});

export interface ProofSection {
  readonly title: string;
  readonly rows: readonly ProofRow[];
  /** A file of docs/proofs that is printed after the rows. */
  readonly notes?: string;
}
