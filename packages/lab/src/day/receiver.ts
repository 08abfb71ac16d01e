import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { readJson } from '@eloquentpoll/services/json';
import { Type } from '@sinclair/typebox';
import { openLoopbackServer } from '../fixture/open-loopback-server.ts';
import type { Diary } from './diary.ts';

// Receives webhooks, checks each signature independently of our code, and tracks which expected messages arrived. An
// event may arrive before the answer with its endpoint's secret; it is then checked as soon as the secret is known.

export interface Receiver extends AsyncDisposable {
  /** Adds the secret of an account or endpoint; events to its address that are signed with another one are wrong. */
  learnSecret(owner: string, secret: string): void;
  /** All secrets are known: events that match none of their owner are wrong. */
  settle(): void;
  /** The address for the events of an account or endpoint. */
  urlFor(owner: string): string;
  /** Expects a message about the end of this poll. */
  expectPoll(sessionId: string): void;
  figures(): { received: number; repeated: number; expected: number; missing: string[] };
}

interface WebhookArrival {
  id: string;
  /** The account or endpoint whose address the message was sent to. */
  owner: string;
  signed: string;
  signatures: readonly string[];
  sessionId: string | undefined;
}

/** Limit on messages whose secret is not known yet. */
const MAX_UNPROVEN = 1_000;

const WebhookMessage = Type.Object({ data: Type.Object({ session_id: Type.Optional(Type.String()) }) });

export async function openReceiver(diary: Diary, maxUnproven = MAX_UNPROVEN): Promise<Receiver> {
  const secrets = new Map<string, string>();
  const expected = new Set<string>();
  const ended = new Set<string>();
  const messages = new Set<string>();
  const unproven: WebhookArrival[] = [];
  let repeated = 0;

  function receive(arrival: WebhookArrival): void {
    if (isProven(arrival)) accept(arrival);
    else if (unproven.push(arrival) > maxUnproven) refuse(unproven.shift()!);
  }

  function isProven(arrival: WebhookArrival): boolean {
    const secret = secrets.get(arrival.owner);
    return secret !== undefined && isSignedWith(secret, arrival);
  }

  function accept({ id, sessionId }: WebhookArrival): void {
    if (messages.has(id)) repeated += 1;
    messages.add(id);
    if (sessionId) ended.add(sessionId);
  }

  const refuse = ({ id, owner }: WebhookArrival) =>
    diary.note(`webhook: ${id} to ${owner} is not signed with the secret of this account or endpoint`);

  function learnSecret(owner: string, secret: string): void {
    secrets.set(owner, secret);
    for (const arrival of unproven.splice(0))
      if (isProven(arrival)) accept(arrival);
      else unproven.push(arrival);
  }

  const server = await openLoopbackServer(({ request, body, response }) => {
    receive(arrivalOf(request, body));
    response.end('ok');
  });
  return {
    learnSecret,
    settle: () => unproven.splice(0).forEach(refuse),
    urlFor: (owner) => `${server.origin}/${owner}`,
    expectPoll: (sessionId) => void expected.add(sessionId),
    figures: () => ({
      received: messages.size,
      repeated,
      expected: expected.size,
      missing: [...expected].filter((sessionId) => !ended.has(sessionId)),
    }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function arrivalOf({ headers, url = '/' }: IncomingMessage, body: string): WebhookArrival {
  const id = String(headers['webhook-id']);
  return {
    id,
    owner: url.slice(1),
    signed: `${id}.${String(headers['webhook-timestamp'])}.${body}`,
    signatures: String(headers['webhook-signature']).split(' '),
    sessionId: readJson(WebhookMessage, body).data.session_id,
  };
}

function isSignedWith(secret: string, { signed, signatures }: WebhookArrival): boolean {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  return signatures.includes(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`);
}
