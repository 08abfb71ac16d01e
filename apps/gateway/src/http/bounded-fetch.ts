import type { CustomFetchOptions } from 'openid-client';

// Fetches documents of other servers into memory. An answer larger than the limit is an error, whatever its headers
// say.

const MAX_BYTES = 512 * 1_024;

type Options = Omit<RequestInit, 'body'> & { body?: CustomFetchOptions['body'] };

export async function boundedFetch(
  url: string,
  { body, ...options }: Options,
  maxBytes = MAX_BYTES,
): Promise<Response> {
  const response = await fetch(url, { ...options, body: body ?? null });
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw new Error(`an answer of more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  const { status, statusText, headers } = response;
  return new Response(BODILESS.has(status) ? null : new Blob(chunks), { status, statusText, headers });
}

const BODILESS = new Set([204, 205, 304]);
