import type { Metadata, PanelName, PollStatus, ServiceTier } from '@eloquentpoll/contracts';
import { isPaidByPool } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import type { Queries } from './open-storage.ts';
import { isInTime } from './polls.ts';
import { pollsWithResults } from './polls-with-results.ts';

// What a list shows of each poll.

export interface PollLine {
  pollId: string;
  status: PollStatus;
  resultId: string | null;
  question: string;
  panelName: PanelName;
  serviceTier: ServiceTier;
  metadata: Metadata | null;
  keyId: string | null;
  winningOption: string | null;
  isTie: boolean;
  isClose: boolean;
  /** Null while the poll runs; 0 for a poll of the free pool. */
  costU: bigint | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** Null if the poll is kept until it is deleted. */
  expiresAt: Date | null;
}

/** Those of these polls that belong to the account, in the order of the ids. */
export async function findPollLines(
  queries: Queries,
  accountId: string,
  pollIds: readonly string[],
): Promise<PollLine[]> {
  return toLines(await lineColumns(queries, pollIds).where('polls.account_id', '=', accountId).execute(), pollIds);
}

/** In the order of the ids. */
export const readPollLines = async (queries: Queries, pollIds: readonly string[]): Promise<PollLine[]> =>
  toLines(await lineColumns(queries, pollIds).execute(), pollIds);

/** Without expired polls. */
const lineColumns = (queries: Queries, pollIds: readonly string[]) =>
  pollsWithResults(queries, pollIds)
    .select([
      'polls.id',
      'polls.status',
      'polls.lane',
      'polls.metadata',
      'polls.key_id',
      'polls.is_close',
      'polls.entry_point',
      'polls.created_at',
      'polls.finished_at',
      'polls.expires_at',
      'results.result_id',
      'results.winning_option',
      'results.is_tie',
      'results.total_cost_u',
      sql<string>`polls.spec ->> 'question'`.as('question'),
      sql<PanelName>`polls.spec ->> 'panel_name'`.as('panel_name'),
    ])
    .where(isInTime);

function toLines(
  rows: Awaited<ReturnType<ReturnType<typeof lineColumns>['execute']>>,
  pollIds: readonly string[],
): PollLine[] {
  const place = new Map(pollIds.map((id, i) => [id, i]));
  rows.sort((a, b) => place.get(a.id)! - place.get(b.id)!);
  return rows.map((row) => ({
    pollId: row.id,
    status: row.status,
    resultId: row.result_id,
    question: row.question,
    panelName: row.panel_name,
    serviceTier: row.lane,
    metadata: row.metadata,
    keyId: row.key_id,
    winningOption: row.winning_option,
    isTie: row.is_tie ?? false,
    isClose: row.is_close,
    costU:
      row.status === 'running' ? null : isPaidByPool(row.panel_name, row.entry_point) ? 0n : (row.total_cost_u ?? 0n),
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    expiresAt: row.expires_at,
  }));
}
