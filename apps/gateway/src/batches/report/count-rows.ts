import { setImmediate } from 'node:timers/promises';
import type { BatchReport } from '@eloquentpoll/contracts';
import {
  findBatchReport,
  type GoldRow,
  readGoldRows,
  type Storage,
  type StoredBatch,
  storeBatchReport,
} from '@eloquentpoll/storage';
import { buildReport } from './build-report.ts';
import { countedRow } from './gold-poll-of.ts';
import { addJudged, noRows, type ReportSums } from './report-sums.ts';

// Counts the ended rows of a batch in line order and stores the progress: each reader of the report continues the count
// for a while, until the finished report is stored. If a process ends, only its latest progress is lost.

/** Rows read at a time, and how long the event loop may be blocked. */
const ROWS = 100;
const SLICE_MS = 10;
/** How long one reader continues the count. */
const READER_MS = 1_000;

type Counted = Pick<StoredBatch, 'id' | 'total' | 'endedAt'>;

interface Progress {
  line: number;
  counted: number;
  readonly sums: ReportSums;
}

const underWay = new WeakMap<Storage, Map<string, Promise<BatchReport>>>();

/** Simultaneous readers of one report share one count. */
export function batchReport(storage: Storage, batch: Counted): Promise<BatchReport> {
  const counts = underWay.get(storage) ?? new Map<string, Promise<BatchReport>>();
  underWay.set(storage, counts);
  const count = counts.get(batch.id) ?? countAndBuild(storage, batch).finally(() => counts.delete(batch.id));
  counts.set(batch.id, count);
  return count;
}

async function countAndBuild(storage: Storage, batch: Counted): Promise<BatchReport> {
  const stored = await findBatchReport(storage, batch.id);
  if (stored?.report) return stored.report;
  const from = stored?.line ?? 0;
  const progress: Progress = {
    line: from,
    counted: stored?.counted ?? 0,
    sums: stored ? (stored.sums as ReportSums) : noRows(),
  };
  const isComplete = (await countOn(storage, batch, progress)) && batch.endedAt !== null;
  const { line, counted, sums } = progress;
  const report = await buildReport(sums, {
    ...{ batchId: batch.id, total: batch.total, counted, countedAt: new Date(), isComplete },
  });
  if (isComplete || line > from)
    await storeBatchReport(storage, batch.id, from, {
      ...{ line, counted, sums: isComplete ? null : sums, report: isComplete ? report : null },
    });
  return report;
}

/** True when every row that has ended is counted. */
async function countOn(storage: Storage, batch: Counted, progress: Progress): Promise<boolean> {
  const until = performance.now() + READER_MS;
  do {
    const rows = await readGoldRows(storage, batch.id, { afterLine: progress.line, limit: ROWS });
    const open = batch.endedAt === null ? rows.findIndex(({ outcome }) => outcome === null) : -1;
    const ended = open < 0 ? rows : rows.slice(0, open);
    await countRows(ended, progress);
    if (ended.length < ROWS) return true;
  } while (performance.now() < until);
  return false;
}

async function countRows(rows: readonly GoldRow[], progress: Progress): Promise<void> {
  let sliceEnds = performance.now() + SLICE_MS;
  for (const row of rows) {
    countRow(progress.sums, row);
    progress.line = row.line;
    progress.counted += 1;
    if (performance.now() < sliceEnds) continue;
    await setImmediate();
    sliceEnds = performance.now() + SLICE_MS;
  }
}

function countRow(sums: ReportSums, row: GoldRow): void {
  const counted = countedRow(row);
  if (counted.kind === 'judged') addJudged(sums, counted);
  else if (counted.kind === 'without_gold') sums.withoutGold += 1;
  else sums.notJudged += 1;
}
