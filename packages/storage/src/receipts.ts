import { createHash } from 'node:crypto';
import { type Receipted, readStored } from '@eloquentpoll/polls';
import { sql } from 'kysely';
import { movedOn } from './cells/moved-names.ts';
import type { Queries } from './open-storage.ts';
import { isOfResult, openResults } from './results.ts';

// The data from which receipts are built, and the sealed days that prove them.

export interface ReceiptSource extends Receipted {
  accountId: string | null;
  entryPoint: string;
  /** Null for a result from before receipts existed. */
  leaf: Buffer | null;
  /** The UTC day on which the result was stored here; it is sealed with that day or a later one. */
  day: string;
}

export interface StoredReceiptDay {
  day: string;
  receipts: number;
  root: Buffer;
  seal: Buffer;
}

export interface StoredProof extends StoredReceiptDay {
  index: number;
  /** From the leaf's neighbour upwards. */
  path: Buffer[];
  previousSeal: Buffer | null;
}

export async function findReceiptSource(queries: Queries, resultId: string): Promise<ReceiptSource | null> {
  const row = await openResults(queries)
    .innerJoin('polls', 'polls.id', 'results.poll_id')
    .select([
      'results.poll_id',
      'results.account_id',
      'results.entry_point',
      'results.detail',
      'results.receipt_leaf',
      'results.created_at',
      'polls.spec',
      'polls.created_at as accepted_at',
      movedOn.as('moved_on'),
    ])
    .where(isOfResult(resultId))
    .executeTakeFirst();
  if (!row) return null;
  const votes = await queries.db
    .selectFrom('votes')
    .select(['model_id', 'fault_u'])
    .where('poll_id', '=', row.poll_id)
    .execute();
  const faults = new Map(votes.map(({ model_id, fault_u }) => [model_id, Number(fault_u)]));
  return {
    spec: row.spec,
    response: readStored(row.detail).response,
    acceptedAt: row.accepted_at,
    faultsU: row.detail.votes.map(({ model_id }) => faults.get(model_id) ?? 0),
    accountId: row.account_id,
    entryPoint: row.entry_point,
    leaf: row.receipt_leaf,
    day: row.moved_on ?? row.created_at.toISOString().slice(0, 10),
  };
}

export interface ReceiptDaysAsked {
  limit: number;
  before?: string | undefined;
  day?: string | undefined;
}

/** Newest first. */
export function readReceiptDays(
  { db }: Queries,
  { limit, before, day }: ReceiptDaysAsked,
): Promise<StoredReceiptDay[]> {
  return db
    .selectFrom('receipt_days')
    .select(['day', 'receipts', 'root', 'seal'])
    .$if(before !== undefined, (days) => days.where('day', '<', before!))
    .$if(day !== undefined, (days) => days.where('day', '=', day!))
    .orderBy('day', 'desc')
    .limit(limit)
    .execute();
}

export async function newestReceiptDay(queries: Queries): Promise<StoredReceiptDay | null> {
  return (await readReceiptDays(queries, { limit: 1 }))[0] ?? null;
}

/** How many days to search for a receipt, beginning with its own. */
const MAX_DAYS_LATE = 7;

/** Null while no sealed day contains the leaf. */
export async function findReceiptProof({ db }: Queries, leaf: Buffer, fromDay: string): Promise<StoredProof | null> {
  const days = await db
    .selectFrom('receipt_days')
    .select(['day', 'receipts', 'root', 'seal'])
    .where('day', '>=', fromDay)
    .orderBy('day')
    .limit(MAX_DAYS_LATE)
    .execute();
  for (const day of days) {
    const found = await findIn({ db }, leaf, day);
    if (found) return found;
  }
  return null;
}

const PAGE = 256;

async function findIn({ db }: Queries, leaf: Buffer, day: StoredReceiptDay): Promise<StoredProof | null> {
  const first = await db
    .selectFrom('receipt_pages')
    .select(['page', 'hashes'])
    .where('day', '=', day.day)
    .where('level', '=', 0)
    .where('first', '<=', leaf)
    .orderBy('first', 'desc')
    .limit(1)
    .executeTakeFirst();
  const leaves = first ? hashesIn(first.hashes) : [];
  const at = leaves.findIndex((hash) => hash.equals(leaf));
  if (!first || at < 0) return null;
  const path = pathIn(leaves, at);
  const above = await db
    .selectFrom('receipt_pages')
    .select('hashes')
    .where('day', '=', day.day)
    .where('level', '>', 0)
    .where(sql<boolean>`page = ${first.page}::integer >> (8 * level)`)
    .orderBy('level')
    .execute();
  let { page } = first;
  for (const { hashes } of above) {
    path.push(...pathIn(hashesIn(hashes), page % PAGE));
    page = Math.floor(page / PAGE);
  }
  const previous = await readReceiptDays({ db }, { limit: 1, before: day.day });
  return { ...day, index: first.page * PAGE + at, path, previousSeal: previous[0]?.seal ?? null };
}

const hashesIn = (bytes: Buffer): Buffer[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) => bytes.subarray(32 * i, 32 * i + 32));

/** The neighbours on the path from one hash to the root. */
function pathIn(hashes: readonly Buffer[], index: number): Buffer[] {
  const path: Buffer[] = [];
  for (let level = hashes, at = index; level.length > 1; at = Math.floor(at / 2)) {
    const neighbour = level[at ^ 1];
    if (neighbour) path.push(neighbour);
    level = level.flatMap((hash, i) => (i % 2 === 1 ? [] : [parentOf(hash, level[i + 1])]));
  }
  return path;
}

const parentOf = (left: Buffer, right: Buffer | undefined): Buffer =>
  right ? createHash('sha256').update('\x01').update(left).update(right).digest() : left;
