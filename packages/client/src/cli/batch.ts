import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import {
  type Batch,
  type BatchRowError,
  type BatchRun,
  EloquentPollError,
  type NotRunReason,
} from '../eloquentpoll.ts';
import { type BatchInput, withInput } from './batch-input.ts';
import { batchView } from './batch-progress.ts';
import { printResults, type ResultsFile, writeResults } from './batch-results.ts';
import { type BatchState, readState, stateFile, writeState } from './batch-state.ts';
import { EXIT, type Exit } from './exit-codes.ts';
import { costText, plural } from './figures.ts';
import { writeAlone } from './file-lock.ts';
import type { Invocation } from './invocation.ts';
import { jsonText } from './json-text.ts';
import { plain } from './plain-text.ts';
import type { BatchCommand } from './read-batch-terms.ts';
import { submitRows } from './submit-rows.ts';
import { print, programOf } from './terminal.ts';
import { fileErrorOf, UsageError } from './usage-error.ts';

export type MakingCommand = Extract<BatchCommand, { name: 'batch' | 'eval' }>;

/**
 * Submits a file of rows, follows the batch to its end and writes the results. After an interruption it continues where
 * it was.
 */
export async function batchCommand(invocation: Invocation, command: MakingCommand): Promise<Exit> {
  const { terminal, json } = invocation;
  const out = outOf(command);
  const run = await beginBatch(invocation, command, out, async () => true);
  if (!run) return EXIT.usage;
  invocation.heard.batchId = run.id;
  if (command.detach) {
    print(terminal.out, json ? jsonText(await run.status({ signal: terminal.signal })) : plain(run.id));
    return EXIT.winner;
  }
  const batch = await followBatch(invocation, run, command.name);
  const lines = await saveResults(invocation, run, { out, total: batch.counts.total });
  if (json) print(out === '-' ? terminal.err : terminal.out, jsonText(batch));
  else print(out === '-' ? terminal.err : terminal.out, ...summaryOf(invocation, batch, out, lines));
  return exitOfBatch(batch);
}

/** By default next to the rows, or standard output if there is no file. */
export function outOf({ source, out }: MakingCommand): string {
  if (out !== null) return out;
  if (source.kind === 'batch' || source.file === '-') return '-';
  return `${source.file.slice(0, source.file.length - extname(source.file).length)}.results.jsonl`;
}

/**
 * The same rows with the same terms are the same batch, unless they should be asked again. `isWanted` is called before
 * a new batch is created. Null if it is not wanted.
 */
export async function beginBatch(
  invocation: Invocation,
  command: MakingCommand,
  out: string,
  isWanted: (input: BatchInput) => Promise<boolean>,
): Promise<BatchRun | null> {
  const { polls, terminal, siteUrl: service } = invocation;
  const { source, terms, again } = command;
  const state = out === '-' ? null : readState(out);
  const keep = (next: BatchState) => out !== '-' && writeState(out, next);
  if (source.kind === 'batch') {
    if (state?.batch_id !== source.id) refuseToMix(out);
    keep({ service, content: '', idempotency_key: '', batch_id: source.id });
    return polls.batchRun(source.id);
  }
  const { file, format } = source;
  return withInput(file, format, terminal, async (input) => {
    const content = createHash('sha256')
      .update(`${input.hash} ${format} ${JSON.stringify(terms)}`)
      .digest('hex');
    const begun = state?.service === service && state.content === content ? state : null;
    if (begun?.batch_id && !again) {
      if (!invocation.json)
        print(terminal.err, `These rows were already submitted as ${begun.batch_id}. To run them again: --again`);
      return polls.batchRun(begun.batch_id);
    }
    if (!begun || begun.batch_id) refuseToMix(out);
    if (!(await isWanted(input))) return null;
    const nonce = again ? `-${randomBytes(6).toString('hex')}` : '';
    const idempotencyKey = begun?.batch_id === null ? begun.idempotency_key : `rows-${content}${nonce}`;
    const next = { service, content, idempotency_key: idempotencyKey };
    keep({ ...next, batch_id: null });
    // Only a key that follows from the rows, or is kept in a file, is the same again.
    const submission = { ...{ terms, idempotencyKey, format }, isSameAgain: !again || out !== '-' };
    const run = await submitRows(invocation, input.rows, submission);
    await namingBatch(invocation, run.id, out, async () => keep({ ...next, batch_id: run.id }));
    return run;
  });
}

function refuseToMix(out: string): void {
  if (out === '-' || !existsSync(out)) return;
  throw new UsageError(`${out} has other results. Name another file with --out, or remove it and ${stateFile(out)}.`);
}

/** `check` is called with the batch before waiting for it. */
export async function followBatch(
  invocation: Invocation,
  run: BatchRun,
  name: string,
  check: (batch: Batch) => void = () => {},
): Promise<Batch> {
  const { terminal } = invocation;
  const view = batchView(invocation);
  try {
    // Fails at once, instead of waiting, if the service cannot be reached at all.
    const batch = await run.status({ signal: terminal.signal });
    check(batch);
    view.show(batch);
    if (batch.ended_at !== null) return batch;
    return await run.wait({ onProgress: view.show, signal: terminal.signal });
  } catch (error) {
    view.end();
    if (goesOn(error, invocation)) {
      const program = programOf(terminal);
      print(terminal.err, 'The batch continues, and its answers are charged. To resume this command:');
      const id = plain(run.id);
      print(terminal.err, `  ${program} ${name} ${id}`, `To stop it: ${program} cancel ${id}`);
    }
    throw error;
  } finally {
    view.end();
  }
}

/** A batch that does not exist cannot continue. With --json, standard error contains only the error. */
function goesOn(error: unknown, { terminal, json }: Invocation): boolean {
  if (json) return false;
  if (terminal.signal.aborted) return true;
  return !(error instanceof UsageError) && !(error instanceof EloquentPollError && error.status === 404);
}

/** Returns the number of lines. `total`: the rows of the batch, which has ended. */
export const saveResults = (invocation: Invocation, run: BatchRun, to: ResultsFile): Promise<number> =>
  namingBatch(invocation, run.id, to.out, () => writeOut(invocation, run, to));

/**
 * If an accepted batch's files cannot be written, its answers are still charged, so the error explains how to read
 * them.
 */
async function namingBatch<T>(
  { terminal, json }: Invocation,
  batchId: string,
  out: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!json) {
      print(terminal.err, 'The answers of the batch are charged. To read them, here or into another file:');
      print(terminal.err, `  ${programOf(terminal)} batch ${plain(batchId)} --out FILE`);
    }
    const wrong = error instanceof UsageError ? error : fileErrorOf(error, out);
    throw wrong ? new UsageError(wrong.message, { code: wrong.code, batchId }) : error;
  }
}

async function writeOut(invocation: Invocation, run: BatchRun, to: ResultsFile): Promise<number> {
  const { out: screen, signal } = invocation.terminal;
  if (to.out === '-') return printResults(run, screen, { total: to.total, signal });
  return writeAlone(invocation, to.out, () => writeResults(run, to, signal));
}

const WHY_NOT_RUN: Record<NotRunReason, string> = {
  canceled: 'it was canceled',
  expired: 'the 24 hours were over',
  uncovered: 'the rest of its limit or of the balance did not cover the next row',
};

export function summaryOf({ terminal }: Invocation, batch: Batch, out: string, lines: number): string[] {
  const { batch_id, status, counts, cost_usd, has_gold, not_run_reason, skipped } = batch;
  const others = (['partial', 'failed', 'canceled', 'not_run'] as const).filter((outcome) => counts[outcome] > 0);
  const list = others.map((outcome) => `${counts[outcome]} ${outcome.replace('_', ' ')}`);
  if (counts.not_run > 0) list.push(`${list.pop()}, because ${WHY_NOT_RUN[not_run_reason ?? 'canceled']}`);
  return [
    `${plain(`${batch_id} ${status}`)}: ${[`${counts.success} of ${plural(counts.total, 'row')} answered`, ...list].join(', ')}`,
    ...(skipped.count > 0 ? [`${plural(skipped.count, 'invalid row')} left out:`, ...skipped.first.map(rowLine)] : []),
    `Cost: ${costText(cost_usd)}`,
    ...(out === '-' ? [] : [`Results: ${out} (${plural(lines, 'line')})`]),
    ...(has_gold ? [`How often it was right: ${programOf(terminal)} eval ${plain(batch_id)}`] : []),
  ];
}

export function rowLine({ line, custom_id, field, message }: BatchRowError): string {
  const name = custom_id === null ? '' : ` (${plain(custom_id)})`;
  // Most messages start with their field.
  const text = field === null || message.startsWith(field.replace(/\W.*/s, '')) ? message : `${field}: ${message}`;
  return `  line ${line}${name}: ${plain(text)}`;
}

export function exitOfBatch({ counts }: Pick<Batch, 'counts'>): Exit {
  if (counts.success === counts.total) return EXIT.winner;
  return counts.success + counts.partial > 0 ? EXIT.partial : EXIT.undecided;
}
