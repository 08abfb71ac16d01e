import { createHash } from 'node:crypto';
import { LIMITS } from '@eloquentpoll/contracts';
import { ApiError } from '../../http/api-error.ts';
import { UPLOAD_TOO_LONG } from '../../http/hooks/body-timeout.ts';

/** Passes on the bytes of an upload, within its limits of size and time. */
export interface MeteredBytes extends AsyncIterable<Buffer> {
  /** Hash of the bytes so far. */
  hash(): string;
}

const { bytes: MAX_BYTES, upload_ms: MAX_UPLOAD_MS } = LIMITS.batch;

export function meteredBytes(source: AsyncIterable<Buffer>): MeteredBytes {
  const sha256 = createHash('sha256');
  return {
    hash: () => sha256.copy().digest('hex'),
    async *[Symbol.asyncIterator]() {
      const endsAt = performance.now() + MAX_UPLOAD_MS;
      let bytes = 0;
      for await (const chunk of source) {
        bytes += chunk.length;
        if (bytes > MAX_BYTES) throw tooLarge(`An upload may have at most ${MAX_BYTES / 1024 / 1024} MiB.`);
        if (performance.now() > endsAt) throw new ApiError('request_timeout', { detail: UPLOAD_TOO_LONG, ...CLOSING });
        sha256.update(chunk);
        yield chunk;
      }
    },
  };
}

/** The rest of the upload is not read. */
const CLOSING = { headers: { connection: 'close' } };

export const tooLarge = (detail: string): ApiError => new ApiError('payload_too_large', { detail, ...CLOSING });
