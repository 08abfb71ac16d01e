import { randomUUID } from 'node:crypto';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@eloquentpoll/gateway/api-key';
import { createLogin, LOGIN_COOKIE } from '@eloquentpoll/gateway/login-cookie';
import { newPollId, newResultId } from '@eloquentpoll/polls';
import {
  acceptPoll,
  bury,
  claimPoll,
  createAccount,
  creditAccount,
  findKeyByHash,
  insertKey,
  inTransaction,
  revokeAllKeys,
  revokeKey,
  TooManyKeys,
} from '@eloquentpoll/storage';
import { base64, sign, v1, v2 } from '@eloquentpoll/testkit/fakes/payer';
import { Wallet } from 'ethers';
import type { FuzzedService } from './fuzzed-service.ts';
import { QUESTION_MARK } from './good-values.ts';
import type { Credential } from './requests.ts';
import type { Sender } from './send-request.ts';

// What exists before the first request: accounts with and without money, their keys and cookies, polls that succeeded
// and failed. Requests refer to it by `{{...}}`, so that a seed makes the same requests in every run.

export interface FuzzAccount {
  readonly id: string;
  key: string;
}

export interface Fixtures {
  readonly rich: FuzzAccount;
  readonly other: FuzzAccount;
  /** Headers of a credential; a cookie is always new, because a request may log it out. */
  credential(name: Credential): Promise<Record<string, string>>;
  /** Replaces every `{{...}}` in a text. */
  fill(text: string): Promise<string>;
  /** Ids of accounts, which no other account may see. */
  readonly accountIds: Set<string>;
}

const ORDER = { question: `Which of these two is best? ${QUESTION_MARK}`, options: ['A', 'B'] };

export async function createFixtures(service: FuzzedService, sender: Sender): Promise<Fixtures> {
  const { storage, config } = service.gateway;
  async function account(usd: bigint): Promise<FuzzAccount> {
    const id = await createAccount(storage);
    if (usd > 0n)
      await creditAccount(storage, {
        accountId: id,
        amountU: usd * 1_000_000n,
        source: 'operator',
        idem: randomUUID(),
      });
    return { id, key: (await keyOf(id)).key };
  }
  async function keyOf(accountId: string): Promise<{ key: string; id: string }> {
    const key = newApiKey();
    const made = { accountId, hash: hashApiKey(config.keyPepper, key), prefix: apiKeyPrefix(key) };
    const { id } = await insertKey(storage, made).catch(async (error: unknown) => {
      if (!(error instanceof TooManyKeys)) throw error;
      // Requests make keys, too.
      return inTransaction(storage, async (tx) => {
        await revokeAllKeys(tx, accountId);
        return insertKey(tx, made);
      });
    });
    return { key, id };
  }
  const [rich, other, poor] = await Promise.all([account(900_000n), account(900_000n), account(0n)]);
  const revoked = await keyOf(rich.id);
  await revokeKey(storage, rich.id, revoked.id);
  const foreignSpare = await keyOf(other.id);

  const call = async (path: string, who: FuzzAccount, body?: object): Promise<Record<string, unknown>> => {
    const headers = { ...(await liveKey(who)), 'content-type': 'application/json', prefer: 'wait=20' };
    const payload = body ? Buffer.from(JSON.stringify(body)) : null;
    const { text } = await sender.send({ method: payload ? 'POST' : 'GET', target: path, headers, body: payload });
    return JSON.parse(text) as Record<string, unknown>;
  };
  async function endedPoll(who: FuzzAccount): Promise<{ session: string; result: string }> {
    const session = String((await call('/api/polls', who, ORDER)).session_id);
    return { session, result: String((await call(`/api/polls/${session}/status`, who)).result_id) };
  }
  const [mine, theirs] = await Promise.all([endedPoll(rich), endedPoll(other)]);
  const { spec } = await storage.db
    .selectFrom('polls')
    .select('spec')
    .where('id', '=', mine.session)
    .executeTakeFirstOrThrow();
  /** Not queued, so it runs until its deadline. */
  async function runningPoll(): Promise<{ session: string; result: string }> {
    const [session, result] = [newPollId(), newResultId()];
    const poll = {
      id: session,
      resultId: result,
      accountId: rich.id,
      spec,
      deadlineMs: 3_600_000,
      entryPoint: 'session',
    };
    await acceptPoll(storage, { poll, holdU: 1_000n });
    return { session, result };
  }
  const [running, failed] = await Promise.all([runningPoll(), runningPoll()]);
  const claim = await claimPoll(storage, failed.session, 'lab');
  await bury(storage, { id: failed.session, epoch: claim!.epoch, reason: 'fuzz' });
  const wallet = Wallet.createRandom();

  /** A request may have deleted it; then a new one is made. */
  const batchOf = async (who: FuzzAccount): Promise<string> => {
    const batches = (await call('/api/batches?limit=1', who)).batches as { batch_id: string }[] | undefined;
    return batches?.[0]?.batch_id ?? String((await call('/api/batches', who, { requests: [ORDER] })).batch_id);
  };
  const endpointOf = async (who: FuzzAccount): Promise<string> => {
    const endpoints = (await call('/api/webhook-endpoints', who)).endpoints as { endpoint_id: string }[] | undefined;
    if (endpoints?.[0]) return endpoints[0].endpoint_id;
    return String((await call('/api/webhook-endpoints', who, { url: 'https://receiver.example/' })).endpoint_id);
  };
  const deliveryOf = async (who: FuzzAccount): Promise<string> => {
    const at = `/api/webhook-endpoints/${await endpointOf(who)}`;
    const sent = (await call(`${at}/deliveries?limit=1`, who)).deliveries as { delivery_id: string }[] | undefined;
    return sent?.[0]?.delivery_id ?? String((await call(`${at}/test`, who, {})).delivery_id);
  };
  const [foreignBatch, foreignEndpoint] = await Promise.all([batchOf(other), endpointOf(other)]);
  const foreignDelivery = await deliveryOf(other);

  const known: Record<string, string | (() => Promise<string>)> = {
    session: mine.session,
    'running-session': running.session,
    'failed-session': failed.session,
    'foreign-session': theirs.session,
    result: mine.result,
    'failed-result': failed.result,
    'foreign-result': theirs.result,
    'key-id': async () => (await keyOf(rich.id)).id,
    'foreign-key-id': foreignSpare.id,
    batch: () => batchOf(rich),
    'foreign-batch': foreignBatch,
    endpoint: () => endpointOf(rich),
    'foreign-endpoint': foreignEndpoint,
    delivery: () => deliveryOf(rich),
    'foreign-delivery': foreignDelivery,
    address: wallet.address,
    base: config.baseUrl,
    payment: async () => base64(v1(await sign(wallet, 5))),
    'payment-v2': async () => base64(v2(await sign(wallet, 5))),
  };

  /** A request may have revoked every key of the account; then a new one is made. */
  async function liveKey(who: FuzzAccount): Promise<Record<string, string>> {
    if (!(await findKeyByHash(storage, hashApiKey(config.keyPepper, who.key)))) who.key = (await keyOf(who.id)).key;
    return bearer(who.key);
  }
  function bearer(key: string): Record<string, string> {
    return { authorization: `Bearer ${key}` };
  }
  async function page(origin?: string): Promise<Record<string, string>> {
    const cookie = await createLogin(service.gateway, { accountId: rich.id });
    return { cookie: `${LOGIN_COOKIE}=${cookie}`, ...(origin && { origin }) };
  }
  const forged = async () => {
    const { cookie = '' } = await page();
    return { cookie: `${cookie.slice(0, -4)}AAAA`, origin: config.baseUrl };
  };
  const credentials: Record<Credential, Record<string, string> | (() => Promise<Record<string, string>>)> = {
    none: {},
    key: () => liveKey(rich),
    'key of another': () => liveKey(other),
    'key without money': bearer(poor.key),
    'revoked key': bearer(revoked.key),
    'unknown key': bearer(newApiKey()),
    garbage: bearer('x y\u00ff'),
    'user id': bearer(rich.id),
    'two keys': { authorization: `Bearer ${rich.key}, Bearer ${other.key}` },
    basic: { authorization: `Basic ${Buffer.from(`a:${rich.key}`).toString('base64')}` },
    cookie: () => page(config.baseUrl),
    'cookie without origin': () => page(),
    'cookie from elsewhere': () => page('https://elsewhere.example'),
    'forged cookie': forged,
    'cookie and key': async () => ({ ...(await page(config.baseUrl)), ...(await liveKey(other)) }),
    'cookie and garbage': async () => ({ ...(await page(config.baseUrl)), ...bearer('ep_k_') }),
  };
  async function credential(name: Credential): Promise<Record<string, string>> {
    const headers = credentials[name];
    return typeof headers === 'function' ? headers() : headers;
  }

  async function fill(text: string): Promise<string> {
    if (!text.includes('{{')) return text;
    let filled = text;
    if (text.includes('{{message}}') || text.includes('{{signature}}')) {
      const { message } = await call(`/api/wallet/challenge?address=${wallet.address}`, rich);
      const signature = await wallet.signMessage(String(message));
      filled = filled
        .replaceAll('{{message}}', JSON.stringify(String(message)).slice(1, -1))
        .replaceAll('{{signature}}', signature);
    }
    for (const [name, value] of Object.entries(known)) {
      if (filled.includes(`{{${name}}}`))
        filled = filled.replaceAll(`{{${name}}}`, typeof value === 'string' ? value : await value());
    }
    return filled;
  }

  return { rich, other, credential, fill, accountIds: new Set([rich.id, other.id, poor.id]) };
}
