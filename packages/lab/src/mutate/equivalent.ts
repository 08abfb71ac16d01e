import type { ChangedLine } from './mutant.ts';

// Mutants that no test can notice, because nothing that can be observed changes. Each has its reason; one that fits no
// mutant any more is an error, so that the list does not outlive the code.

export interface Equivalent {
  /** The file or the function of the database. */
  readonly where: string;
  /** The first line that changes, and what it becomes. */
  readonly line: string;
  readonly becomes: string;
  readonly why: string;
}

export const EQUIVALENT: readonly Equivalent[] = [
  {
    where: 'apps/gateway/src/polls/order/decimal-usd.ts',
    line: 'const size = microUsd < 0n ? -microUsd : microUsd;',
    becomes: 'const size = microUsd <= 0n ? -microUsd : microUsd;',
    why: 'the negative of a bigint 0 is 0',
  },
];

export const isOf = (where: string, { line, becomes }: ChangedLine, one: Equivalent): boolean =>
  one.where === where && one.line === line && one.becomes === becomes;
