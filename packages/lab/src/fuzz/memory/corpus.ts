import { readFile, writeFile } from 'node:fs/promises';
import type { Draws } from './draws.ts';
import { type FuzzStep, parseSteps, stepsText } from './step.ts';

// Sequences that were the first to reach an operation with a status and a code, cut after that step. Only the shortest
// for each is kept, so that the file stays small: one line each, with what was reached and the steps.

const MAX_ENTRIES = 1_500;
const MAX_STEPS = 40;

export interface Corpus {
  readonly size: number;
  /** True if it reached something for the first time, or in fewer steps. */
  take(steps: readonly FuzzStep[], reached: ReadonlyMap<string, number>): boolean;
  draw(draws: Draws): readonly FuzzStep[] | null;
  save(file: string): Promise<void>;
}

export async function readCorpus(file: string | null): Promise<Corpus> {
  const text =
    file === null
      ? ''
      : await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return '';
          throw error;
        });
  return corpusOf(text);
}

export function corpusOf(text: string): Corpus {
  const entries = new Map<string, readonly FuzzStep[]>();
  for (const line of text.split('\n')) {
    const [reached, steps] = line.split('\t');
    if (reached && steps) entries.set(reached, parseSteps(steps));
  }
  return {
    get size() {
      return entries.size;
    },
    take(steps, reached) {
      let isNew = false;
      for (const [triple, at] of reached) {
        const known = entries.get(triple);
        if (at >= MAX_STEPS || (known ? known.length <= at + 1 : entries.size >= MAX_ENTRIES)) continue;
        entries.set(triple, steps.slice(0, at + 1));
        isNew ||= known === undefined;
      }
      return isNew;
    },
    draw: (draws) => (entries.size === 0 ? null : draws.of([...entries.values()])),
    async save(path) {
      const lines = [...entries].map(([triple, steps]) => `${triple}\t${stepsText(steps)}\n`).toSorted();
      await writeFile(path, lines.join(''));
    },
  };
}
