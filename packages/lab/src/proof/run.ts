import { appendFile, readFile } from 'node:fs/promises';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

// One run of an experiment, as a line of docs/proofs/*.jsonl. Files are only appended to, so that two branches merge by
// keeping the lines of both.

const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }));

export const Run = Type.Object(
  {
    /** As its command names it, such as `chaos service`; for a measurement by hand, the id of its row. */
    experiment: Type.String({ minLength: 1 }),
    /** The time when it began, or only the day. */
    at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d(T[\\d:.]+Z)?$' }),
    /** The commit that was measured; null without git, or if files were changed. */
    revision: Type.Union([Type.String({ pattern: '^[0-9a-f]{12}$' }), Type.Null()]),
    /** For each row, the digest of what it covers: a commit may be rebased away while its code stays the same. */
    code: Type.Optional(Type.Record(Type.String(), Type.String({ pattern: '^[0-9a-f]{12}$' }))),
    /** Null if nothing is random. */
    seed: Type.Union([Type.String(), Type.Null()]),
    /** Of the machine. */
    cores: Type.Integer({ minimum: 1 }),
    command: Type.String({ minLength: 1 }),
    /** The rules that were broken, and how often. Older runs say it only in their note, if at all. */
    broken: Type.Optional(Counts),
    /** Whether no rule was broken, or the target was reached. */
    holds: Type.Boolean(),
    /** Counts that can be added up over runs. */
    counts: Counts,
    /** Injected faults by kind. */
    faults: Type.Optional(Counts),
    /** A figure that cannot be added up, in a few words. */
    figure: Type.Optional(Type.String()),
    note: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);
export type Run = Static<typeof Run>;

export class BadRunFile extends Error {}

/** An empty list if the file does not exist. */
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

/** A run with the seed and revision of an earlier one repeats it, however long it takes: only the first counts. */
export const isRepeated = (run: Pick<Run, 'experiment' | 'seed' | 'revision'>, before: readonly Run[]): boolean =>
  run.seed !== null &&
  before.some(
    ({ experiment, seed, revision }) => experiment === run.experiment && seed === run.seed && revision === run.revision,
  );

export const withoutRepeated = (runs: readonly Run[]): Run[] =>
  runs.filter((run, i) => !isRepeated(run, runs.slice(0, i)));
