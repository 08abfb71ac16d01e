import { setImmediate as nextTurn } from 'node:timers/promises';
import { type BatchRowError, type BatchTerms, LIMITS } from '@eloquentpoll/contracts';
import type { PollsContext } from '../../polls/context.ts';
import { estimatePoll } from '../../polls/order/estimate-poll.ts';
import { chooseOnce } from './choose-once.ts';
import { tooLarge } from './metered-bytes.ts';
import type { RawRow } from './raw-row.ts';
import { readRow } from './read-row.ts';
import { worstCaseU } from './worst-case.ts';

/** The expected cost is computed for this many rows and extrapolated to the others. */
const MAX_ESTIMATED = 100;
const MAX_TURN_MS = 10;

export interface CheckedBatch {
  /** Number of valid rows. */
  rows: number;
  /** The first errors; `errorCount` counts all. */
  errors: readonly BatchRowError[];
  errorCount: number;
  invalidRows: number;
  expectedUsd: number;
  /** The reservation without `max_cost_usd`. */
  worstU: bigint;
}

export interface BatchToCheck {
  accountId: string;
  terms: BatchTerms;
  rows: AsyncIterable<RawRow>;
  maxRows: number;
}

/** Checks a batch without storing anything: its rows and what they may cost, or what is wrong with them. */
export async function checkBatch(context: PollsContext, batch: BatchToCheck): Promise<CheckedBatch> {
  const { accountId, terms, maxRows } = batch;
  const choose = chooseOnce(context, accountId);
  const lineOf = new Map<string, number>();
  const errors: BatchRowError[] = [];
  let [rowCount, rows, errorCount, invalidRows] = [0, 0, 0, 0];
  let worstU = 0n;
  const sample = { expectedUsd: 0, worstU: 0n };
  const refuse = (found: readonly BatchRowError[]) => {
    errorCount += found.length;
    invalidRows += 1;
    errors.push(...found.slice(0, LIMITS.batch.errors - errors.length));
  };
  let turnBeganAt = performance.now();
  for await (const raw of batch.rows) {
    rowCount += 1;
    if (rowCount > maxRows) throw tooLarge(`A batch may have at most ${maxRows} rows.`);
    const read = await readRow(context, raw, terms, choose);
    if (performance.now() - turnBeganAt > MAX_TURN_MS) {
      await nextTurn();
      turnBeganAt = performance.now();
    }
    if ('errors' in read) {
      refuse(read.errors);
      continue;
    }
    const { line, customId, order } = read.row;
    const knownLine = lineOf.get(customId);
    if (knownLine !== undefined) {
      const message = `custom_id is that of line ${knownLine} too`;
      refuse([{ line, custom_id: customId, field: 'custom_id', message }]);
      continue;
    }
    lineOf.set(customId, line);
    const rowWorstU = await worstCaseU(context, order);
    worstU += rowWorstU;
    rows += 1;
    if (rows > MAX_ESTIMATED) continue;
    sample.worstU += rowWorstU;
    sample.expectedUsd += (await estimatePoll(context, order)).cost_usd.expected;
  }
  const share = sample.worstU === 0n ? 0 : Number(worstU) / Number(sample.worstU);
  return { rows, errors, errorCount, invalidRows, expectedUsd: share * sample.expectedUsd, worstU };
}
