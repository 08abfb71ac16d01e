import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson } from '@eloquentpoll/services/json';
import type { Static, TSchema } from '@sinclair/typebox';
import type { DayUser } from './day-user.ts';
import type { Diary } from './diary.ts';

// One request of a user: sent to one of the gateways, timed, and checked against its expected statuses.

export interface DayCall {
  /** The name under which it is counted. */
  way: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** JSON, unless `type` says otherwise. */
  body?: unknown;
  type?: string;
  headers?: Readonly<Record<string, string>>;
  /** The user, and the credential to use. */
  by?: DayUser | null;
  with?: 'key' | 'cookie';
  /** Any other status counts as wrong. */
  expect?: readonly number[];
  /** Redirects are not followed. */
  isManual?: boolean;
  /**
   * Asks for a poll without a key. A refusal that names no poll means that none was created, so it is safe to retry.
   */
  asksWithoutKey?: boolean;
  /** A long answer that may be cut off while a store is away; its reader asks again. */
  mayBeCutOff?: boolean;
  /**
   * For protocols that refuse with an expected status: the seconds to wait before a retry, null if the answer is final.
   */
  waitSaidIn?: (answer: DayAnswer) => number | null;
}

export interface DayAnswer {
  status: number;
  isExpected: boolean;
  text: string;
  /** The parsed JSON; null for any other type. */
  value: unknown;
  /** Returns `value` if it has this shape, and throws otherwise. */
  read<T extends TSchema>(shape: T): Static<T>;
  headers: Headers;
}

export type SendCall = (call: DayCall) => Promise<DayAnswer>;

const WITHIN_MS = 60_000;
const ATTEMPTS = 6;
const A_MOMENT_S = 10;
/** Requests that create polls get an idempotency key, as in our clients, so that they can be retried. */
const ASKS = ['/api/poll', '/api/polls', '/api/quick-poll', '/api/poll/stream'];

/** The networks of people without an account, by each of which polls are limited and take turns. */
const NETWORKS = 250;

/** Retries a short refusal after the given time, as our clients do, if repeating the request is safe. */
export function caller(gateways: readonly string[], diary: Diary): SendCall {
  let [turn, strangers] = [0, 0];
  return async (asked) => {
    const call = asked.by ? withOwnKey(asked) : fromNetwork(asked, strangers++ % NETWORKS);
    for (let attempt = 1; ; attempt++) {
      const { answer, problem } = await send(call, gateways[turn++ % gateways.length]!, diary);
      const waitS = waitOf(call, answer);
      const isRefused = waitS <= A_MOMENT_S;
      const wrong = problem ?? (isRefused ? problemOf(call, answer) : null);
      if (isRefused) diary.refuse(`${call.way}: ${wrong}`);
      if (!isRefused || !isRepeatable(call, answer) || attempt === ATTEMPTS) {
        // A short refusal is not wrong, unless it lasts through all attempts.
        if (wrong !== null && (!isRefused || attempt === ATTEMPTS)) diary.note(`${call.way}: ${wrong}`);
        return { ...answer, isExpected: wrong === null };
      }
      await sleep(1_000 * waitS);
    }
  };
}

async function send(
  call: DayCall,
  gateway: string,
  diary: Diary,
): Promise<{ answer: DayAnswer; problem: string | null }> {
  const { way, path, by = null, expect = [200] } = call;
  const method = methodOf(call);
  const began = performance.now();
  const { body, type } = bodyOf(call);
  try {
    const answer = await fetch(path.startsWith('http') ? path : `${gateway}${path}`, {
      method,
      headers: { ...credentials(call, by), ...(type && { 'content-type': type }), ...call.headers },
      ...(body !== undefined && { body }),
      redirect: call.isManual ? 'manual' : 'follow',
      signal: AbortSignal.timeout(WITHIN_MS),
    });
    const text = await answer.text();
    const isExpected = expect.includes(answer.status);
    diary.answered(way, answer.status, performance.now() - began);
    const heard = answerOf(answer.status, isExpected, text, answer.headers);
    return { answer: heard, problem: isExpected ? null : problemOf(call, heard) };
  } catch (error) {
    const cause = error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error);
    diary.answered(way, 0, performance.now() - began);
    const problem = `${method} ${path.slice(0, 80)} was not answered: ${cause}`;
    return { answer: answerOf(0, false, '', new Headers()), problem };
  }
}

const problemOf = (call: DayCall, { status, text }: DayAnswer): string =>
  `${methodOf(call)} ${call.path.slice(0, 80)} was answered ${status}: ${text.slice(0, 200)}`;

/** Rate limits are lifted in a day, so a 429 says that they cannot be counted at the moment. */
const TEMPORARY = [429, 503];
const AFTER_CUT_S = 2;

/** NaN if the answer is not a temporary refusal. */
function waitOf({ waitSaidIn, mayBeCutOff }: DayCall, answer: DayAnswer): number {
  if (answer.isExpected) return waitSaidIn?.(answer) ?? Number.NaN;
  if (answer.status === 0 && mayBeCutOff) return AFTER_CUT_S;
  return TEMPORARY.includes(answer.status) ? Number(answer.headers.get('retry-after') ?? Number.NaN) : Number.NaN;
}

const methodOf = ({ method, body }: DayCall): NonNullable<DayCall['method']> =>
  method ?? (body === undefined ? 'GET' : 'POST');

const withOwnKey = (call: DayCall): DayCall =>
  methodOf(call) === 'POST' && ASKS.includes(call.path)
    ? { ...call, headers: { [KEY]: randomUUID(), ...call.headers } }
    : call;

/** The gateways trust us as a proxy. */
const fromNetwork = (call: DayCall, network: number): DayCall => ({
  ...call,
  headers: { 'x-forwarded-for': `198.51.100.${network}`, ...call.headers },
});

const isRepeatable = (call: DayCall, { text }: DayAnswer): boolean =>
  ['GET', 'PUT'].includes(methodOf(call)) ||
  call.headers?.[KEY] !== undefined ||
  (call.asksWithoutKey === true && !text.includes('session_id'));

const KEY = 'idempotency-key';

function bodyOf({ body, type }: DayCall): { body?: string; type?: string } {
  if (body === undefined) return {};
  if (type !== undefined) return { body: String(body), type };
  return { body: JSON.stringify(body), type: 'application/json' };
}

function credentials({ with: how = 'key' }: DayCall, by: DayUser | null): Record<string, string> {
  if (by === null) return {};
  return how === 'cookie' ? { cookie: by.cookie } : { authorization: `Bearer ${by.key}` };
}

const answerOf = (status: number, isExpected: boolean, text: string, headers: Headers): DayAnswer => ({
  ...{ status, isExpected, text, headers, value: jsonIn(text) },
  read: (shape) => readJson(shape, text),
});

/** Null if the text is not JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
