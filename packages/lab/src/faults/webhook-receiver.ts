import { openLoopbackServer } from '../fixture/open-loopback-server.ts';
import type { Chance } from '../terminal/chance.ts';

// Receives the webhooks of a campaign's accounts, each at its own address. It refuses the first attempt of some
// messages and loses the answer to others, so that they have to be sent again.

export interface ReceivedMessage {
  /** Path of the receiving address. */
  readonly path: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
  /** By our clock. */
  readonly at: number;
}

/** An address and the secret that the account has for it. */
export interface Hook {
  readonly path: string;
  readonly accountId: string;
  readonly secret: string;
  /** Receives the end of every poll; otherwise only of polls that name the address as their webhook_url. */
  readonly isEndpoint: boolean;
}

interface WebhookReceiver extends AsyncDisposable {
  readonly messages: readonly ReceivedMessage[];
  urlOf(path: string): string;
}

/** Path prefix for accounts that are deleted, whose secrets are not kept. */
export const LEFT = '/left/';

const FAILED = 0.1;
const UNANSWERED = 0.05;

export async function openWebhookReceiver(chance: Chance): Promise<WebhookReceiver> {
  const messages: ReceivedMessage[] = [];
  const known = new Set<string>();
  const server = await openLoopbackServer(({ request, body, response }) => {
    const { url: path = '', headers } = request;
    const id = String(headers['webhook-id']);
    messages.push({
      ...{ path, id, body, at: Date.now() },
      timestamp: String(headers['webhook-timestamp']),
      signature: String(headers['webhook-signature']),
    });
    const isFirst = !known.has(`${path} ${id}`);
    known.add(`${path} ${id}`);
    if (isFirst && chance.happens(UNANSWERED)) request.socket.destroy();
    else response.writeHead(isFirst && chance.happens(FAILED) ? 500 : 204).end();
  });
  return {
    messages,
    urlOf: (path) => `${server.origin}${path}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
