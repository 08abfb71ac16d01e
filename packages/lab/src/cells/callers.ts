import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

// Callers of one account that repeat each request, with the same Idempotency-Key, until it is answered.

export interface Asked {
  /** `poll_id` of the answer. */
  resultId: string;
  /** From the first try to the answer if a try failed, otherwise 0. */
  outageMs: number;
}

export interface CallerLog {
  readonly asked: Asked[];
  /** The number of failed tries, by status and code or by the name of the network error. */
  readonly repeated: Map<string, number>;
  /** Answers that no caller should get. */
  readonly wrong: string[];
}

type Kind = 'poll' | 'repeat' | 'session' | 'stream';
const KINDS: readonly Kind[] = ['poll', 'repeat', 'session', 'stream'];

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B', 'C'], preset: 'fast' };
const RETRY_MS = 100;
const GIVE_UP_MS = 120_000;

/** Runs `atOnce` callers until the signal; then each finishes what it has begun. */
export async function runCallers(
  { url, key, atOnce }: { url: string; key: string; atOnce: number },
  over: AbortSignal,
): Promise<CallerLog> {
  const log: CallerLog = { asked: [], repeated: new Map(), wrong: [] };
  const caller = async (first: number) => {
    for (let n = first; !over.aborted; n++) {
      const asked = await askOnce(url, key, KINDS[n % KINDS.length]!, log);
      if (asked) log.asked.push(asked);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, i) => caller(i)));
  return log;
}

async function askOnce(url: string, key: string, kind: Kind, log: CallerLog): Promise<Asked | null> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const began = performance.now();
  let refusals = 0;
  /** Null if the request has to be repeated. */
  async function tryOnce(path: string, body?: object): Promise<{ status: number; text: string } | null> {
    try {
      const response = await fetch(`${url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers,
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(30_000),
      });
      const text = await response.text();
      if (response.status < 300) return { status: response.status, text };
      const answer = `${response.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? ''}`.trim();
      if (response.status < 500) log.wrong.push(`${kind}: ${answer}`);
      else if (response.headers.get('retry-after') === null && response.status === 503)
        log.wrong.push(`${answer} without Retry-After`);
      count(log.repeated, answer);
    } catch (error) {
      count(log.repeated, error instanceof Error ? error.name : 'lost');
    }
    refusals += 1;
    return null;
  }
  async function until<T>(step: () => Promise<T | null>): Promise<T | null> {
    while (performance.now() - began < GIVE_UP_MS) {
      const value = await step();
      if (value !== null) return value;
      await sleep(RETRY_MS);
    }
    log.wrong.push(`${kind}: not answered within ${GIVE_UP_MS / 1_000} s`);
    return null;
  }

  let resultId: string | null;
  if (kind === 'session') {
    const session = await until(async () => idIn('session_id', await tryOnce('/api/polls', POLL)));
    resultId = session && (await until(async () => idIn('result_id', await tryOnce(`/api/polls/${session}/status`))));
  } else if (kind === 'stream') {
    resultId = await until(async () => {
      const answer = await tryOnce('/api/poll/stream', POLL);
      return answer && /event: complete/.test(answer.text) ? idIn('poll_id', answer) : null;
    });
  } else {
    resultId = await until(async () => idIn('poll_id', await tryOnce('/api/poll', POLL)));
  }
  const outageMs = refusals > 0 ? performance.now() - began : 0;
  if (resultId !== null && kind === 'repeat') {
    const again = await until(async () => idIn('poll_id', await tryOnce('/api/poll', POLL)));
    if (again !== resultId) log.wrong.push(`repeat: ${again} instead of ${resultId}`);
  }
  return resultId === null ? null : { resultId, outageMs };
}

const idIn = (member: string, answer: { text: string } | null): string | null =>
  answer && (new RegExp(`"${member}":"([^"]+)"`).exec(answer.text)?.[1] ?? null);

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
