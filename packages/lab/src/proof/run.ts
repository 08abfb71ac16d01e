import { appendFile, readFile } from 'node:fs/promises';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

// One run of an experiment, as a line of docs/proofs/*.jsonl. Files are only appended to, so that two branches merge by
// keeping the lines of both.

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }));

export const Run = Type.Object(
  {
    /** As programs name it, such as `chaos service`; of what was measured by hand the id of its row. */
    experiment: Type.String({ minLength: 1 }),
    /** The day, or the moment at which it began. */
    at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d(T[\\d:.]+Z)?$' }),
    /** The commit that was measured; null where git was absent or files were changed. */
    revision: Type.Union([Type.String({ pattern: '^[0-9a-f]{12}$' }), Type.Null()]),
    /** By the id of a promise, the digest of what it covers; a commit may be rebased away, and its code be the same. */
    code: Type.Optional(Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{12}$' }))),
    /** Null where nothing is drawn. */
    seed: Type.Union([Type.String(), Type.Null()]),
    /** Of the machine. */
    cores: Type.Integer({ minimum: 1 }),
    command: Type.String({ minLength: 1 }),
    /** What had to hold and did not, and how often; without it what a run broke is in its note at most. */
    broken: Type.Optional(Counts),
    /** Whether all held that the program checks, or the target was reached. */
    holds: Type.Boolean(),
    /** What adds up over runs. */
    counts: Counts,
    /** What was injected, by kind. */
    faults: Type.Optional(Counts),
    /** What does not add up, in a few words. */
    figure: Type.Optional(Type.String()),
    /** What else there is to say about it. */
    note: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Run = Static<typeof Run>;

export class BadRunFile extends Error {}

/** None where there is no file yet. */
export async function readRuns(file: string): Promise<Run[]> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [parseRun(line, `${file}:${i + 1}`)]));
}

function parseRun(line: string, where: string): Run {
  let read: unknown;
  try {
    read = JSON.parse(line);
  } catch {
    throw new BadRunFile(`${where} is no JSON`);
  }
  if (Value.Check(Run, read)) return read;
  const [error] = Value.Errors(Run, read);
  throw new BadRunFile(`${where}: ${error?.path || '/'} ${error?.message ?? 'is no run'}`);
}

export const appendRun = (file: string, run: Run): Promise<void> => appendFile(file, `${JSON.stringify(run)}\n`);

/** The same seed at the same revision shows the same once more, however long it ran: the first of them counts. */
export const isRepeated = (run: Pick<Run, 'experiment' | 'seed' | 'revision'>, before: readonly Run[]): boolean =>
  run.seed !== null &&
  before.some(
    ({ experiment, seed, revision }) => experiment === run.experiment && seed === run.seed && revision === run.revision,
  );

export const withoutRepeated = (runs: readonly Run[]): Run[] =>
  runs.filter((run, i) => !isRepeated(run, runs.slice(0, i)));
