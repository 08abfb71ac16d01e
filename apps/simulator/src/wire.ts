import type { FastifyReply } from 'fastify';
import type { Failure } from './behaviour.ts';
import type { Payload } from './completion.ts';
import { providerErrorBody } from './errors.ts';
import { type Exchange, Gone } from './exchanges.ts';

// Sends an answer, or breaks it in the scripted way. Every path ends: when done, when the client disconnects, or when
// the server closes.

const HTML = '<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>';
const FILLER = Buffer.alloc(65_536, 'x');
const HUGE_BYTES = 64 * 1024 * 1024;
const LATE_MS = 60_000;
const DRIP_MS = 1000;

/** Failures without an answer: the request is rejected. */
export async function turnAway(reply: FastifyReply, exchange: Exchange, failure: Failure): Promise<void> {
  await exchange.pause(failure.delay_ms ?? 0);
  switch (failure.kind) {
    case 'status': {
      const status = failure.status ?? 500;
      if (failure.retry_after_s !== undefined) reply.header('retry-after', String(failure.retry_after_s));
      await reply.code(status).send(providerErrorBody(status, `Simulated failure ${status}`, 'simulated'));
      return;
    }
    case 'html':
      await reply
        .code(failure.status ?? 200)
        .header('content-type', 'text/html; charset=utf-8')
        .send(HTML);
      return;
    case 'wrong_shape':
      await reply.send({ result: 'ok' });
      return;
    case 'reset':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return;
    case 'hang_before_first_byte':
      return exchange.hang();
    default:
      throw new Error(`${failure.kind} needs an answer`);
  }
}

export const turnsAway = ({ kind }: Failure): boolean =>
  kind === 'status' ||
  kind === 'html' ||
  kind === 'wrong_shape' ||
  kind === 'reset' ||
  kind === 'hang_before_first_byte';

/** Sends the answer, damaged if a wire failure is scripted. */
export async function transmit(
  reply: FastifyReply,
  exchange: Exchange,
  payload: Payload,
  failure: Failure | null,
): Promise<void> {
  if (failure?.kind === 'late') await exchange.pause(failure.delay_ms ?? LATE_MS);
  const body = Buffer.from(payload.pieces.join(''));
  const half = body.subarray(0, Math.ceil(body.length / 2));
  const { raw } = reply;
  reply.hijack();
  raw.setHeader('content-type', payload.contentType);
  switch (failure?.kind) {
    case 'hang_after_first_byte':
      await write(reply, exchange, body.subarray(0, 1));
      return exchange.hang();
    case 'truncated_json':
      raw.end(half);
      return;
    case 'cut':
      raw.setHeader('content-length', body.length);
      raw.write(half, () => raw.destroy());
      return;
    case 'slow_drip': {
      const size = failure.piece_bytes ?? 16;
      for (let at = 0; at < body.length; at += size) {
        await write(reply, exchange, body.subarray(at, at + size));
        await exchange.pause(failure.delay_ms ?? DRIP_MS);
      }
      raw.end();
      return;
    }
    case 'huge':
      await write(reply, exchange, Buffer.from('{"filler":"'));
      for (let left = failure.bytes ?? HUGE_BYTES; left > 0; left -= FILLER.length)
        await write(reply, exchange, FILLER.subarray(0, Math.min(left, FILLER.length)));
      raw.end('"}');
      return;
    default:
      for (const piece of payload.pieces) raw.write(piece);
      raw.end();
  }
}

/** Writes and waits for the socket's buffer to drain, so that a slow reader costs no memory. */
async function write(reply: FastifyReply, exchange: Exchange, bytes: Uint8Array): Promise<void> {
  const { raw } = reply;
  if (raw.write(bytes)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = () => {
      raw.off('drain', settle);
      exchange.signal.removeEventListener('abort', settle);
      if (exchange.signal.aborted) reject(new Gone());
      else resolve();
    };
    raw.once('drain', settle);
    exchange.signal.addEventListener('abort', settle, { once: true });
  });
}
