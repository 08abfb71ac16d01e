import { setTimeout as sleep } from 'node:timers/promises';
import { type CheckedPart, type PublicKey, type PublishedResult, verifyReceipt } from '@eloquentpoll/receipts';
import { readJson } from '@eloquentpoll/services/json';
import type { RedisCluster } from '@eloquentpoll/services/redis-cluster';
import { Type } from '@sinclair/typebox';
import { type Election, electionIn } from '../fixture/election.ts';
import type { Stores } from '../fixture/stores.ts';
import type { Chance } from '../terminal/chance.ts';
import type { CallerAccount, PromisedMeans } from './caller-options.ts';
import { type Found, findInPostgres, findInRedis, findInServers, markersIn } from './find-markers.ts';
import type { RecordedOperation } from './operations.ts';
import { type PostgresReplica, REPLICA_LAG_S } from './postgres-replica.ts';
import type { Gateway } from './request.ts';
import { untilServed } from './until-served.ts';
import { type Hook, LEFT, openWebhookReceiver, type ReceivedMessage } from './webhook-receiver.ts';

// What a campaign needs to check webhooks, receipts, key limits and deletions, and the state of these at its end.

interface LimitedKey {
  readonly id: string;
  readonly limitU: bigint;
  /** As counted by the service. */
  readonly spentU: bigint;
  readonly heldU: bigint;
}

/** A ledger transfer of a poll that was asked with a limited key, in the order of the account's transfers. */
interface KeyMove {
  readonly keyId: string;
  readonly pollId: string;
  readonly kind: 'hold' | 'post' | 'void';
  readonly amountU: bigint;
  /** When its transaction began, in milliseconds by the clock of Postgres. */
  readonly at: number;
}

export interface ReadReceipt {
  readonly pollId: string;
  readonly status: number;
  readonly body: string;
  /** The published verifier's finding on each part, given the public result. */
  readonly parts: readonly CheckedPart[];
  /** The election in the public result. */
  readonly election: Election | null;
}

export type PublishedKey = PublicKey;

export interface PromisedHistory {
  readonly hooks: readonly Hook[];
  readonly messages: readonly ReceivedMessage[];
  readonly limitedKeys: readonly LimitedKey[];
  readonly keyMoves: readonly KeyMove[];
  readonly receipts: readonly ReadReceipt[];
  readonly publishedKeys: readonly PublishedKey[];
  /** How old a list may be that a replica of Postgres answers; 0 without a replica. */
  readonly lagMs: number;
  /** Markers that are still in tables, in Redis, in logs or in exports at the end. */
  readonly found: readonly Found[];
  /** Keys of slots that their server of a cluster has lost. They could not be searched. */
  readonly unservedKeys: number;
}

/** Environment of gateways and workers. */
export const PROMISED_ENV = {
  gateway: { RECEIPT_SIGNING_KEY: '07'.repeat(32) },
  both: { WEBHOOK_SEALING_KEYS: 'a sealing key of at least 32 characters', WEBHOOKS_TO_LOOPBACK: 'on' },
  worker: { BASE_URL: 'http://localhost:8080' },
} as const;

interface Promised extends PromisedMeans, AsyncDisposable {
  /**
   * Call when everything is repaired: waits until everything was sent and emptied, then reads the final state, also that
   * of replicas.
   */
  settle(
    operations: readonly RecordedOperation[],
    logged: readonly Found[],
    servers: { cluster: RedisCluster | null; replica: PostgresReplica | null },
  ): Promise<PromisedHistory>;
}

const KEYS_EACH = 12;
/** In thousandths of a US dollar. A poll of a caller sets aside 6, 90 or 286 of them. */
const LIMIT = [100, 900] as const;
const SENT_WITHIN_MS = 180_000;
const ANSWERED_WITHIN_MS = 60_000;
const READ_AT_ONCE = 8;

const Secret = Type.Object({ secret: Type.String() });
const Made = Type.Object({ id: Type.String(), key: Type.String() });
const Published = Type.Object({
  keys: Type.Array(
    Type.Object({ kid: Type.String(), kty: Type.Literal('OKP'), crv: Type.Literal('Ed25519'), x: Type.String() }),
  ),
});

export async function openPromised(
  stores: Stores,
  gateways: readonly Gateway[],
  accounts: readonly CallerAccount[],
  openAccount: () => Promise<CallerAccount>,
  chance: Chance,
): Promise<Promised> {
  const receiver = await openWebhookReceiver(chance);
  const hooks: Hook[] = [];
  const limitedKeys = new Map<string, { id: string; key: string }[]>();
  const lastReads: (() => Promise<void>)[] = [];
  const [gateway] = gateways;

  for (const [i, account] of accounts.entries()) {
    const ask = (method: string, path: string, body?: object) => json(gateway!, account, method, path, body);
    const path = `/endpoint/${i}`;
    const made = readJson(Secret, await ask('POST', '/api/webhook-endpoints', { url: receiver.urlOf(path) }));
    hooks.push({ path, accountId: account.id, secret: made.secret, isEndpoint: true });
    const own = readJson(Secret, await ask('GET', '/api/webhook-endpoints/account/secret'));
    hooks.push({ path: `/url/${i}`, accountId: account.id, secret: own.secret, isEndpoint: false });
    const keys: { id: string; key: string }[] = [];
    while (keys.length < KEYS_EACH) {
      const limit_usd = chance.whole(...LIMIT) / 1_000;
      keys.push(readJson(Made, await ask('POST', '/api/keys', { label: 'limited', limit_usd })));
    }
    limitedKeys.set(account.id, keys);
  }

  /**
   * Waits until every delivery has ended, deleted accounts and batches are empty, and Redis deletions were repeated.
   */
  async function untilQuiet(): Promise<void> {
    for (const end = performance.now() + SENT_WITHIN_MS; performance.now() < end; await sleep(500)) {
      const [row] = await stores.query<{ open: number }>(
        `select ((select count(*) from webhook_events where spread_at is null)
               + (select count(*) from webhook_deliveries where status = 'pending')
               + (select count(*) from batches where status = 'deleted')
               + (select count(*) from deleted_runs)
               + (select count(*) from accounts where deleted_at is not null and emptied_at is null))::integer as open`,
      );
      if (row!.open === 0) return;
    }
  }

  return {
    limitedKeys,
    openAccount,
    later(read) {
      lastReads.push(read);
    },
    hookOf(accountId) {
      const path =
        hooks.find((hook) => hook.accountId === accountId && !hook.isEndpoint)?.path ?? `${LEFT}${accountId}`;
      return { path, url: receiver.urlOf(path) };
    },
    async settle(operations, logged, { cluster, replica }) {
      await untilQuiet();
      await eachOf(lastReads, (read) => read());
      const inServers = cluster ? await findInServers(cluster, stores.redisPrefix) : { found: [], unserved: 0 };
      const found = [
        ...logged,
        ...(await findInPostgres(stores.databaseUrl)),
        ...(await findInRedis(stores)),
        ...inServers.found,
        ...(replica ? await findInReplica(replica, stores) : []),
        ...(await Promise.all(gateways.map((gateway) => findInExports(gateway, accounts, replica !== null)))).flat(),
      ];
      const forgotten = new Set(operations.flatMap(({ erasure, named }) => (erasure ? [...named] : [])));
      const answer = await untilServed(`${gateway!.url}/.well-known/jwks.json`, ANSWERED_WITHIN_MS);
      const publishedKeys = readJson(Published, answer.text).keys;
      return {
        hooks,
        messages: receiver.messages,
        ...(await readLimits(stores, [...limitedKeys.values()].flat())),
        receipts: await readReceipts(stores, gateway!, publishedKeys, forgotten),
        publishedKeys,
        lagMs: replica ? REPLICA_LAG_S * 1_000 : 0,
        found,
        unservedKeys: inServers.unserved,
      };
    },
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  };
}

async function json({ url }: Gateway, { key }: CallerAccount, method: string, path: string, body?: object) {
  const { status, text } = await untilServed(`${url}${path}`, ANSWERED_WITHIN_MS, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (status >= 200 && status < 300) return text;
  throw new Error(`${method} ${path} was answered ${status}: ${text.slice(0, 200)}`);
}

async function findInReplica(replica: PostgresReplica, { databaseUrl }: Stores): Promise<Found[]> {
  await replica.untilCaughtUp(databaseUrl);
  return findInPostgres(replica.urlOf(databaseUrl), 'Postgres replica');
}

/** If there is a replica, the exports are made when the gateway reads lists from it again. */
async function findInExports(
  gateway: Gateway,
  accounts: readonly CallerAccount[],
  hasReplica: boolean,
): Promise<Found[]> {
  if (hasReplica) await untilReplicaIsRead(gateway, accounts[0]!);
  const found: Found[] = [];
  for (const account of accounts) {
    const text = await json(gateway, account, 'GET', '/api/export');
    found.push(...markersIn(text).map((marker) => ({ marker, place: `export of ${account.id} by ${gateway.name}` })));
  }
  return found;
}

async function untilReplicaIsRead({ name, url }: Gateway, { key }: CallerAccount): Promise<void> {
  const headers = { authorization: `Bearer ${key}` };
  for (const until = performance.now() + ANSWERED_WITHIN_MS; performance.now() < until; await sleep(500)) {
    const response = await fetch(`${url}/api/polls?limit=1`, { headers });
    await response.body?.cancel();
    if (response.headers.has('replica-lag')) return;
  }
  throw new Error(`${name} does not read from the replica again`);
}

async function readLimits({ query }: Stores, keys: readonly { id: string }[]) {
  const ids = keys.map(({ id }) => id);
  const rows = await query<{ key_id: string; limit_u: string; spent_u: string; held_u: string }>(
    'select key_id, limit_u::text, spent_u::text, held_u::text from key_limits where key_id = any($1)',
    [ids],
  );
  const moves = await query<{ key_id: string; poll_id: string; kind: KeyMove['kind']; amount_u: string; ms: string }>(
    `select p.key_id, t.poll_id, t.kind, t.amount_u::text, extract(epoch from t.created_at) * 1000 as ms from transfers t join polls p on p.id = t.poll_id
      where p.key_id = any($1) and t.kind in ('hold', 'post', 'void') order by t.id`,
    [ids],
  );
  return {
    limitedKeys: rows.map(({ key_id, limit_u, spent_u, held_u }) => ({
      ...{ id: key_id, limitU: BigInt(limit_u), spentU: BigInt(spent_u), heldU: BigInt(held_u) },
    })),
    keyMoves: moves.map(({ key_id, poll_id, kind, amount_u, ms }) => ({
      ...{ keyId: key_id, pollId: poll_id, kind, amountU: BigInt(amount_u), at: Number(ms) },
    })),
  };
}

/** Processes each item once, with limited concurrency. */
async function eachOf<T>(waiting: T[], take: (one: T) => Promise<void>): Promise<void> {
  const reader = async () => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await take(next);
  };
  await Promise.all(Array.from({ length: READ_AT_ONCE }, reader));
}

/** Reads the receipt of every poll that ended with a result and was not deleted. */
async function readReceipts(
  { query }: Stores,
  { url }: Gateway,
  keys: readonly PublishedKey[],
  forgotten: ReadonlySet<string>,
): Promise<ReadReceipt[]> {
  const ended = await query<{ poll_id: string; result_id: string }>(
    `select r.poll_id, r.result_id from results r join polls p on p.id = r.poll_id
      where r.emptied_at is null order by r.poll_id`,
  );
  const waiting = ended.filter(({ poll_id }) => !forgotten.has(poll_id));
  const receipts: ReadReceipt[] = [];
  await eachOf(waiting, async ({ poll_id: pollId, result_id: id }) => {
    const { status, text: body } = await untilServed(`${url}/api/results/${id}/receipt`, ANSWERED_WITHIN_MS);
    const published = await untilServed(`${url}/api/results/${id}`, ANSWERED_WITHIN_MS);
    const result: unknown = JSON.parse(published.text);
    const election = electionIn(result);
    const { parts } = await verifyReceipt(body, { keys, result: election && (result as PublishedResult) });
    receipts.push({ pollId, status, body, parts, election });
  });
  return receipts;
}
