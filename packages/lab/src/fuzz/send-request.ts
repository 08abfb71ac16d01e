import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

// Sends one request over a real socket and reads the whole answer, within the guard's time limit.

export interface Sent {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

export interface FuzzAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly tookMs: number;
}

export interface Sender extends Disposable {
  /** Rejects if no complete answer came in time. */
  send(sent: Sent): Promise<FuzzAnswer>;
  /** Disconnects at the first bytes of the answer. */
  leave(sent: Sent): Promise<void>;
}

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export function senderTo(origin: string, guardMs: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });
  const { hostname, port } = new URL(origin);
  return {
    send({ method, target, headers, body }) {
      const began = performance.now();
      return new Promise((resolve, reject) => {
        const length = body === null ? {} : { 'content-length': String(body.length) };
        const signal = AbortSignal.timeout(guardMs);
        const outgoing = request({
          agent,
          hostname,
          port,
          method,
          path: target,
          headers: { ...headers, ...length },
          signal,
        });
        outgoing.on('error', reject);
        outgoing.on('response', (response) => {
          const chunks: Buffer[] = [];
          let bytes = 0;
          response.on('data', (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > MAX_ANSWER_BYTES)
              outgoing.destroy(new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`));
            else chunks.push(chunk);
          });
          response.on('error', reject);
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: textOf(Buffer.concat(chunks), response.headers['content-encoding']),
              tookMs: performance.now() - began,
            }),
          );
        });
        outgoing.end(body ?? undefined);
      });
    },
    leave({ method, target, headers, body }) {
      return new Promise((resolve) => {
        const signal = AbortSignal.timeout(guardMs);
        const outgoing = request({ hostname, port, method, path: target, headers, signal, agent: false });
        outgoing.on('error', () => resolve());
        outgoing.on('close', () => resolve());
        outgoing.on('response', (response) => response.once('data', () => outgoing.destroy()).once('end', resolve));
        outgoing.end(body ?? undefined);
      });
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

/** A body that cannot be decompressed is returned as received; the judge reports it. */
function textOf(body: Buffer, coding: string | undefined): string {
  try {
    if (coding === 'gzip') return gunzipSync(body, { maxOutputLength: MAX_ANSWER_BYTES }).toString();
    if (coding === 'br') return brotliDecompressSync(body, { maxOutputLength: MAX_ANSWER_BYTES }).toString();
  } catch {}
  return body.toString();
}

/** The request as a curl command. */
export function asCurl({ method, target, headers, body }: Sent, origin: string): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  const named = Object.entries(headers).map(([name, value]) => ` -H ${quoted(`${name}: ${value}`)}`);
  const call = `curl -i --path-as-is -X ${method}${named.join('')} ${quoted(origin + target)}`;
  if (body === null) return call;
  const shown = body.length > 3_000 ? body.subarray(0, 3_000) : body;
  const cut = body.length > shown.length ? `  # the first ${shown.length} of ${body.length} bytes` : '';
  const isText = /^[\x20-\x7e]*$/.test(shown.toString('latin1'));
  if (isText) return `${call} --data-binary ${quoted(shown.toString())}${cut}`;
  return `printf %s ${shown.toString('base64')} | base64 -d | ${call} --data-binary @-${cut}`;
}
