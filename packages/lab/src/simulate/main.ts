// npm run simulate: polls in virtual time, run by production code. Exit code 1 on any violation.
import { continueFile, repeatedBy } from '../proof/continued.ts';
import { runCommand } from '../terminal/command.ts';
import { type ProgressLine, progressOn } from '../terminal/progress.ts';
import { asPercent } from '../terminal/table.ts';
import { readArguments, USAGE } from './arguments.ts';
import { COURSES, type Course, exhaustCrashPoints } from './crash-points.ts';
import { IN_TIME } from './judge-poll.ts';
import { crashPointLines, pollLines, worldLines } from './report.ts';
import { simulatePolls } from './simulate-polls.ts';
import { simulateWorlds } from './simulate-worlds.ts';

const WORLDS = 'simulate worlds';
const POLLS = 'simulate polls';

interface Shown {
  readonly experiment: string;
  /** Null if nothing is drawn. */
  readonly seed: string | null;
  readonly figures: object;
  readonly lines: readonly string[];
  readonly violations: number;
  /** Counts that can be added up over runs. */
  readonly counts: Record<string, number>;
  readonly faults?: Record<string, number>;
}

await runCommand(USAGE, () => simulate(process.argv.slice(2)));

async function simulate(argv: readonly string[]): Promise<number> {
  const args = readArguments(argv);
  const kept = args.runFile === null ? null : await continueFile(args.runFile, repeatedBy('simulate', argv));
  const progress = progressOn(process.stderr);
  const shown: Shown[] = [];
  const show = async (each: Shown) => {
    progress.end();
    shown.push(each);
    const { experiment, seed, violations, faults } = each;
    const counts = { ...each.counts, violations };
    const holds = violations === 0;
    const sums = await kept?.add({ experiment, seed, holds, counts, ...(faults && { faults }) });
    if (!args.json) process.stdout.write(`${[...each.lines, ...(sums ?? [])].join('\n')}\n\n`);
  };
  if (args.seeds !== null) kept?.refuseRepeated(WORLDS, args.seed);
  if (args.polls !== null) kept?.refuseRepeated(POLLS, args.seed);
  if (args.seeds !== null) await show(await worlds(args.seed, args.seeds, progress));
  if (args.crashPoints)
    for (const course of Object.keys(COURSES) as Course[]) await show(await points(course, progress));
  if (args.polls !== null) await show(await polls(args.seed, args.polls, progress));
  if (args.json)
    process.stdout.write(`${JSON.stringify({ seed: args.seed, shown: shown.map((each) => each.figures) })}\n`);
  return shown.every((each) => each.violations === 0) ? 0 : 1;
}

async function worlds(seed: string, count: number, progress: ProgressLine): Promise<Shown> {
  const begun = performance.now();
  const figures = await simulateWorlds(seed, count, (done, violations) => {
    progress.show(`${asPercent(done / count)} of ${count} worlds, ${violations} violations`);
  });
  const lines = worldLines(seed, figures, performance.now() - begun);
  const { worlds, polls, steps, calls, faults, violations } = figures;
  const counts = { worlds, polls, steps, calls };
  return { experiment: WORLDS, seed, figures, lines, violations: violations.length, counts, faults };
}

async function points(course: Course, progress: ProgressLine): Promise<Shown> {
  const begun = performance.now();
  const figures = await exhaustCrashPoints({
    course,
    onPoint: ({ singles, pairs, violations }) =>
      progress.show(`${course}: ${singles} points, ${pairs} pairs, ${violations.length} violations`),
  });
  const lines = crashPointLines(course, figures, performance.now() - begun);
  const { singles, pairs, violations } = figures;
  return {
    // All points were played, so another run at the same revision would show nothing new.
    ...{ experiment: 'simulate crash points', seed: course, figures: { course, ...figures }, lines },
    ...{ violations: violations.length, counts: { 'points and pairs': singles + pairs } },
  };
}

async function polls(seed: string, count: number, progress: ProgressLine): Promise<Shown> {
  const figures = await simulatePolls(seed, count, (done, violations) => {
    progress.show(`${asPercent(done / count)} of ${count} polls, ${violations} violations`);
  });
  const { calls, votes, deaths, violations } = figures;
  return {
    ...{ experiment: POLLS, seed, figures, lines: pollLines(figures), violations: violations.length },
    counts: {
      ...{ polls: figures.polls, calls, votes, 'workers that died': deaths },
      'polls that their deadline ended': figures.reasons.deadline,
      'late polls': violations.filter(({ rule }) => rule === IN_TIME).length,
    },
  };
}
