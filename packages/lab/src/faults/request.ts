import type { RecordedOperation, Recorder } from './operations.ts';

// One request of a caller: sent, recorded, and bounded. Whatever went wrong on the way is `null`: unknown.

export interface CallerAnswer {
  status: number;
  code: string | null;
  text: string;
  json: Record<string, unknown>;
}

export interface CallerRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  withinMs: number;
}

export interface Gateway {
  readonly name: string;
  readonly url: string;
}

export async function sendOperation(
  recorder: Recorder,
  operation: RecordedOperation,
  gateway: Gateway,
  sent: CallerRequest,
  /** What the answer names is in the record before the answer is. */
  note: (answer: CallerAnswer) => void = () => {},
): Promise<CallerAnswer | null> {
  const attempt = recorder.attempt(operation, gateway.name);
  try {
    const response = await send(gateway, sent, AbortSignal.timeout(sent.withinMs));
    const answer = read(response.status, await response.text());
    if (answer.status < 300) note(answer);
    recorder.answered(operation, attempt, answer.status, answer.code);
    return answer;
  } catch (error) {
    recorder.lost(operation, attempt, lossOf(error));
    return null;
  }
}

export function send(
  { url }: Gateway,
  { method, path, headers, body }: CallerRequest,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
  });
}

export function read(status: number, text: string): CallerAnswer {
  const json = parsed(text);
  return { status, text, json, code: status >= 400 ? String(json.code ?? 'none') : null };
}

/** Worth asking again: it says nothing about whether the request had its effect, or says that it will later. */
export const isUnknown = ({ status }: { status: number }): boolean =>
  status >= 500 || status === 408 || status === 409 || status === 429;

/** What the network did, in a word. */
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
