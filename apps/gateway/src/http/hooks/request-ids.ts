import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

// Every request has an id, shown in X-Request-Id, in errors and in logs. A caller's own id is kept when it is short and
// plain, so that one id follows a request through several services.

const SANE = /^[\w.-]{8,64}$/;

export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && SANE.test(given) ? given : `req_${randomHex()}`;
}

// Drawn for many requests at once: a draw of its own would be an eighth of what a status request costs.
const ID_BYTES = 12;
const pool = Buffer.alloc(ID_BYTES * 256);
let used = pool.length;

function randomHex(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.toString('hex', used - ID_BYTES, used);
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The W3C trace that the request belongs to, where it names one properly. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined;
}
