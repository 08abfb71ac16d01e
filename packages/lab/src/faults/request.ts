import { setTimeout as sleep } from 'node:timers/promises';
import type { KeptAnswer, KeptRequest, RecordedOperation, Recorder } from './operations.ts';

// Sends and records one request of a caller, within a time limit. If anything goes wrong the answer is `null`: unknown.

export interface CallerAnswer extends KeptAnswer {
  text: string;
  json: Record<string, unknown>;
}

export interface CallerRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** Sent instead of `body`: lines of a file, one after the other. */
  lines?: { values: readonly object[]; everyMs: number };
  withinMs: number;
}

export interface Gateway {
  readonly name: string;
  readonly url: string;
  /** Checks each complete answer that is not a stream. */
  readonly judge?: (sent: CallerRequest, response: Response, text: string) => void;
}

export async function sendOperation(
  recorder: Recorder,
  operation: RecordedOperation,
  gateway: Gateway,
  sent: CallerRequest,
  /** Runs before the answer is recorded, so that what it names is recorded first. */
  note: (answer: CallerAnswer) => void = () => {},
): Promise<CallerAnswer | null> {
  const attempt = recorder.attempt(operation, keptRequestOf(gateway, sent));
  try {
    const response = await send(gateway, sent, AbortSignal.timeout(sent.withinMs));
    const answer = read(response, await response.text());
    gateway.judge?.(sent, response, answer.text);
    if (answer.status < 300) note(answer);
    recorder.answered(operation, attempt, answer);
    return answer;
  } catch (error) {
    recorder.lost(operation, attempt, lossOf(error));
    return null;
  }
}

export const keptRequestOf = ({ name }: Gateway, { method, path, lines }: CallerRequest): KeptRequest => ({
  gateway: name,
  method,
  path,
  isUpload: lines !== undefined,
});

export function send(
  { url }: Gateway,
  { method, path, headers, body, lines }: CallerRequest,
  signal: AbortSignal,
): Promise<Response> {
  if (lines) {
    const file = ReadableStream.from(written(lines));
    const type = { 'content-type': 'application/jsonl' };
    return fetch(`${url}${path}`, { method, headers: { ...headers, ...type }, body: file, duplex: 'half', signal });
  }
  return fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  });
}

async function* written({ values, everyMs }: NonNullable<CallerRequest['lines']>): AsyncGenerator<Uint8Array> {
  for (const value of values) {
    yield Buffer.from(`${JSON.stringify(value)}\n`);
    await sleep(everyMs);
  }
}

export function read({ status, headers }: Pick<Response, 'status' | 'headers'>, text: string): CallerAnswer {
  const json = parsed(text);
  const retryAfter = headers.get('retry-after');
  return {
    ...{ status, text, json },
    code: status >= 400 ? String(json.code ?? 'none') : null,
    retryAfterS: retryAfter === null ? null : Number(retryAfter),
  };
}

/** The fleet's spend ceiling is reached: a retry during the campaign is pointless. */
export const BUDGET_REACHED = 'provider_budget_reached';

/** Worth a retry: the answer does not say whether the request took effect, or says that it will be known later. */
export const isUnknown = ({ status, code }: Pick<KeptAnswer, 'status' | 'code'>): boolean =>
  code !== BUDGET_REACHED && (status >= 500 || status === 408 || status === 409 || status === 429);

/** A definite answer that its poll or batch has ended. */
export const saysEnded = (answer: CallerAnswer): boolean =>
  !isUnknown(answer) && answer.json.status !== 'running' && answer.json.status !== 'canceling';

/** What happened on the network, as one word. */
export function lossOf(error: unknown): string {
  if (!(error instanceof Error)) return 'error';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.name === 'TimeoutError' || error.name === 'AbortError' ? 'timeout' : error.message.slice(0, 60);
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
