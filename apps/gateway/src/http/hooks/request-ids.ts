import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

// Every request has an id, in X-Request-Id, errors and logs. A caller's own id is kept when it is short and plain, so
// that one id follows a request through several services.

const PLAIN_ID = /^[\w.-]{8,64}$/;

export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && PLAIN_ID.test(given) ? given : `req_${randomHex()}`;
}

// Random bytes for many requests at once: one draw each would be an eighth of the cost of a status request.
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

/** The W3C traceparent of the request, where it is valid. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined;
}
