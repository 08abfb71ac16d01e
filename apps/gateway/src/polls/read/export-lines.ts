import type { ExportLine } from '@eloquentpoll/contracts';
import {
  balanceOf,
  batchPlacesOf,
  feedbackAfter,
  findAccount,
  findPollLines,
  findResultsOfPolls,
  listKeys,
  listSavedPanels,
  listWebhookEndpoints,
  type PollPlace,
  pollsAfter,
  type Queries,
  transfersAfter,
} from '@eloquentpoll/storage';
import { jsonLine } from '../../http/json-line.ts';
import type { LaggingReads } from '../../http/lagging-reads.ts';
import { toListedPoll } from './listed-poll.ts';

// An export consists of parts, each read page by page. A cursor names the part and the position to continue from.
// Nothing is kept between requests, so any gateway can continue an export.

/** Polls per page; with their results about half a megabyte. */
const PAGE = 100;

interface Page {
  lines: ExportLine[];
  /** Where the next page of this part begins; null after the last page. */
  next: string | null;
}

type Part = (storage: Queries, accountId: string, after: string | null) => Promise<Page>;

const PARTS: Readonly<Record<string, Part>> = {
  account: whole(async (storage, accountId) => {
    const [account, balance] = await Promise.all([findAccount(storage, accountId), balanceOf(storage, accountId)]);
    if (!account) return [];
    return [
      {
        type: 'account',
        user_id: accountId,
        email: account.email,
        balance_usd: usd(balance?.availableU ?? 0n),
        used_usd: usd(balance?.usageU ?? 0n),
      },
    ];
  }),
  keys: async (storage, accountId, after) => {
    const keys = await listKeys(storage, accountId, { limit: PAGE, after: after ?? undefined });
    const lines = keys.map(({ id, prefix, label, lastUsedAt, expiresAt, revokedAt, createdAt }) => ({
      type: 'key' as const,
      id,
      key_prefix: prefix,
      label,
      last_used_at: timeOrNull(lastUsedAt),
      expires_at: timeOrNull(expiresAt),
      revoked_at: timeOrNull(revokedAt),
      created_at: createdAt.toISOString(),
    }));
    return { lines, next: nextOf(keys, ({ id }) => id) };
  },
  panels: whole(async (storage, accountId) =>
    (await listSavedPanels(storage, accountId)).map(({ name, models, updatedAt }) => ({
      type: 'panel',
      name,
      models: [...models],
      updated_at: updatedAt.toISOString(),
    })),
  ),
  webhooks: whole(async (storage, accountId) =>
    (await listWebhookEndpoints(storage, accountId)).map(
      ({ id, url, description, eventTypes, disabledAt, createdAt }) => ({
        type: 'webhook_endpoint',
        id,
        url: url ?? '',
        description,
        event_types: [...eventTypes],
        disabled_at: timeOrNull(disabledAt),
        created_at: createdAt.toISOString(),
      }),
    ),
  ),
  feedback: async (storage, accountId, after) => {
    const given = await feedbackAfter(storage, accountId, after ?? '', PAGE);
    const lines = given.map(({ resultId, outcomeCorrect, confidence, notes, createdAt }) => ({
      type: 'feedback' as const,
      poll_id: resultId,
      outcome_correct: outcomeCorrect,
      confidence,
      notes,
      created_at: createdAt.toISOString(),
    }));
    return { lines, next: nextOf(given, ({ pollId }) => pollId) };
  },
  polls: async (storage, accountId, after) => {
    const places = await pollsAfter(storage, accountId, after === null ? null : placeIn(after), PAGE);
    const next = nextOf(places, ({ pollId, createdUs }) => `${pollId} ${createdUs}`);
    return { lines: await pollLines(storage, accountId, places), next };
  },
  transfers: async (storage, accountId, after) => {
    const transfers = await transfersAfter(storage, accountId, after ?? '0', PAGE);
    const lines = transfers.map(({ id, kind, amountU, holdId, pollId, createdAt }) => ({
      type: 'transfer' as const,
      id,
      kind,
      amount_usd: usd(amountU),
      ...(holdId !== null && { hold_id: holdId }),
      ...(pollId !== null && { session_id: pollId }),
      created_at: createdAt.toISOString(),
    }));
    const begun = transfers.filter(({ holdId }) => holdId === null);
    return { lines, next: nextOf(begun, ({ id }) => id) };
  },
};
const NAMES = Object.keys(PARTS);

/** Yields chunks of lines, from the cursor's position to the end. Stops early when `stop` is aborted. */
export async function* exportLines(
  lists: LaggingReads,
  accountId: string,
  from: ExportCursor,
  stop: AbortSignal,
): AsyncGenerator<string> {
  let after = from.after;
  for (const part of NAMES.slice(NAMES.indexOf(from.part))) {
    do {
      if (stop.aborted) return;
      const page = await lists.ofAccount(accountId, (queries) => PARTS[part]!(queries, accountId, after));
      after = page.next;
      const cursor = after === null ? followingPart(part) : { part, after };
      const last: ExportLine = cursor ? { type: 'cursor', cursor: cursorText(cursor) } : { type: 'end' };
      yield [...page.lines, last].map((line) => `${jsonLine(line)}\n`).join('');
    } while (after !== null);
  }
}

export interface ExportCursor {
  part: string;
  after: string | null;
}

export const EXPORT_START: ExportCursor = { part: NAMES[0]!, after: null };

const followingPart = (part: string): ExportCursor | null => {
  const next = NAMES[NAMES.indexOf(part) + 1];
  return next === undefined ? null : { part: next, after: null };
};

const cursorText = ({ part, after }: ExportCursor): string =>
  Buffer.from(after === null ? part : `${part}:${after}`).toString('base64url');

/** The format of a position in each part. A made-up cursor is refused here and does not reach Postgres. */
const PLACES: Readonly<Record<string, RegExp>> = {
  keys: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
  feedback: /^ps_[0-9a-z]{1,40}$/,
  polls: /^ps_[0-9a-z]{1,40} \d{1,16}$/,
  transfers: /^\d{1,18}$/,
};

/** Null for text that is not a cursor. */
export function readExportCursor(text: string): ExportCursor | null {
  const [, part = '', after = null] = /^([a-z]+)(?::(.+))?$/.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (!NAMES.includes(part)) return null;
  return after === null || PLACES[part]?.test(after) ? { part, after } : null;
}

async function pollLines(storage: Queries, accountId: string, places: readonly PollPlace[]): Promise<ExportLine[]> {
  const pollIds = places.map(({ pollId }) => pollId);
  const [polls, results, batches] = await Promise.all([
    findPollLines(storage, accountId, pollIds),
    findResultsOfPolls(storage, pollIds),
    batchPlacesOf(storage, pollIds),
  ]);
  const resultOf = new Map(results.map((result) => [result.pollId, result.detail]));
  const batchOf = new Map(batches.map((place) => [place.pollId, place]));
  return polls.map((poll) => {
    const [result, batch] = [resultOf.get(poll.pollId), batchOf.get(poll.pollId)];
    return {
      type: 'poll',
      ...toListedPoll(poll),
      ...(batch && { batch: { batch_id: batch.batchId, custom_id: batch.customId, gold: batch.gold } }),
      result: result ?? null,
    };
  });
}

/** A part that is read in one go, because it has a few dozen lines at most. */
function whole(read: (storage: Queries, accountId: string) => Promise<ExportLine[]>): Part {
  return async (storage, accountId) => ({ lines: await read(storage, accountId), next: null });
}

function nextOf<T>(rows: readonly T[], placeOf: (row: T) => string): string | null {
  const last = rows.at(-1);
  return last === undefined || rows.length < PAGE ? null : placeOf(last);
}

function placeIn(after: string): PollPlace {
  const [pollId = '', createdUs = '0'] = after.split(' ');
  return { pollId, createdUs };
}

const usd = (microUsd: bigint): number => Number(microUsd) / 1_000_000;

const timeOrNull = (time: Date | null): string | null => time?.toISOString() ?? null;
