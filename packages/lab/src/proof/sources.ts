import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { type Run, readRuns } from './run.ts';

const FOLDER = join(root, 'docs/proofs');

/** All recorded runs, and the notes of sections. */
export async function readSources(): Promise<{ runs: Run[]; notes: Map<string, string> }> {
  const files = (await readdir(FOLDER)).toSorted();
  const runs: Run[] = [];
  const notes = new Map<string, string>();
  for (const file of files) {
    if (file.endsWith('.jsonl')) runs.push(...(await readRuns(join(FOLDER, file))));
    if (file.endsWith('.md')) notes.set(file, await readFile(join(FOLDER, file), 'utf8'));
  }
  return { runs, notes };
}
