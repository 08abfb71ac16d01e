import { pipeline, Readable } from 'node:stream';
import { LIMITS } from '@eloquentpoll/contracts';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ApiError, invalid } from '../../http/api-error.ts';
import { tooLarge } from './metered-bytes.ts';

// The form of a page: fields that say how, and then a file, or rows that were pasted into a field.

export interface FormUpload {
  fields: Record<string, string>;
  bytes: AsyncIterable<Buffer>;
  /** The rows where they were pasted; null for a file. */
  pasted: string | null;
}

interface FormRequest {
  raw: AsyncIterable<Buffer>;
  headers: { 'content-type'?: string | undefined };
}

const ROWS = 'rows';
const { inline_bytes: MAX_ROWS_BYTES, line_bytes: MAX_FIELD_BYTES } = LIMITS.batch;
/** Of all but the file: fields are held, whatever their number. */
const MAX_FIELDS_BYTES = MAX_ROWS_BYTES + MAX_FIELD_BYTES;
/** A field is held in the pieces in which it came, and each takes memory of its own: smaller ones are joined first. */
const MIN_PIECE_BYTES = 1_024;

/** Resolves where the file begins, or at the end of a form without one. Empty fields and files count as not sent. */
export async function readFormUpload({ raw, headers }: FormRequest): Promise<FormUpload> {
  const busboy = openForm(headers['content-type'] ?? '');
  const fields: Record<string, string> = {};
  let file: BusboyFileStream | null = null;
  let misplaced: string | null = null;
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  // The reader of the file may have left it.
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
  /** How many of the bytes were of the file. */
  ofFile: () => number;
  /** The bytes have come to an end before theirs, or are too many. */
  onError: (error: Error) => void;
}

/** A form as it comes, while what is held of it stays within bounds. */
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
    // Why the form broke says more.
    await formEnded;
    throw error;
  }
  await formEnded;
  const field = misplacedField();
  if (field !== null)
    throw invalid([{ pointer: `#/${field}`, detail: `the field ${field} must come before the file` }]);
}
