import { randomUUID } from 'node:crypto';
import { LIMITS } from '@eloquentpoll/contracts';
import { electionIn, type ShortElection } from '../fixture/election.ts';
import type { CallerAccount, CallersOptions, LimitedKeyOfCaller } from './caller-options.ts';
import { erasures } from './erasures.ts';
import { followStream } from './follow-stream.ts';
import { customIdOf, digestOf, type Kind } from './operations.ts';
import { persistence } from './persist.ts';
import { type CallerAnswer, type CallerRequest, isUnknown, saysEnded, sendOperation } from './request.ts';

// Well-behaved callers: each request that costs money has an Idempotency-Key and is retried at the next gateway until
// the answer is definite. Some callers ask again after the answer; it must then be the same.

const ANSWER_MS = 30_000;
const STATUS_WAIT_S = 10;
const REPLAYED = 0.2;
/** The share of flex polls, unless the plan sets one, and the share of batches that are canceled. */
const [FLEX, CANCELED] = [0.25, 0.25];
/** The share of polls with a webhook_url. */
const HOOKED = 0.3;
const MAX_BATCH_ROWS = 40;
/** Polls at once with one limited key: they compete for what is left of its limit. */
const COMPETING = 3;
/** The share of deletions that delete a batch. */
const FORGOTTEN_BATCHES = 0.25;
/** The share of batches uploaded line by line as a file, and the duration of such an upload. */
const [SLOW_UPLOADS, UPLOAD_MS] = [0.5, 2_000];

/** The election in a quick poll's answer; null for a whole response, which is compared byte for byte. */
function shortAnswerIn({ answer, status, options }: Record<string, unknown>): ShortElection | null {
  if (typeof answer !== 'string' && answer !== null) return null;
  return { status: String(status), options: Array.isArray(options) ? options.map(String) : [], winner: answer };
}

export type StartCall = (kind: Kind) => Promise<void>;

export function callers(options: CallersOptions): StartCall {
  const { recorder, accounts, chance, quit, promised } = options;
  const { persist, pause, conclude, anyGateway, after, question } = persistence(options);
  const erase = erasures(options);
  const headersOf = (account: Pick<CallerAccount, 'key'> | null, key: string) => ({
    'idempotency-key': key,
    ...(account && { authorization: `Bearer ${account.key}` }),
  });

  async function sync(kind: Kind, account: CallerAccount | null, path: string, body: object): Promise<void> {
    const key = randomUUID();
    const operation = recorder.begin(kind, account?.id ?? null, key);
    const note = ({ text, json }: CallerAnswer) => {
      const { poll_id: id } = json;
      // A poll without an id is not stored.
      operation.named.add(String(id));
      operation.bodies.add(digestOf(text));
      const short = shortAnswerIn(json);
      if (short && typeof id === 'string') operation.answers.set(id, short);
    };
    const sent: CallerRequest = { method: 'POST', path, headers: headersOf(account, key), body, withinMs: ANSWER_MS };
    const answer = await persist(operation, sent, note);
    conclude(operation, answer);
    if (answer?.status === 200 && chance.happens(REPLAYED)) await persist(operation, sent, note);
  }

  async function session(
    kind: 'async' | 'cancel' | 'limited',
    account: CallerAccount,
    limitedKey: LimitedKeyOfCaller | null = null,
  ): Promise<void> {
    const key = randomUUID();
    const operation = recorder.begin(kind, account.id, key);
    if (limitedKey) operation.limitedKey = { id: limitedKey.id, refused: false };
    const hook = promised && chance.happens(HOOKED) ? promised.hookOf(account.id) : null;
    if (hook) operation.hook = hook.path;
    const headers = headersOf(limitedKey ?? account, key);
    const flex = chance.happens(options.flexShare ?? FLEX) && { service_tier: 'flex' };
    const body = { ...question(), ...flex, ...(hook && { webhook_url: hook.url }) };
    const begin: CallerRequest = { method: 'POST', path: '/api/polls', headers, body, withinMs: 10_000 };
    const begun = await persist(operation, begin, ({ json }) => operation.named.add(String(json.session_id)));
    if (begun?.code === 'key_budget_reached' && operation.limitedKey) operation.limitedKey.refused = true;
    if (begun?.status !== 202) return conclude(operation, begun);
    const at = `/api/polls/${String(begun.json.session_id)}`;
    const reader = { authorization: headers.authorization!, prefer: `wait=${STATUS_WAIT_S}` };
    const ask = (path: string): CallerRequest => ({
      method: 'GET',
      path,
      headers: reader,
      withinMs: (STATUS_WAIT_S + 8) * 1_000,
    });
    if (kind === 'cancel') {
      await pause(chance.between(1, 1_500));
      const canceled = await persist(operation, { ...ask(`${at}/cancel`), method: 'POST' });
      if (canceled?.status === 200 && canceled.json.status !== 'running') operation.canceledAt = Date.now();
    }
    await persist(operation, ask(`${at}/status`), () => {}, saysEnded);
    const readResult = () =>
      persist(
        operation,
        ask(`${at}/result`),
        (answer) => answer.status === 200 && operation.bodies.add(digestOf(answer.text)),
        (answer) => !isUnknown(answer) && answer.status !== 202,
      );
    conclude(operation, await readResult());
    if (chance.happens(REPLAYED)) {
      await persist(operation, begin, ({ json }) => operation.named.add(String(json.session_id)));
      if (operation.outcome === 'ok') await readResult();
    }
  }

  async function limited(account: CallerAccount): Promise<void> {
    const limitedKey = chance.pick(promised!.limitedKeys.get(account.id)!);
    await Promise.all(Array.from({ length: COMPETING }, () => session('limited', account, limitedKey)));
  }

  /** A batch in one upload; some are canceled. Its results must contain every row once. */
  async function batch(account: CallerAccount): Promise<void> {
    const key = randomUUID();
    const operation = recorder.begin('batch', account.id, key);
    const rows = chance.whole(1, MAX_BATCH_ROWS);
    operation.rows = { sent: rows, answered: new Map(), polls: new Map() };
    const headers = { ...headersOf(account, key) };
    const requests = Array.from({ length: rows }, (_, i) => ({ custom_id: customIdOf(i + 1), ...question() }));
    const sent = chance.happens(SLOW_UPLOADS)
      ? { lines: { values: requests, everyMs: UPLOAD_MS / rows } }
      : { body: { requests } };
    const upload = { method: 'POST', path: '/api/batches', headers, ...sent, withinMs: 20_000 } as const;
    const begun = await persist(operation, upload, ({ json }) => operation.named.add(String(json.batch_id)));
    if (begun?.status !== 202) return conclude(operation, begun);
    const at = `/api/batches/${String(begun.json.batch_id)}`;
    const ask = (path: string, method: 'GET' | 'POST' = 'GET'): CallerRequest => ({
      ...{ method, path, withinMs: (STATUS_WAIT_S + 8) * 1_000 },
      headers: { authorization: headers.authorization!, prefer: `wait=${STATUS_WAIT_S}` },
    });
    if (chance.happens(CANCELED)) {
      await pause(chance.between(1, 3_000));
      await persist(operation, ask(`${at}/cancel`, 'POST'), () => {});
    }
    await persist(operation, ask(at), () => {}, saysEnded);
    const results = await persist(operation, ask(`${at}/results`), ({ text }) => {
      const { answered, polls } = operation.rows!;
      answered.clear();
      polls.clear();
      for (const line of text.split('\n').filter(Boolean)) {
        const row = JSON.parse(line) as { custom_id: string; session_id: string | null; result: unknown };
        answered.set(row.custom_id, (answered.get(row.custom_id) ?? 0) + 1);
        const election = electionIn(row.result);
        // A result without a poll id belongs to no stored poll.
        if (row.session_id !== null || election) polls.set(row.custom_id, String(row.session_id));
        if (election) operation.answers.set(String(row.session_id), election);
      }
    });
    conclude(operation, results);
    if (chance.happens(REPLAYED))
      await persist(operation, upload, ({ json }) => operation.named.add(String(json.batch_id)));
  }

  async function stream(account: CallerAccount): Promise<void> {
    const key = randomUUID();
    const operation = recorder.begin('stream', account.id, key);
    const body = question();
    const once = async (): Promise<boolean> => {
      let lastId = '';
      let gateway = anyGateway();
      for (let pauseMs = 50; !quit.aborted; pauseMs = Math.min(pauseMs * 2, 1_000)) {
        const headers = { ...headersOf(account, key), ...(lastId && { 'last-event-id': lastId }) };
        const sent: CallerRequest = { method: 'POST', path: '/api/poll/stream', headers, body, withinMs: ANSWER_MS };
        const ending = await followStream(recorder, operation, gateway, sent, (id) => {
          lastId = id;
          pauseMs = 50;
        });
        if (ending.kind === 'complete') {
          operation.bodies.add(digestOf(JSON.stringify(ending.data)));
          return true;
        }
        if (ending.refusal && !isUnknown(ending.refusal)) {
          conclude(operation, ending.refusal);
          return false;
        }
        if (ending.kind === 'error') lastId = '';
        gateway = after(gateway);
        await pause(pauseMs);
      }
      return false;
    };
    if (!(await once())) return;
    recorder.end(operation, 'ok');
    if (chance.happens(REPLAYED)) await once();
  }

  async function balance({ id, cookie }: CallerAccount): Promise<void> {
    const operation = recorder.begin('balance', id, null);
    const sent: CallerRequest = { method: 'GET', path: '/api/balance', headers: { cookie }, withinMs: 5_000 };
    const answer = await sendOperation(recorder, operation, anyGateway(), sent, ({ json }) => {
      operation.cents = Number(json.balance_cents);
    });
    if (answer && !isUnknown(answer)) conclude(operation, answer);
  }

  /** Many simultaneous requests with one key, through all gateways. */
  async function herd(account: CallerAccount): Promise<void> {
    const key = randomUUID();
    const operation = recorder.begin('herd', account.id, key);
    const headers = headersOf(account, key);
    const sent: CallerRequest = { method: 'POST', path: '/api/polls', headers, body: question(), withinMs: 10_000 };
    const answers = await Promise.all(
      Array.from({ length: options.herd }, () =>
        persist(operation, sent, ({ json }) => operation.named.add(String(json.session_id))),
      ),
    );
    if (!answers.includes(null)) conclude(operation, answers.find((answer) => answer!.status >= 300) ?? answers[0]!);
  }

  return (kind) => {
    const account = chance.pick(accounts);
    const body = question();
    switch (kind) {
      case 'sync':
        return sync('sync', account, '/api/poll', body);
      case 'quick':
        return sync('quick', account, '/api/quick-poll', { question: body.question, options: body.options });
      case 'free':
        return sync('free', null, '/api/quick-poll', {
          question: body.question,
          options: body.options.slice(0, LIMITS.free.options),
        });
      case 'async':
      case 'cancel':
        return session(kind, account);
      case 'limited':
        return limited(account);
      case 'forget':
        return chance.happens(FORGOTTEN_BATCHES) ? erase.batch(account) : erase.poll(account);
      case 'leave':
        return erase.account();
      case 'batch':
        return batch(account);
      case 'stream':
        return stream(account);
      case 'balance':
        return balance(account);
      case 'herd':
        return herd(account);
      default:
        return kind satisfies never;
    }
  };
}
