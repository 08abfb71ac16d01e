import { createHmac, randomBytes } from 'node:crypto';

// The symmetric scheme of Standard Webhooks 1.0. Ids and timestamps are ours and contain no full stop, so signed text
// can be split in only one way.

const PREFIX = 'whsec_';
const SECRET_BYTES = 32;

/** As shown to receivers: the prefix and base64. */
export const newWebhookSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64');

export interface MessageToSign {
  /** The same in every attempt. */
  id: string;
  /** When this attempt was sent. */
  sentAt: Date;
  body: string;
}

/** Contains one signature per secret, so that a receiver may check with either while one replaces the other. */
export function signedHeaders({ id, sentAt, body }: MessageToSign, secrets: readonly string[]): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1_000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
