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
  /** Runs that count and did not hold, in what the row promises. */
  readonly unheld: readonly Run[];
  /** Needs that are not met yet. */
  readonly missing: readonly string[];
  /** What the runs before a mend came to, which no longer count; null where all count. */
  readonly before: string | null;
}

export function figureOf(row: ProofRow, all: readonly Run[]): Figure {
  const names = [row.id, ...(row.experiments ?? [])];
  const own = withoutRepeated(all.filter(({ experiment }) => names.includes(experiment)));
  const standing = standingRuns(row, own);
  const counted = standing.filter((run) => isRated(row, run));
  const runs = counted.length > 0 ? counted : standing;
  const missing = (row.needs ?? []).flatMap(({ what, atLeast, of = [what], isOfOneRun = false }) => {
    const found = isOfOneRun ? Math.max(0, ...runs.map((run) => sumOf([run], of))) : sumOf(runs, of);
    return found < atLeast ? [`${withCommas(found)} of ${withCommas(atLeast)} ${what}`] : [];
  });
  const before = own.filter((run) => !standing.includes(run));
  const unheld = unheldOf(row, standing);
  const known = {
    ...{ runs, newest: newestOf(runs), missing, unheld },
    before: before.length > 0 ? (row.rate ? rateText(row, before) : (newestOf(before)?.figure ?? null)) : null,
  };
  if (row.rate && counted.length > 0) {
    const { bound, isWithin } = rateOf(row.rate, counted);
    const isNone = sumOf(counted, row.none ?? []) === 0;
    const isReached = isWithin && isNone && missing.length === 0 && unheld.length === 0;
    return { ...known, text: rateText(row, standing), bound, isReached };
  }
  // What programs measured for a row that has a rate is no figure of it. What was measured by hand without counts is one, but
  // it has no bound, and a rate is reached by its bound.
  const measured = newestOf(row.rate ? runs.filter(({ experiment }) => experiment === row.id) : runs);
  return {
    ...{ ...known, bound: null, text: measured?.figure ?? 'not measured' },
    isReached: !row.rate && measured?.holds === true && missing.length === 0 && unheld.length === 0,
  };
}

const isRated = ({ rate }: ProofRow, { counts }: Run): boolean => rate !== undefined && saysBoth(rate, counts);

/** Without those of before a mend, once there is one since. */
function standingRuns(row: ProofRow, own: readonly Run[]): readonly Run[] {
  const { mended } = row;
  if (!mended) return own;
  const isAbout = ({ experiment }: Run) => mended.of?.includes(experiment) ?? true;
  const since = own.filter((run) => run.at >= mended.at && isAbout(run));
  const hasSince = mended.of || !row.rate ? since.length > 0 : since.some((run) => isRated(row, run));
  return hasSince ? own.filter((run) => run.at >= mended.at || !isAbout(run)) : own;
}

/**
 * A row without a rate is what its newest run says, and of a share that may fail only that of all runs counts. What was measured by
 * hand without counts is no figure of a row that has a rate.
 */
function unheldOf(row: ProofRow, runs: readonly Run[]): Run[] {
  if (!row.rate || row.rate.atMost !== undefined) return [];
  return runs.filter((run) => {
    const isOurs = isRated(row, run) || run.experiment !== row.id;
    const concerns = !row.rules || !run.broken || row.rules.some((rule) => (run.broken![rule] ?? 0) > 0);
    return !run.holds && isOurs && concerns;
  });
}

const newestOf = (runs: readonly Run[]): Run | null =>
  runs.reduce<Run | null>((newest, run) => (newest && newest.at > run.at ? newest : run), null);

/** Trials and at least one way to fail; without trials there is no rate. */
const saysBoth = ({ failures, of }: Rate, counts: Run['counts']): boolean =>
  (counts[of] ?? 0) > 0 && failures.some((name) => name in counts);

function rateText(row: ProofRow, all: readonly Run[]): string {
  const { rate, none = [], beside = [] } = row;
  const runs = all.filter((run) => isRated(row, run));
  const unheld = unheldOf(row, all).length;
  const { failures, trials } = rateOf(rate!, runs);
  return [
    ...(runs.length > 0 ? [`${withCommas(failures)} of ${withCommas(trials)} ${rate!.of}`] : []),
    ...(runs.length > 0 ? [...none, ...beside].map((name) => noneText(name, runs)) : []),
    ...(unheld > 0 ? [`${unheld} of ${all.length} ${all.length === 1 ? 'run' : 'runs'} did not hold`] : []),
  ].join('; ');
}

/** Runs of before a count was kept do not say that it was 0. */
function noneText(name: string, runs: readonly Run[]): string {
  const counting = runs.filter(({ counts }) => name in counts).length;
  if (counting === 0) return `${name} not counted`;
  const text = `${withCommas(sumOf(runs, [name]))} ${name}`;
  return counting === runs.length ? text : `${text} (${counting} of ${runs.length} runs count them)`;
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

/** A share in percent, rounded up to two digits: a bound of 1.03 % does not keep to 1 %. */
export function boundText(bound: number | null): string {
  if (bound === null) return '';
  if (bound <= 0) return '≤ 0 %';
  const percent = 100 * bound;
  const step = 10 ** (Math.floor(Math.log10(percent)) - 1);
  return `≤ ${Number((Math.ceil(percent / step) * step).toPrecision(2))} %`;
}

export const withCommas = (count: number): string => count.toLocaleString('en-US');
