import type { ProgressSnapshot } from '@eloquentpoll/contracts';
import type { Bench } from './bench.ts';
import { requestBytes } from './http-bytes.ts';

// The poll of all rows: seven options and seven models that each vote for a different one, so that every model must be
// asked, all at once.

const ORDER = {
  question: 'Which of these answers is the best one, all things considered, for a person who has to choose today?',
  options: Array.from({ length: 7 }, (_, i) => `answer ${i + 1}`),
  preset: 'fast',
  confidence_threshold: 1,
  max_cost_usd: 1,
} as const;

export const QUESTION = {
  question: ORDER.question,
  options: ORDER.options,
  panel: 'fast',
  confidenceThreshold: 1,
} as const;

let asked = 0;

/** The bytes of a request that posts it to `path`: each time a new poll, of each account in turn. */
export function pollRequest({ customers }: Bench, path: string, headers: Record<string, string> = {}): Buffer {
  asked += 1;
  const authorization = `Bearer ${customers[asked % customers.length]}`;
  return requestBytes(
    'POST',
    path,
    { authorization, 'idempotency-key': `bench-${process.pid}-${asked}`, ...headers },
    BODY,
  );
}

export const BODY = JSON.stringify(ORDER);

export function statusRequests(
  bench: Bench,
  pollIds: readonly string[],
  headers: Record<string, string> = {},
): Buffer[] {
  return pollIds.map((id, i) =>
    requestBytes('GET', `/api/polls/${id}/status`, {
      authorization: `Bearer ${bench.keys[i % bench.keys.length]}`,
      ...headers,
    }),
  );
}

/** Returns a function that cycles through the items endlessly. */
export function inTurn<T>(items: readonly T[]): () => T {
  let next = 0;
  return () => items[next++ % items.length]!;
}

export function sampleSnapshot(pollId: string, seq: number): ProgressSnapshot {
  return {
    seq,
    poll_id: pollId,
    status: 'running',
    models_requested: 7,
    progress: { received: Math.min(seq, 7), succeeded: Math.min(seq, 7), failed: 0, total: 7 },
    tally: [1, 1, 1, 0, 0, 0, 0],
    leader: null,
    confidence: 0.25,
    vote: null,
    result_id: null,
    result: null,
    elapsed_ms: seq,
  };
}
