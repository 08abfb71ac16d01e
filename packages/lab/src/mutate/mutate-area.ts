import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Area } from './areas.ts';
import type { Databases } from './databases.ts';
import { applied, type Mutant, shown } from './mutant.ts';
import { runTests, type TestsOutcome } from './run-tests.ts';
import { scriptMutants } from './script-mutants.ts';
import { sqlMutants } from './sql-mutants.ts';

// Every mutant of an area meets the area's tests. It is killed when a test fails or none comes to its end, and survives
// when all pass: then the change went unnoticed.

export interface MutationFigures {
  readonly area: string;
  mutants: number;
  killed: number;
  late: number;
  /** What Postgres did not take is no mutant. */
  impossible: number;
  survivors: string[];
}

export interface Work {
  readonly area: Area;
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly databases: () => Promise<Databases>;
  readonly atOnce: number;
  /** Takes every n-th mutant. */
  readonly every: number;
  readonly onVerdict: (figures: MutationFigures, left: number) => void;
}

interface Candidate {
  readonly label: string;
  /** Null: impossible. */
  judge(limitMs: number): Promise<TestsOutcome | null>;
}

const MIN_LIMIT_MS = 20_000;

export async function mutateArea(work: Work): Promise<MutationFigures> {
  const { area, every, atOnce } = work;
  const figures: MutationFigures = { area: area.name, mutants: 0, killed: 0, late: 0, impossible: 0, survivors: [] };
  const begun = performance.now();
  const sane = await runTests({ ...runOf(work), limitMs: 10 * 60_000 });
  if (sane !== 'passed') throw new Error(`the tests of ${area.name} do not pass without a mutant`);
  const limitMs = Math.max(MIN_LIMIT_MS, 5 * (performance.now() - begun));

  const candidates = (await candidatesOf(work)).filter((_, i) => i % every === 0);
  let next = 0;
  const lane = async () => {
    while (next < candidates.length) {
      const candidate = candidates[next++]!;
      const verdict = await candidate.judge(limitMs);
      if (verdict === null) figures.impossible += 1;
      else {
        figures.mutants += 1;
        if (verdict === 'passed') figures.survivors.push(candidate.label);
        else figures.killed += 1;
        if (verdict === 'late') figures.late += 1;
      }
      work.onVerdict(figures, candidates.length - next);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return figures;
}

function runOf({ area, root, env }: Work) {
  return { tests: area.tests.map((test) => join(root, test)), env };
}

async function candidatesOf(work: Work): Promise<Candidate[]> {
  const { area, root } = work;
  const scripts = area.files.flatMap((name) => {
    const file = join(root, name);
    const source = readFileSync(file, 'utf8');
    return scriptMutants(file, source).map(
      (mutant): Candidate => ({
        label: shown(name, source, mutant),
        judge: (limitMs) => runTests({ ...runOf(work), limitMs, mutated: { file, mutant } }),
      }),
    );
  });
  const functions: Candidate[] = [];
  for (const name of area.functions ?? []) {
    const databases = await work.databases();
    const definition = await databases.definition(name);
    const body = definition.indexOf('AS $');
    for (const mutant of sqlMutants(definition, Math.max(0, body)))
      functions.push({
        label: shown(name, definition, mutant),
        judge: inDatabase(work, databases, definition, mutant),
      });
  }
  return [...scripts, ...functions];
}

const inDatabase =
  (work: Work, databases: Databases, definition: string, mutant: Mutant): Candidate['judge'] =>
  async (limitMs) => {
    const template = await databases.withFunction(applied(definition, mutant));
    if (template === null) return null;
    const run = runOf(work);
    const verdict = await runTests({ ...run, limitMs, env: { ...run.env, TEST_TEMPLATE_DATABASE: template } });
    await databases.drop(template);
    return verdict;
  };
