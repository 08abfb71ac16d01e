// Calls of our own API from our own pages. The browser says where they come from, which is what the cookie counts by.

export interface Answer {
  ok: boolean;
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

/** Never throws: a service that cannot be reached answers 0. */
export async function ask(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<Answer> {
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

/** What an answer says to a person, when it was not a good one. */
export const sentenceOf = ({ status, body }: Pick<Answer, 'status' | 'body'>): string =>
  status === 401
    ? 'You are signed out by now. Load the page again to sign in.'
    : String(body.error ?? `The service answered ${status}.`);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
