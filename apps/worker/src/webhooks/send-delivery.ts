import type { WebhookAttempt } from '@eloquentpoll/contracts';
import type { AttemptOutcome, ClaimedDelivery } from '@eloquentpoll/storage';
import {
  type MessageSender,
  messageData,
  retryMs,
  type SecretBox,
  type SendOutcome,
  signedHeaders,
} from '@eloquentpoll/webhooks';

// One attempt at one delivery: opens its secrets, signs, sends, and classifies the outcome.

export interface SendingParts {
  box: SecretBox;
  send: MessageSender;
  /** The base of links in messages. */
  baseUrl: string;
}

/** Slower receivers get one message at a time. */
const QUICK_MS = 2_000;
const GONE = 410;

/** Throws if a secret was sealed with a key that this worker does not have. */
export async function sendDelivery(
  { box, send, baseUrl }: SendingParts,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const { type, data, happenedAt, eventId, endpointId, url } = delivery;
  const secrets = [delivery.secret, delivery.previousSecret].flatMap((sealed) =>
    sealed === null ? [] : [box.open(sealed, endpointId)],
  );
  const body = JSON.stringify({ type, timestamp: happenedAt.toISOString(), data: messageData(baseUrl, type, data) });
  const sentAt = new Date();
  const sent = await send({ url, headers: signedHeaders({ id: eventId, sentAt, body }, secrets), body }, signal);
  if (sent.status === null && signal.aborted) return { kind: 'released' };
  return outcomeOf(delivery, sent, sentAt);
}

function outcomeOf({ tries, isLast }: ClaimedDelivery, sent: SendOutcome, sentAt: Date): AttemptOutcome {
  const { status, error, tookMs } = sent;
  const entry: WebhookAttempt = { at: sentAt.toISOString(), http_status: status, error, took_ms: tookMs };
  const isDelivered = status !== null && status >= 200 && status < 300;
  if (isDelivered) return { kind: 'delivered', entry, isQuick: tookMs <= QUICK_MS };
  if (status === GONE) return { kind: 'gone', entry, isQuick: false };
  const pauseMs = isLast ? null : retryMs(tries, sent.retryAfterMs);
  return pauseMs === null
    ? { kind: 'failed', entry, isQuick: false }
    : { kind: 'retry', entry, isQuick: false, retryMs: pauseMs };
}
