import { shareBound } from '@eloquentpoll/evidence';
import type { ProofRow, Rate } from './proof-row.ts';
import { type Run, withoutRepeated } from './run.ts';

// What the runs of a row add up to.

export interface Figure {
  readonly runs: readonly Run[];
  readonly newest: Run | null;
  /** In a few words. */
  readonly text: string;
  /** The highest rate of failures that is believable at 95 %; null where the figure is no rate. */
  readonly bound: number | null;
  readonly isReached: boolean;
  /** Needs that are not met yet. */
  readonly missing: readonly string[];
  /** What the runs before a mend came to, which no longer count; null where all count. */
  readonly before: string | null;
}

export function figureOf(row: ProofRow, all: readonly Run[]): Figure {
  const names = [row.id, ...(row.experiments ?? [])];
  const own = withoutRepeated(all.filter(({ experiment }) => names.includes(experiment)));
  const rated = row.rate ? own.filter(({ counts }) => saysBoth(row.rate!, counts)) : [];
  const since = rated.filter(({ at }) => at >= (row.mended?.at ?? ''));
  // Until there is a run since, those before stand.
  const counted = since.length > 0 ? since : rated;
  const runs = counted.length > 0 ? counted : own;
  const missing = (row.needs ?? []).flatMap(({ what, atLeast, of = [what] }) => {
    const found = sumOf(runs, of);
    return found < atLeast ? [`${withCommas(found)} of ${withCommas(atLeast)} ${what}`] : [];
  });
  const before = rated.filter((run) => !counted.includes(run));
  const known = {
    ...{ runs, newest: newestOf(runs), missing },
    before: before.length > 0 ? sumsText(row.rate!, row.none, before) : null,
  };
  if (row.rate && counted.length > 0) {
    const { bound, isWithin } = rateOf(row.rate, counted);
    const isNone = sumOf(counted, row.none ?? []) === 0;
    const text = sumsText(row.rate, row.none, counted);
    return { ...known, text, bound, isReached: isWithin && isNone && missing.length === 0 };
  }
  // What programs measured for a row that has a rate is no figure of it.
  const measured = newestOf(row.rate ? runs.filter(({ experiment }) => experiment === row.id) : runs);
  return {
    ...{ ...known, bound: null, text: measured?.figure ?? 'not measured' },
    isReached: measured?.holds === true && missing.length === 0,
  };
}

const newestOf = (runs: readonly Run[]): Run | null =>
  runs.reduce<Run | null>((newest, run) => (newest && newest.at > run.at ? newest : run), null);

/** Trials and at least one way to fail; without trials there is no rate. */
const saysBoth = ({ failures, of }: Rate, counts: Run['counts']): boolean =>
  (counts[of] ?? 0) > 0 && failures.some((name) => name in counts);

function sumsText(rate: Rate, none: readonly string[] = [], runs: readonly Run[]): string {
  const { failures, trials } = rateOf(rate, runs);
  return [
    `${withCommas(failures)} of ${withCommas(trials)} ${rate.of}`,
    ...none.map((name) => `${withCommas(sumOf(runs, [name]))} ${name}`),
  ].join('; ');
}

function rateOf({ failures: names, of, atMost = 0 }: Rate, runs: readonly Run[]) {
  const failures = sumOf(runs, names);
  const trials = sumOf(runs, [of]);
  const bound = shareBound(failures, trials);
  return { failures, trials, bound, isWithin: atMost === 0 ? failures === 0 : bound <= atMost };
}

const sumOf = (runs: readonly Run[], names: readonly string[]): number =>
  runs.reduce(
    (sum, { counts, faults = {} }) => names.reduce((all, name) => all + (counts[name] ?? faults[name] ?? 0), sum),
    0,
  );

/** A share in percent, with two digits that count. */
export function boundText(bound: number | null): string {
  return bound === null ? '' : `≤ ${Number((100 * bound).toPrecision(2))} %`;
}

export const withCommas = (count: number): string => count.toLocaleString('en-US');
