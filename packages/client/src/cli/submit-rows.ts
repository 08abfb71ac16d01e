import type { BatchRun, BatchTerms } from '../eloquentpoll.ts';
import { mayBeMade } from './heard.ts';
import type { Invocation } from './invocation.ts';
import { print, programOf } from './terminal.ts';

interface Submission {
  terms: BatchTerms;
  idempotencyKey: string;
  format: 'jsonl' | 'csv';
  /** Whether the same command would send the same key. */
  isSameAgain: boolean;
}

/** Submits the rows of a batch. If the answer is lost, prints how to find the batch, which may exist. */
export async function submitRows(
  { polls, terminal, json, heard }: Invocation,
  rows: Blob,
  { terms, idempotencyKey, format, isSameAgain }: Submission,
): Promise<BatchRun> {
  try {
    return await polls.batch(rows, terms, { idempotencyKey, format, signal: terminal.signal });
  } catch (error) {
    if (!json && mayBeMade(error, heard, terminal.signal)) {
      const way = isSameAgain ? 'The same command joins that batch. To list yours:' : 'Before you submit them again:';
      print(terminal.err, `The rows may have been accepted, and their answers are charged. ${way}`);
      print(terminal.err, `  ${programOf(terminal)} batches`);
    }
    throw error;
  }
}
