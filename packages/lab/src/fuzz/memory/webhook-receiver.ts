import { openLoopbackServer } from '../../fixture/open-loopback-server.ts';
import { parsed } from '../judge-answer.ts';
import type { SecretWatch } from '../secrets.ts';

// Receives the webhooks of the accounts; the last part of the address is the mark of its account.

export interface FuzzReceiver extends AsyncDisposable {
  readonly url: string;
  readonly messages: () => number;
  readonly problems: readonly string[];
}

const MARK = /\bzq[ab][0-9a-z]+x\b/g;

export async function webhookReceiver(watch: () => SecretWatch | null): Promise<FuzzReceiver> {
  const problems: string[] = [];
  let messages = 0;
  const server = await openLoopbackServer(({ request, body, reply }) => {
    messages += 1;
    const problem = problemOf(request.url ?? '', body, request.headers, watch());
    if (problem && problems.length < 20) problems.push(problem);
    // Refuses some messages, so that deliveries fail and are retried.
    reply(messages % 7 === 0 ? 500 : 204, {});
  });
  return {
    url: `${server.origin}/hooks`,
    messages: () => messages,
    problems,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function problemOf(
  path: string,
  body: string,
  headers: Readonly<Record<string, unknown>>,
  watch: SecretWatch | null,
): string | null {
  if (parsed(body) === undefined) return `a webhook that is no JSON: ${body.slice(0, 200)}`;
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
    if (typeof headers[name] !== 'string') return `a webhook without ${name}`;
  const injected = Object.keys(headers).find((name) => name.includes('xq7'));
  if (injected !== undefined) return `a webhook with the header ${injected}`;
  const own = path.split('/').at(-1);
  const foreign = [...body.matchAll(MARK)].find(([mark]) => mark !== own);
  if (foreign) return `a webhook to ${own} shows ${foreign[0]}`;
  const secret = watch?.inAnswer(body, 'webhook');
  return secret ? `a webhook shows ${secret}` : null;
}
