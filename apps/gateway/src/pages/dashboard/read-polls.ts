import {
  findPollLines,
  type ListedOutcome,
  listPolls,
  type PollFilter,
  type PollLine,
  type PollPage,
  readOutcomes,
} from '@eloquentpoll/storage';
import { cursorsOf } from '../../polls/read/page-cursors.ts';
import { type RunProgress, readProgress } from '../../polls/read/read-progress.ts';
import type { PagesContext } from '../context.ts';
import type { PollsFilter } from './polls-filter.ts';

const PAGE = 25;
const MAX_RUNNING = 10;
const MAX_RECENT = 5;

export interface HistoryRow extends PollLine {
  outcome: ListedOutcome;
  /** Null for a poll that has ended, and if the progress is unknown. */
  progress: RunProgress | null;
}

export interface PollsView {
  rows: readonly HistoryRow[];
  /** Positions of the neighbouring pages, in display order. */
  after: string | null;
  before: string | null;
  looked: PollPage['looked'];
  /** Only on the first page of the unfiltered list. */
  running: readonly HistoryRow[];
}

export async function readPolls(context: PagesContext, accountId: string, shown: PollsFilter): Promise<PollsView> {
  const { fields, isOldestFirst } = shown;
  const cursor = shown.after ?? shown.before ?? null;
  // A position that does not belong to the account is ignored.
  const page = (await pageAt(context, accountId, shown, cursor)) ?? (await pageAt(context, accountId, shown, null))!;
  const lines = isOldestFirst ? page.lines.toReversed() : page.lines;
  const isFirst = cursor === null && Object.keys(fields).length === 0;
  const running = isFirst ? await listAll(context, accountId, { status: 'running' }, MAX_RUNNING) : [];
  return {
    rows: await withOutcomes(context, lines),
    ...cursorsOf({ lines, goOn: page.goOn }, shown.after, shown.before),
    looked: page.looked,
    running: await withOutcomes(context, running),
  };
}

function pageAt(
  { storage }: PagesContext,
  accountId: string,
  { filter, isOldestFirst, after, before }: PollsFilter,
  pollId: string | null,
): Promise<PollPage | null> {
  const isBack = pollId !== null && after === undefined && before !== undefined;
  const direction = isOldestFirst === isBack ? 'older' : 'newer';
  return listPolls(storage, accountId, filter, { limit: PAGE, from: { pollId, direction } });
}

/** The account's polls with these ids, in the order of the ids. */
export const historyRows = async (
  context: PagesContext,
  accountId: string,
  pollIds: readonly string[],
): Promise<HistoryRow[]> => withOutcomes(context, await findPollLines(context.storage, accountId, pollIds));

/** The newest polls, including running ones. */
export const readRecentPolls = async (context: PagesContext, accountId: string): Promise<HistoryRow[]> =>
  withOutcomes(context, await listAll(context, accountId, {}, MAX_RECENT));

async function listAll(
  { storage }: PagesContext,
  accountId: string,
  filter: PollFilter,
  limit: number,
): Promise<PollLine[]> {
  return (await listPolls(storage, accountId, filter, { limit }))!.lines;
}

/** The polls of an export, and whether it stopped before the end of the list. */
export interface ExportedRows {
  rows: HistoryRow[];
  isCut: boolean;
}

interface ExportBounds {
  pollIds: readonly string[];
  limit: number;
  maxLooked: number;
  /** Aborted when the caller has disconnected: no further page is read. */
  gone: AbortSignal;
}

/** The polls with these ids, or all that match the filter up to the limits, in list order. */
export async function readForExport(
  context: PagesContext,
  accountId: string,
  { filter, isOldestFirst }: PollsFilter,
  { pollIds, limit, maxLooked, gone }: ExportBounds,
): Promise<ExportedRows> {
  if (pollIds.length > 0) return { rows: await historyRows(context, accountId, pollIds), isCut: false };
  const direction = isOldestFirst ? 'newer' : 'older';
  const found: PollLine[] = [];
  let pollId: string | null = null;
  let looked = 0;
  // A page reads a bounded number of rows, so a short or empty page is not the end of the list.
  do {
    const from = { pollId, direction } as const;
    const page = await listPolls(context.storage, accountId, filter, { limit: limit - found.length, from });
    if (!page) break;
    found.push(...(isOldestFirst ? page.lines.toReversed() : page.lines));
    looked += page.looked.polls;
    pollId = page.goOn;
  } while (pollId !== null && found.length < limit && looked < maxLooked && !gone.aborted);
  return { rows: await withOutcomes(context, found), isCut: pollId !== null };
}

async function withOutcomes(context: PagesContext, lines: readonly PollLine[]): Promise<HistoryRow[]> {
  const running = lines.filter(({ status }) => status === 'running').map(({ pollId }) => pollId);
  const [outcomes, progress] = await Promise.all([
    readOutcomes(
      context.storage,
      lines.map(({ pollId }) => pollId),
    ),
    readProgress(context, running),
  ]);
  return lines.flatMap((line) => {
    const outcome = outcomes.get(line.pollId);
    return outcome ? [{ ...line, outcome, progress: progress.get(line.pollId) ?? null }] : [];
  });
}
