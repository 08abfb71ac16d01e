import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import type { Diary } from './diary.ts';

// Where webhooks arrive. It checks each signature by itself, and counts what came of what must come.

export interface Receiver extends AsyncDisposable {
  /** Each account's own; events signed with another are wrong. */
  learnSecret(secret: string): void;
  urlFor(name: string): string;
  /** The end of this poll must be heard of. */
  expectPoll(sessionId: string): void;
  figures(): { received: number; repeated: number; expected: number; missing: string[] };
}

const WebhookMessage = Type.Object({ data: Type.Object({ session_id: Type.Optional(Type.String()) }) });

export async function openReceiver(diary: Diary): Promise<Receiver> {
  const secrets = new Set<string>();
  const expected = new Set<string>();
  const ended = new Set<string>();
  const messages = new Set<string>();
  let repeated = 0;

  async function receive(request: IncomingMessage): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const id = String(request.headers['webhook-id']);
    if (!isSigned(request, id, body)) return diary.note(`webhook: ${id} is not signed as it must be`);
    if (messages.has(id)) repeated += 1;
    messages.add(id);
    const { data } = readJson(WebhookMessage, body);
    if (data.session_id) ended.add(data.session_id);
  }

  function isSigned({ headers }: IncomingMessage, id: string, body: string): boolean {
    const signed = `${id}.${String(headers['webhook-timestamp'])}.${body}`;
    const signatures = String(headers['webhook-signature']).split(' ');
    return [...secrets].some((secret) => {
      const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
      return signatures.includes(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
    });
  }

  const server = createServer((request, response) => {
    receive(request).then(
      () => response.end('ok'),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    learnSecret: (secret) => void secrets.add(secret),
    urlFor: (name) => `http://127.0.0.1:${port}/${name}`,
    expectPoll: (sessionId) => void expected.add(sessionId),
    figures: () => ({
      received: messages.size,
      repeated,
      expected: expected.size,
      missing: [...expected].filter((sessionId) => !ended.has(sessionId)),
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
