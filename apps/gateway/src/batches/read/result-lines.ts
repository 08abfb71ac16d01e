import { type BatchResult, ERRORS, type ErrorCode } from '@eloquentpoll/contracts';
import { type BatchLine, readBatchLines, type Storage, type StoredBatch } from '@eloquentpoll/storage';
import { whyFailed } from '../../polls/read/why-failed.ts';

const PAGE = 100;

/** The rows that have ended, page by page; the next page is read once the previous one has been consumed. */
export async function* resultLines(storage: Storage, batch: StoredBatch): AsyncGenerator<BatchResult[]> {
  let afterLine = 0;
  for (;;) {
    const isOver = batch.endedAt !== null;
    const lines = await readBatchLines(storage, batch.id, { afterLine, limit: PAGE, isOver });
    if (lines.length > 0) yield lines.map((line) => toResult(line, batch));
    if (lines.length < PAGE) return;
    afterLine = lines.at(-1)!.line;
  }
}

function toResult(row: BatchLine, { notRunReason }: StoredBatch): BatchResult {
  const { line, customId, gold, pollId, detail } = row;
  const status = row.outcome ?? (notRunReason === 'canceled' ? 'canceled' : 'not_run');
  const isAnswered = status === 'success' || status === 'partial';
  const result = isAnswered ? detail : null;
  return {
    custom_id: customId,
    line,
    status,
    not_run_reason: row.outcome === null ? notRunReason : null,
    session_id: pollId,
    result,
    error: result || status === 'not_run' ? null : errorOf(row, status, isAnswered),
    gold,
    is_right: gold === null || !result ? null : result.winning_option === gold,
  };
}

function errorOf({ detail, error }: BatchLine, status: string, isAnswered: boolean): BatchResult['error'] {
  // The result was deleted, or its retention has passed.
  if (isAnswered) return ofCode('result_not_found');
  if (status === 'canceled') return ofCode('poll_canceled');
  if (error !== null) return ofCode(error as ErrorCode);
  const why = whyFailed(detail);
  return ofCode(why.code, why.detail);
}

const ofCode = (code: ErrorCode, detail?: string): BatchResult['error'] => ({
  code,
  error: detail ?? ERRORS[code].description,
});
