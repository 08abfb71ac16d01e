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
  /** Null for one that has ended, and where it is not known. */
  progress: RunProgress | null;
}

export interface PollsView {
  rows: readonly HistoryRow[];
  /** Positions of the pages beside this one, in the order in which polls are shown. */
  after: string | null;
  before: string | null;
  looked: PollPage['looked'];
  /** Only on the first page of everything. */
  running: readonly HistoryRow[];
}

export async function readPolls(context: PagesContext, accountId: string, shown: PollsFilter): Promise<PollsView> {
  const { fields, isOldestFirst } = shown;
  const cursor = shown.after ?? shown.before ?? null;
  // A position that is not the account's is none.
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

/** Those of these polls that the account has, in the order of the ids. */
export const historyRows = async (
  context: PagesContext,
  accountId: string,
  pollIds: readonly string[],
): Promise<HistoryRow[]> => withOutcomes(context, await findPollLines(context.storage, accountId, pollIds));

/** The newest polls, running ones among them. */
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

/** Which polls a file has, and whether it ends before the list does. */
export interface ExportedRows {
  rows: HistoryRow[];
  isCut: boolean;
}

interface ExportBounds {
  pollIds: readonly string[];
  limit: number;
  maxLooked: number;
  /** Its caller has left: no further page is read. */
  gone: AbortSignal;
}

/** These polls of the account, or all that fit the filter up to the bounds, in the order of the list. */
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
  // A page reads a bounded number of rows: it may be short, or empty, and the list go on.
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
