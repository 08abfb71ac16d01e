import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';

// A service that answers as a test configures it, and records the requests.

export interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

export type Answering = (asked: Asked, response: ServerResponse, nth: number) => unknown;

/** Answers JSON with whatever `answering` returns, unless it has answered by itself. Uploads are recorded as text. */
export async function serve(t: Test, answering: Answering) {
  const asked: Asked[] = [];
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const { method = '', url = '', headers } = request;
    const isText = /jsonl|csv/.test(headers['content-type'] ?? '');
    const one = { method, path: url, headers, body: isText ? body : body === '' ? null : JSON.parse(body) };
    asked.push(one);
    const answer = await answering(one, response, asked.length);
    if (answer === undefined) return;
    if (!response.headersSent) response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer));
  };
  const server = createServer((request, response) => void respond(request, response));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export const QUESTION = { question: 'Which is larger?', options: ['The Sun', 'The Moon'] };

export const RESULT = {
  poll_id: 'EP-2026-11-20-0123456789abcdef',
  status: 'success',
  outcome: 'The Sun',
  ...QUESTION,
  poll_type: 'fptp',
  winning_option: 'The Sun',
  is_tie: false,
  confidence_threshold: 0.95,
  max_cost_usd: 1,
  early_terminated: true,
  termination_reason: 'confidence',
  models_skipped: 2,
  tally: { 'The Sun': 2, 'The Moon': 1 },
  votes: [vote('sim/a', 'The Sun'), vote('sim/b', 'The Moon'), vote('sim/c', 'The Sun'), vote('sim/d', null)],
  timing: { gather_ms: 900, total_ms: 950 },
  costs: { total_estimated_cost: 0.0042 },
  confidence: 0.9567,
  chances: [0.9567, 0.0033, 0.04],
  verdict: {
    kind: 'kept',
    headline: 'The Sun: 2 of 3, stopped early',
    agreement: 'split',
    likely_to_stay: 0.9567,
    text: 'The Sun: 2 of 3, stopped early\nAgreement: split so far. 95% likely to stay the winner.\nNot proof that it is true.',
  },
  preset: 'broad',
  simulated: true,
};

export function vote(model_id: string, chosen_option: string | null) {
  const success = chosen_option !== null;
  const error = success ? null : 'timeout';
  return { model_id, success, chosen_option, transition: 'vote', latency_ms: 300, estimated_cost: 0.001, error };
}

export function started(seq: number, tally: Record<string, number> = { 'The Sun': seq, 'The Moon': 0 }) {
  return {
    seq,
    session_id: 'ps_1',
    phase: seq === 0 ? 'started' : 'voting',
    models_requested: 6,
    progress: { received: seq, succeeded: seq, failed: 0, total: 6 },
    tally,
    leader: seq === 0 ? null : 'The Sun',
    confidence: null,
    chances: seq === 0 ? [0.4, 0.4, 0.2] : [0.73, 0.2, 0.07],
    vote: seq === 0 ? null : vote('sim/a', 'The Sun'),
    elapsed_ms: 100 * seq,
  };
}

export const sse = (event: string, data: { seq: number; page_url?: string }): string =>
  `id: ps_1:${data.seq}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

export const complete = (seq: number, result: object = RESULT): string =>
  sse('complete', { seq, session_id: 'ps_1', ...result } as { seq: number });

/** Waits before another attempt have a random part, so they are not whole numbers; all other waits are. */
export const isBackoff = (ms: number): boolean => !Number.isInteger(ms);

/** Lets the waits that `shorten` picks pass in no time, and notes how long they should have been. */
export function withoutWaiting(t: Test, shorten: (ms: number) => boolean = isBackoff, instead_ms = 0): number[] {
  const waits: number[] = [];
  const real = globalThis.setTimeout;
  t.teardown(() => {
    globalThis.setTimeout = real;
  });
  const faster = (work: () => void, ms = 0) => {
    if (!shorten(ms)) return real(work, ms);
    waits.push(ms);
    return real(work, instead_ms);
  };
  globalThis.setTimeout = Object.assign(faster, real) as typeof setTimeout;
  return waits;
}

/** A batch of so many rows, of which so many have ended. */
export function batch(ended: number, total: number, more: object = {}) {
  const counts = { total, waiting: total - ended, running: 0, success: ended };
  return {
    batch_id: 'pb_1',
    status: ended === total ? 'completed' : 'running',
    service_tier: 'flex',
    counts: { ...counts, partial: 0, failed: 0, canceled: 0, not_run: 0 },
    not_run_reason: null,
    skipped: { count: 0, first: [] },
    has_gold: false,
    cost_usd: ended / 100,
    reserved_usd: 0,
    max_cost_usd: null,
    metadata: {},
    created_at: '2026-11-20T10:00:00.000Z',
    expires_at: '2026-11-21T10:00:00.000Z',
    ended_at: ended === total ? '2026-11-20T10:10:00.000Z' : null,
    status_url: '',
    results_url: '',
    report_url: null,
    ...more,
  };
}

export const batchResult = (line: number, more: object = {}) => ({
  custom_id: `row-${line}`,
  line,
  status: 'success',
  not_run_reason: null,
  session_id: `ps_${line}`,
  result: RESULT,
  error: null,
  gold: null,
  is_right: null,
  ...more,
});

export const jsonLines = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
