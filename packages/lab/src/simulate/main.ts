// npm run simulate: polls in virtual time through the code that runs live ones. Exit code 1 on any violation.
import { runCommand } from '../terminal/command.ts';
import { type ProgressLine, progressOn } from '../terminal/progress.ts';
import { asPercent } from '../terminal/table.ts';
import { type Arguments, readArguments, USAGE } from './arguments.ts';
import { COURSES, type Course, exhaustCrashPoints } from './crash-points.ts';
import { crashPointLines, pollLines, worldLines } from './report.ts';
import { simulatePolls } from './simulate-polls.ts';
import { simulateWorlds } from './simulate-worlds.ts';

interface Shown {
  readonly figures: object;
  readonly lines: readonly string[];
  readonly violations: number;
}

await runCommand(USAGE, () => simulate(readArguments(process.argv.slice(2))));

async function simulate(args: Arguments): Promise<number> {
  const progress = progressOn(process.stderr);
  const shown: Shown[] = [];
  const show = (each: Shown) => {
    progress.end();
    shown.push(each);
    if (!args.json) process.stdout.write(`${each.lines.join('\n')}\n\n`);
  };
  if (args.seeds !== null) show(await worlds(args.seed, args.seeds, progress));
  if (args.crashPoints) for (const course of Object.keys(COURSES) as Course[]) show(await points(course, progress));
  if (args.polls !== null) show(await polls(args.seed, args.polls, progress));
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
  return { figures, lines, violations: figures.violations.length };
}

async function points(course: Course, progress: ProgressLine): Promise<Shown> {
  const begun = performance.now();
  const figures = await exhaustCrashPoints({
    course,
    onPoint: ({ singles, pairs, violations }) =>
      progress.show(`${course}: ${singles} points, ${pairs} pairs, ${violations.length} violations`),
  });
  const lines = crashPointLines(course, figures, performance.now() - begun);
  return { figures: { course, ...figures }, lines, violations: figures.violations.length };
}

async function polls(seed: string, count: number, progress: ProgressLine): Promise<Shown> {
  const figures = await simulatePolls(seed, count, (done, violations) => {
    progress.show(`${asPercent(done / count)} of ${count} polls, ${violations} violations`);
  });
  return { figures, lines: pollLines(figures), violations: figures.violations.length };
}
