import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readJson } from '@eloquentpoll/services/json';
import type { Static, TSchema } from '@sinclair/typebox';
import type { DayUser } from './day-user.ts';
import type { Diary } from './diary.ts';

// One request of a user: sent to one of the gateways, timed, and checked for a status that it may have.

export interface DayCall {
  /** What it is counted as. */
  way: string;
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** JSON, unless `type` says otherwise. */
  body?: unknown;
  type?: string;
  headers?: Readonly<Record<string, string>>;
  /** Whose, and shown by what. */
  by?: DayUser | null;
  with?: 'key' | 'cookie';
  /** Anything else is wrong. */
  expect?: readonly number[];
  /** Where it leads is not followed. */
  isManual?: boolean;
  /** It asks for a poll without a key: a refusal that names no poll says that none was made, and is repeated as such. */
  asksWithoutKey?: boolean;
  /** Of protocols that refuse with an expected status: in how many seconds to ask again, null of an answer that stands. */
  waitSaidIn?: (answer: DayAnswer) => number | null;
}

export interface DayAnswer {
  status: number;
  isExpected: boolean;
  text: string;
  /** Of JSON; null of anything else. */
  value: unknown;
  /** The same, where it is of this shape; throws where it is not. */
  read<T extends TSchema>(shape: T): Static<T>;
  headers: Headers;
}

export type SendCall = (call: DayCall) => Promise<DayAnswer>;

const WITHIN_MS = 60_000;
const ATTEMPTS = 6;
const A_MOMENT_S = 10;
/** Polls are asked for with a key of their own, as our clients do it, so that they may be repeated. */
const ASKS = ['/api/poll', '/api/polls', '/api/quick-poll', '/api/poll/stream'];

/** A refusal for a moment is repeated when it says, as our clients do it, where that cannot do a thing twice. */
export function caller(gateways: readonly string[], diary: Diary): SendCall {
  let turn = 0;
  return async (asked) => {
    const call = withOwnKey(asked);
    for (let attempt = 1; ; attempt++) {
      const { answer, problem } = await send(call, gateways[turn++ % gateways.length]!, diary);
      const waitS = waitOf(call, answer);
      const isRefused = waitS <= A_MOMENT_S;
      const wrong = problem ?? (isRefused ? problemOf(call, answer) : null);
      if (isRefused) diary.refuse(`${call.way}: ${wrong}`);
      if (!isRefused || !isRepeatable(call, answer) || attempt === ATTEMPTS) {
        // Refused for a moment is not wrong; for longer it is.
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

/** NaN of an answer that is no refusal for a time. */
function waitOf({ waitSaidIn }: DayCall, answer: DayAnswer): number {
  if (answer.isExpected) return waitSaidIn?.(answer) ?? Number.NaN;
  return answer.status === 503 ? Number(answer.headers.get('retry-after') ?? Number.NaN) : Number.NaN;
}

const methodOf = ({ method, body }: DayCall): NonNullable<DayCall['method']> =>
  method ?? (body === undefined ? 'GET' : 'POST');

const withOwnKey = (call: DayCall): DayCall =>
  methodOf(call) === 'POST' && ASKS.includes(call.path) && call.by
    ? { ...call, headers: { [KEY]: randomUUID(), ...call.headers } }
    : call;

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

/** Null of what is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
