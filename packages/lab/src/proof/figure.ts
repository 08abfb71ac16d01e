import { shareBound } from '@eloquentpoll/evidence';
import type { ProofRow, Rate } from './proof-row.ts';
import { type Run, withoutRepeated } from './run.ts';

// The figure of a row: its runs added up, and whether that reaches the target.

export interface Figure {
  readonly runs: readonly Run[];
  readonly newest: Run | null;
  /** With everything that was counted. */
  readonly text: string;
  /** What decides whether the target is reached. */
  readonly brief: string;
  /** The upper end of the 95 % confidence interval of the failure rate; null if the row has no rate. */
  readonly bound: number | null;
  readonly isReached: boolean;
  /** Runs that broke what the row promises. */
  readonly unheld: readonly Run[];
  /** Needs that are not met yet. */
  readonly missing: readonly string[];
  /** The figure of the runs before the fault was mended, which no longer count; null if all runs count. */
  readonly before: string | null;
}

export function figureOf(row: ProofRow, all: readonly Run[]): Figure {
  const names = [row.id, ...(row.experiments ?? [])];
  const own = withoutRepeated(all.filter(({ experiment }) => names.includes(experiment)));
  const counting = countingRuns(row, own);
  const rated = counting.filter((run) => isRated(row, run));
  const runs = rated.length > 0 ? rated : counting;
  const missing = (row.needs ?? []).flatMap(({ what, atLeast, of = [what], isOfOneRun = false }) => {
    const found = isOfOneRun ? Math.max(0, ...runs.map((run) => sumOf([run], of))) : sumOf(runs, of);
    return found < atLeast ? [`${withCommas(found)} of ${withCommas(atLeast)} ${what}`] : [];
  });
  const before = own.filter((run) => !counting.includes(run));
  const unheld = unheldOf(row, counting);
  const known = {
    ...{ runs, newest: newestOf(runs), missing, unheld },
    before: before.length > 0 ? (row.rate ? rateText(row, before) : (newestOf(before)?.figure ?? null)) : null,
  };
  if (row.rate && rated.length > 0) {
    const { bound, isWithin } = rateOf(row.rate, rated);
    const isNone = sumOf(rated, row.none ?? []) === 0;
    const isReached = isWithin && isNone && missing.length === 0 && unheld.length === 0;
    return { ...known, text: rateText(row, counting), brief: briefText(row, counting), bound, isReached };
  }
  // Runs of programs without the counts of the rate say nothing about it. A figure measured by hand does, but it has no
  // bound, and a rate is reached by its bound.
  const measured = newestOf(row.rate ? runs.filter(({ experiment }) => experiment === row.id) : runs);
  const text = measured?.figure ?? 'not measured';
  return {
    ...{ ...known, bound: null, text, brief: text },
    isReached: !row.rate && measured?.holds === true && missing.length === 0 && unheld.length === 0,
  };
}

const isRated = ({ rate }: ProofRow, { counts }: Run): boolean => rate !== undefined && countsTrials(rate, counts);

/** The runs that still count: once there is a run since the fault was mended, those before it do not. */
function countingRuns(row: ProofRow, own: readonly Run[]): readonly Run[] {
  const { mended } = row;
  if (!mended) return own;
  const isAbout = ({ experiment }: Run) => mended.of?.includes(experiment) ?? true;
  const since = own.filter((run) => run.at >= mended.at && isAbout(run));
  const hasSince = mended.of || !row.rate ? since.length > 0 : since.some((run) => isRated(row, run));
  return hasSince ? own.filter((run) => run.at >= mended.at || !isAbout(run)) : own;
}

/**
 * Runs that did not hold although no failure is allowed. If a share may fail, or the row has no rate, the figure itself
 * decides. For a row with a rate, a measurement by hand without counts is ignored.
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

/** The run counts trials, of which there were some, and at least one kind of failure. */
const countsTrials = ({ failures, of }: Rate, counts: Run['counts']): boolean =>
  (counts[of] ?? 0) > 0 && failures.some((name) => name in counts);

const rateText = (row: ProofRow, all: readonly Run[]): string =>
  withCounts(row, all, (runs) =>
    [...(row.none ?? []), ...(row.beside ?? [])].map((name) => {
      const counting = runs.filter(({ counts }) => name in counts).length;
      const isPart = counting > 0 && counting < runs.length;
      return `${countText(name, runs)}${isPart ? ` (${counting} of ${runs.length} runs count them)` : ''}`;
    }),
  );

const briefText = (row: ProofRow, all: readonly Run[]): string =>
  withCounts(row, all, (runs) => (row.none ?? []).map((name) => countText(name, runs)));

function withCounts(row: ProofRow, all: readonly Run[], countsOf: (runs: readonly Run[]) => string[]): string {
  const runs = all.filter((run) => isRated(row, run));
  const unheld = unheldOf(row, all).length;
  const { failures, trials } = rateOf(row.rate!, runs);
  return [
    ...(runs.length > 0 ? [`${withCommas(failures)} of ${withCommas(trials)} ${row.rate!.of}`, ...countsOf(runs)] : []),
    ...(unheld > 0 ? [`${unheld} of ${all.length} ${all.length === 1 ? 'run' : 'runs'} did not hold`] : []),
  ].join('; ');
}

/** Older runs may lack this count, which does not mean that it was 0. */
const countText = (name: string, runs: readonly Run[]): string =>
  runs.some(({ counts }) => name in counts) ? `${withCommas(sumOf(runs, [name]))} ${name}` : `${name} not counted`;

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

/** Rounded up to two significant digits: a bound of 1.03 % is above 1 %. */
export function boundText(bound: number | null): string {
  if (bound === null) return '';
  if (bound <= 0) return '≤ 0 %';
  const percent = 100 * bound;
  const step = 10 ** (Math.floor(Math.log10(percent)) - 1);
  return `≤ ${Number((Math.ceil(percent / step) * step).toPrecision(2))} %`;
}

export const withCommas = (count: number): string => count.toLocaleString('en-US');
