import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area } from './areas.ts';
import type { Databases } from './databases.ts';
import { EQUIVALENT, type Equivalent, isOf } from './equivalent.ts';
import { type MeasuredTest, measureTest } from './measure-test.ts';
import { applied, changedLine, type Mutant } from './mutant.ts';
import { runTests, type TestsOutcome } from './run-tests.ts';
import { scriptMutants } from './script-mutants.ts';
import { sqlMutants } from './sql-mutants.ts';

// Runs each mutant of an area against the area's tests that reach it (all of them for a function of the database), the
// quickest first. A mutant is killed if a test fails or the run takes too long. It survives if all tests pass.

export interface MutationFigures {
  readonly area: string;
  mutants: number;
  killed: number;
  late: number;
  /** Changes that Postgres rejected; they are not counted as mutants. */
  impossible: number;
  /** Changes that have no observable effect; they are not counted as mutants either. */
  equivalent: number;
  survivors: string[];
}

/** Every `of`-th mutant, from the `number`-th on. */
export interface MutantsPart {
  readonly number: number;
  readonly of: number;
}

export interface Work {
  readonly area: Area;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly databases: () => Promise<Databases>;
  readonly atOnce: number;
  readonly part: MutantsPart;
  readonly onVerdict: (figures: MutationFigures, left: number) => void;
  readonly onSurvivor: (label: string) => void;
}

interface Candidate {
  readonly label: string;
  readonly equivalent: Equivalent | undefined;
  /** Null if Postgres rejects the change. */
  judge(): Promise<TestsOutcome | null>;
}

const MIN_LIMIT_MS = 20_000;

export async function mutateArea(work: Work): Promise<MutationFigures> {
  const { area, root, env, part, atOnce } = work;
  const counts = { mutants: 0, killed: 0, late: 0, impossible: 0, equivalent: 0 };
  const figures: MutationFigures = { area: area.name, ...counts, survivors: [] };
  const files = area.files.map((file) => join(root, file));
  const tests: MeasuredTest[] = [];
  await inLanes(area.tests, atOnce, async (test) => void tests.push(await measureTest(join(root, test), files, env)));
  tests.sort((a, b) => a.tookMs - b.tookMs);
  // A test that fails only after others in one process would kill every mutant.
  const began = performance.now();
  const together = await runTests(runOf(tests, env));
  const togetherMs = performance.now() - began;
  if (together !== 'passed') throw new Error(`the tests of ${area.name} pass one by one, but together: ${together}`);

  const all = await candidatesOf(work, tests, togetherMs);
  const outlived = equivalentsOf(area).filter((one) => !all.some(({ equivalent }) => equivalent === one));
  if (outlived.length > 0) throw new Error(`equivalent.ts names what is no mutant: ${JSON.stringify(outlived[0])}`);
  const candidates = all.filter((_, i) => i % part.of === part.number - 1);
  let left = candidates.length;
  await inLanes(candidates, atOnce, async (candidate) => {
    const verdict = candidate.equivalent ? null : await candidate.judge();
    if (candidate.equivalent) figures.equivalent += 1;
    else if (verdict === null) figures.impossible += 1;
    else {
      figures.mutants += 1;
      if (verdict === 'passed') {
        figures.survivors.push(candidate.label);
        work.onSurvivor(candidate.label);
      } else figures.killed += 1;
      if (verdict === 'late') figures.late += 1;
    }
    left -= 1;
    work.onVerdict(figures, left);
  });
  return figures;
}

async function inLanes<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items].reverse();
  const lane = async () => {
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}

const equivalentsOf = ({ files, functions = [] }: Area): Equivalent[] =>
  EQUIVALENT.filter(({ where }) => files.includes(where) || functions.includes(where));

async function candidatesOf(work: Work, tests: readonly MeasuredTest[], togetherMs: number): Promise<Candidate[]> {
  const { area, root, env } = work;
  const named = (where: string, source: string, mutant: Mutant) => {
    const changed = changedLine(source, mutant);
    return {
      label: `${where}:${changed.number}: ${changed.line} => ${changed.becomes}`,
      equivalent: EQUIVALENT.find((one) => isOf(where, changed, one)),
    };
  };
  const scripts = area.files.flatMap((name) => {
    const file = join(root, name);
    const source = readFileSync(file, 'utf8');
    return scriptMutants(file, source).map((mutant): Candidate => {
      const reaching = tests.filter((test) => test.reaches(file, mutant.reachedAt ?? mutant.start));
      return {
        ...named(name, source, mutant),
        judge: async () =>
          reaching.length === 0
            ? 'passed'
            : runTests({ ...runOf(reaching, env, togetherMs), mutated: { file, mutant } }),
      };
    });
  });
  const functions: Candidate[] = [];
  for (const name of area.functions ?? []) {
    const databases = await work.databases();
    const definition = await databases.definition(name);
    const body = definition.indexOf('AS $');
    for (const mutant of sqlMutants(definition, Math.max(0, body)))
      functions.push({
        ...named(name, definition, mutant),
        judge: () => judgeInDatabase(databases, applied(definition, mutant), runOf(tests, env, togetherMs)),
      });
  }
  return [...scripts, ...functions];
}

/** The time limit is five times what the tests take without a mutant: one by one, or all together if that is less. */
function runOf(tests: readonly MeasuredTest[], env: NodeJS.ProcessEnv, togetherMs = Number.POSITIVE_INFINITY) {
  const oneByOneMs = tests.reduce((sum, test) => sum + test.tookMs, 0);
  const tookMs = Math.min(oneByOneMs, togetherMs);
  return { tests: tests.map(({ test }) => test), env, limitMs: Math.max(MIN_LIMIT_MS, 5 * tookMs) };
}

async function judgeInDatabase(
  databases: Databases,
  definition: string,
  run: ReturnType<typeof runOf>,
): Promise<TestsOutcome | null> {
  const template = await databases.withFunction(definition);
  if (template === null) return null;
  const verdict = await runTests({ ...run, env: { ...run.env, TEST_TEMPLATE_DATABASE: template } });
  await databases.drop(template);
  return verdict;
}
