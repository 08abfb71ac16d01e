import { once } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import { LIMITS } from '@eloquentpoll/contracts';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { ApiError, invalid } from '../../http/api-error.ts';
import { tooLarge } from './metered-bytes.ts';

// The form of a page: fields that say how, and then a file, or rows that were pasted into a field.

export interface FormUpload {
  fields: Record<string, string>;
  bytes: AsyncIterable<Buffer>;
  /** The rows where they were pasted; null for a file. */
  pasted: string | null;
}

const ROWS = 'rows';

/** Resolves where the file begins, or at the end of a form without one. Empty fields and files count as not sent. */
export async function readFormUpload({ raw, headers }: FastifyRequest): Promise<FormUpload> {
  const busboy = openForm(headers['content-type'] ?? '');
  const fields: Record<string, string> = {};
  let file: Readable | null = null;
  let misplaced: string | null = null;
  const begun = new Promise<void>((resolve, reject) => {
    busboy.on('field', (name, value, _nameCut, isCut) => {
      if (isCut) reject(tooLarge(`The field ${name} may have at most ${LIMITS.batch.inline_bytes} bytes.`));
      else if (file) misplaced = name;
      else if (value !== '') fields[name] = value;
    });
    busboy.on('file', (_name, stream, filename) => {
      if (filename === undefined || filename === '') return void stream.resume();
      file = stream;
      resolve();
    });
    pipeline(raw, busboy, (error) => {
      if (error) {
        const why = raw.errored || raw.destroyed ? error : unreadable(error);
        file?.destroy(why);
        reject(why);
      } else resolve();
    });
  });
  await begun;
  const { [ROWS]: pasted = '', ...others } = fields;
  return file
    ? { fields: others, bytes: ofFile(file, () => misplaced), pasted: null }
    : { fields: others, bytes: Readable.from([Buffer.from(pasted)]), pasted };
}

function openForm(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { files: 1, fields: 60, fieldSize: LIMITS.batch.inline_bytes, headerPairs: 20 },
    });
  } catch (error) {
    throw unreadable(error);
  }
}

const unreadable = (cause: unknown): ApiError =>
  new ApiError('validation_error', { detail: 'The form is not multipart/form-data with a boundary.', cause });

async function* ofFile(file: Readable, misplacedField: () => string | null): AsyncGenerator<Buffer> {
  const closed = once(file, 'close').catch(() => {});
  yield* file as AsyncIterable<Buffer>;
  await closed;
  const field = misplacedField();
  if (field !== null)
    throw invalid([{ pointer: `#/${field}`, detail: `the field ${field} must come before the file` }]);
}
