// Calls the API from our pages. Browsers send the Origin header, which requests with the cookie need.

export interface ApiAnswer {
  ok: boolean;
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Never throws; the status is 0 if the service cannot be reached. */
export async function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  try {
    const response = await fetch(path, {
      method,
      headers: { ...(body && { 'content-type': 'application/json' }), accept: 'application/json', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const read: unknown = await response.json().catch(() => null);
    const { ok, status } = response;
    return { ok, status, headers: response.headers, body: isRecord(read) ? read : {} };
  } catch {
    const body = { error: 'The service cannot be reached. Try again in a moment.' };
    return { ok: false, status: 0, headers: new Headers(), body };
  }
}

/** The error message of an answer, worded for people. */
export const sentenceOf = ({ status, body }: Pick<ApiAnswer, 'status' | 'body'>): string =>
  status === 401
    ? 'You are signed out by now. Load the page again to sign in.'
    : (SENTENCES[String(body.code)] ?? String(body.error ?? `The service answered ${status}.`));

/** Replacements for messages of the service that are written for programs. */
const SENTENCES: Record<string, string> = {
  insufficient_balance: 'Not enough balance for this poll. Add funds, or set a lower limit.',
  too_many_running: 'Too many of your polls are running. Wait until one has ended.',
  rate_limited: 'Too many requests. Wait a moment, then try again.',
  key_limit_reached: 'This account has as many API keys as it can. Revoke one first.',
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
