import { setTimeout as delay } from 'node:timers/promises';
import { openStorage, readRecentResults } from '@eloquentpoll/storage';
import type { Product } from '../start/product.ts';

// Creates polls of the local account, so that dashboard, history, results and reputations have data. They go through
// the API like any caller's. An account that already has polls is left alone.

const CONCURRENCY = 6;
/** A code change restarts the gateway; the same Idempotency-Key finds the poll again. */
const RETRIES = 20;
const RETRY_MS = 1_000;

interface SeedPoll {
  question: string;
  options: string[];
  preset?: string;
}

const POLLS: readonly SeedPoll[] = [
  { question: 'Which database should a small team start with?', options: ['Postgres', 'MongoDB', 'SQLite'] },
  { question: 'Which planet has the most known moons?', options: ['Jupiter', 'Saturn', 'Uranus', 'Neptune'] },
  { question: 'Tabs or spaces?', options: ['Tabs', 'Spaces'], preset: 'fast' },
  { question: 'Which sorting algorithm is stable?', options: ['Merge sort', 'Heap sort', 'Quick sort'] },
  { question: 'Should this release go out on a Friday?', options: ['Yes', 'No'], preset: 'strong' },
  { question: 'Which city is further north?', options: ['Venice', 'Montreal', 'Vladivostok'] },
  { question: 'Is 2,147,483,647 a prime number?', options: ['Yes', 'No'] },
  { question: 'Which of these is not a fruit?', options: ['Tomato', 'Rhubarb', 'Pumpkin', 'Cucumber'] },
  { question: 'Which licence needs a copy of its text?', options: ['MIT', 'CC0', 'Unlicense'], preset: 'fast' },
  { question: 'What would you read first?', options: ['README', 'CONTRIBUTING', 'DESIGN', 'The tests'] },
  { question: 'Which is larger?', options: ['The Sun', 'The Moon'], preset: 'fast' },
  { question: 'Which HTTP status says "try again later"?', options: ['409', '429', '503', '504'], preset: 'strong' },
];
/** Most are rated right, one wrong, the rest not at all. */
const FEEDBACK = [true, true, null, true, false, null, true, true, null, true, null, true];

/** Returns the number of polls that were asked; 0 if the account already had some. */
export async function seedPolls(product: Product): Promise<number> {
  if (await hasResults(product)) return 0;
  const headers = { authorization: `Bearer ${product.apiKey}`, 'content-type': 'application/json' };
  const call = async (path: string, payload: object, key: string): Promise<unknown> => {
    const body = JSON.stringify(payload);
    const answer = await sendUntilServed(`${product.url}${path}`, {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': key },
      body,
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${(await answer.text()).slice(0, 300)}`);
    return answer.json();
  };
  const waiting = [...POLLS.entries()];
  const ask = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, poll] = next;
      const { poll_id } = (await call('/api/poll', poll, `dev-seed-${index}`)) as { poll_id: string };
      const outcome_correct = FEEDBACK[index];
      if (outcome_correct != null) await call('/api/feedback', { poll_id, outcome_correct }, poll_id);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, ask));
  return POLLS.length;
}

async function sendUntilServed(url: string, request: RequestInit): Promise<Response> {
  for (let retries = RETRIES; ; retries--) {
    const signal = AbortSignal.timeout(60_000);
    const answer = await fetch(url, { ...request, signal }).catch((error: Error) => error);
    if (answer instanceof Response && answer.status !== 503) return answer;
    if (retries === 0) throw answer instanceof Error ? answer : new Error(`${url} answered ${answer.status}`);
    await delay(RETRY_MS);
  }
}

async function hasResults({ databaseUrl, accountId }: Product): Promise<boolean> {
  await using storage = openStorage({ databaseUrl, maxConnections: 1, connectTimeoutMs: 10_000 });
  return (await readRecentResults(storage, accountId, 1)).length > 0;
}
