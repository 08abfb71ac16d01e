import { pipeline, Readable } from 'node:stream';
import { LIMITS } from '@eloquentpoll/contracts';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ApiError, invalid } from '../../http/api-error.ts';
import { tooLarge } from './metered-bytes.ts';

// The form of a page: option fields first, then a file, or rows that were pasted into a field.

export interface FormUpload {
  fields: Record<string, string>;
  bytes: AsyncIterable<Buffer>;
  /** Rows that were pasted; null for a file. */
  pasted: string | null;
}

interface FormRequest {
  raw: AsyncIterable<Buffer>;
  headers: { 'content-type'?: string | undefined };
}

const ROWS = 'rows';
const { inline_bytes: MAX_ROWS_BYTES, line_bytes: MAX_FIELD_BYTES } = LIMITS.batch;
/** Limit for everything except the file, because fields are held in memory, however many there are. */
const MAX_FIELDS_BYTES = MAX_ROWS_BYTES + MAX_FIELD_BYTES;
/** Fields are held in the pieces in which they arrived. Smaller pieces are joined first, because each costs memory. */
const MIN_PIECE_BYTES = 1_024;

/** Resolves where the file begins, or at the end of a form without a file. Empty fields and files count as not sent. */
export async function readFormUpload({ raw, headers }: FormRequest): Promise<FormUpload> {
  const busboy = openForm(headers['content-type'] ?? '');
  const fields: Record<string, string> = {};
  let file: BusboyFileStream | null = null;
  let misplaced: string | null = null;
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // Handles a rejection even if the file's reader has stopped reading.
  ended.promise.then(begun.resolve, begun.reject);
  const stop = (why: Error): void => {
    ended.reject(why);
    file?.destroy(why);
    busboy.destroy(why);
  };
  busboy.on('field', (name, value, _nameCut, isCut) => {
    const maxBytes = name === ROWS ? MAX_ROWS_BYTES : MAX_FIELD_BYTES;
    if (isCut || Buffer.byteLength(value) > maxBytes)
      stop(tooLarge(`The field ${name} may have at most ${maxBytes} bytes.`));
    else if (file) misplaced = name;
    else if (value !== '') fields[name] = value;
  });
  busboy.on('file', (_name, stream, filename) => {
    if (filename === undefined || filename === '') return void stream.resume();
    file = stream;
    begun.resolve();
  });
  let broken: Error | null = null;
  const pieces = piecesOf(raw, {
    ofFile: () => file?.bytesRead ?? 0,
    onError: (error) => {
      broken = error;
    },
  });
  pipeline(pieces, busboy, (error) => {
    if (error) stop(broken ?? (error instanceof ApiError ? error : unreadable(error)));
    else ended.resolve();
  });
  await begun.promise;
  const { [ROWS]: pasted = '', ...others } = fields;
  return file
    ? { fields: others, bytes: ofFile(file, ended.promise, () => misplaced), pasted: null }
    : { fields: others, bytes: Readable.from([Buffer.from(pasted)]), pasted };
}

interface Watched {
  /** Number of bytes that belong to the file. */
  ofFile: () => number;
  /** Called when the request breaks off or is too large. */
  onError: (error: Error) => void;
}

/** Passes the form's bytes on, while the fields held in memory stay within their limit. */
export async function* piecesOf(raw: AsyncIterable<Buffer>, { ofFile, onError }: Watched): AsyncGenerator<Buffer> {
  let bytes = 0;
  let begun: Buffer[] = [];
  let begunBytes = 0;
  try {
    for await (const chunk of raw) {
      bytes += chunk.length;
      if (bytes - ofFile() > MAX_FIELDS_BYTES)
        throw tooLarge(`The fields of a form may have at most ${MAX_FIELDS_BYTES} bytes; send more rows as a file.`);
      begun.push(chunk);
      begunBytes += chunk.length;
      if (begunBytes < MIN_PIECE_BYTES) continue;
      yield begun.length === 1 ? chunk : Buffer.concat(begun, begunBytes);
      begun = [];
      begunBytes = 0;
    }
    yield Buffer.concat(begun, begunBytes);
  } catch (error) {
    onError(error as Error);
    throw error;
  }
}

function openForm(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { files: 1, fields: 60, fieldSize: MAX_ROWS_BYTES, headerPairs: 20 },
    });
  } catch (error) {
    throw unreadable(error);
  }
}

const unreadable = (cause: unknown): ApiError =>
  new ApiError('validation_error', { detail: 'The form is not multipart/form-data with a boundary.', cause });

async function* ofFile(
  file: Readable,
  formEnded: Promise<void>,
  misplacedField: () => string | null,
): AsyncGenerator<Buffer> {
  try {
    yield* file as AsyncIterable<Buffer>;
  } catch (error) {
    // Throws the reason why the form broke, which says more.
    await formEnded;
    throw error;
  }
  await formEnded;
  const field = misplacedField();
  if (field !== null)
    throw invalid([{ pointer: `#/${field}`, detail: `the field ${field} must come before the file` }]);
}
