import { randomFillSync } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

// Every request has an id, shown in X-Request-Id, errors and logs. A caller's own id is kept if it is short and plain,
// so that one id follows a request through several services.

const PLAIN_ID = /^[\w.-]{8,64}$/;

export function requestId(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && PLAIN_ID.test(given) ? given : `req_${randomHex()}`;
}

// Random bytes are drawn for many requests at once: one draw per request would be an eighth of a status request's cost.
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

/** The request's W3C traceparent, if valid. */
export function traceparentOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && TRACEPARENT.test(header) ? header : undefined;
}
