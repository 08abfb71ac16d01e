import type { Test } from 'tap';
import { run } from '../src/cli/run.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { pipes, terminal } from './screen.ts';

// Commands at a service that a test makes up, without a connection.

const SITE = 'https://polls.example';

export const answered = (body: object, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

export const refusedWith = (
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): Response => answered({ error: `It says ${code}`, code, retryable: false, ...more }, status, headers);

/** `sent`: the idempotency key of each request. */
export async function usedOffline(
  t: Test,
  argv: string[],
  answer: (path: string, nth: number) => Response | Promise<Response>,
  given: Partial<Terminal> = {},
) {
  const real = globalThis.fetch;
  t.teardown(() => {
    globalThis.fetch = real;
  });
  const sent: (string | null)[] = [];
  globalThis.fetch = async (input, init) => {
    sent.push(new Headers(init?.headers).get('idempotency-key'));
    return answer(String(input).slice(SITE.length), sent.length);
  };
  const { texts, ...outputs } = pipes();
  const exit = await run(argv, terminal({ ...outputs, env: { EP_URL: SITE, EP_KEY: 'ep_k_x' }, ...given }));
  return { exit, ...texts, sent };
}
