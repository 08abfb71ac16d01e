import { createHash } from 'node:crypto';
import { type BatchTerms, LIMITS } from '@eloquentpoll/contracts';
import type { FastifyRequest } from 'fastify';
import { invalid } from '../../http/api-error.ts';
import { fingerprintOf } from '../../http/fingerprint.ts';
import type { PollsContext } from '../../polls/context.ts';
import { csvRows } from './csv-rows.ts';
import { readFormUpload } from './form-upload.ts';
import { readInlineBody } from './inline-body.ts';
import { jsonlRows } from './jsonl-rows.ts';
import { meteredBytes } from './metered-bytes.ts';
import type { RawRow } from './raw-row.ts';
import type { BatchUpload } from './take-batch.ts';
import { termsOfBody, termsOfTexts } from './terms.ts';

// The forms in which a batch can be sent. Fields of the whole batch are members of a JSON body, fields of a form, or
// query parameters beside a file.

interface Upload extends Pick<BatchUpload, 'terms' | 'rows' | 'maxRows' | 'fingerprint'> {
  /** Rows that were pasted into a form; null if they came in another way. */
  pasted: string | null;
}

export const UPLOAD_TYPES = ['application/jsonl', 'application/x-ndjson', 'text/csv'] as const;
export const FORM_TYPE = 'multipart/form-data';

export async function readUpload(context: Pick<PollsContext, 'webhooks'>, request: FastifyRequest): Promise<Upload> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase();
  const query = request.query as Record<string, unknown>;
  if (type === FORM_TYPE) {
    const { fields, bytes, pasted } = await readFormUpload(request);
    return { ...fileUpload(termsOfTexts(context, { ...query, ...fields }), bytes, rowsOfUnnamed), pasted };
  }
  if (UPLOAD_TYPES.some((each) => each === type))
    return fileUpload(termsOfTexts(context, query), request.raw, type === 'text/csv' ? csvRows : jsonlRows);
  return inlineUpload(context, request.body as Buffer | undefined, query);
}

function fileUpload(
  terms: BatchTerms,
  bytes: AsyncIterable<Buffer>,
  rowsOf: (bytes: AsyncIterable<Buffer>) => AsyncIterable<RawRow>,
): Upload {
  const metered = meteredBytes(bytes);
  return {
    terms,
    rows: rowsOf(metered),
    maxRows: LIMITS.batch.rows,
    fingerprint: () => fingerprintOf({ terms, file: metered.hash() }),
    pasted: null,
  };
}

async function inlineUpload(
  context: Pick<PollsContext, 'webhooks'>,
  bytes: Buffer = Buffer.alloc(0),
  query: Record<string, unknown>,
): Promise<Upload> {
  const [inQuery] = Object.keys(query);
  if (inQuery !== undefined)
    throw invalid([
      { pointer: `#/${inQuery}`, detail: `${inQuery} of a JSON body is a member of it, not of the query` },
    ]);
  const { members, rows } = await readInlineBody(bytes);
  const terms = termsOfBody(context, members);
  if (rows === null) throw invalid([{ pointer: '#/requests', detail: 'requests must be an array of polls' }]);
  return {
    terms,
    rows,
    maxRows: LIMITS.batch.inline_rows,
    fingerprint: () => createHash('sha256').update(bytes).digest('hex'),
    pasted: null,
  };
}

const OPEN_BRACE = 0x7b;
const BEFORE_ROWS: ReadonlySet<number> = new Set([0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0d, 0x0a]);

/** Detects the format: JSON lines begin with a brace, a CSV header never does. */
async function* rowsOfUnnamed(bytes: AsyncIterable<Buffer>): AsyncGenerator<RawRow> {
  const chunks = bytes[Symbol.asyncIterator]();
  const read: Buffer[] = [];
  let first: number | undefined;
  while (first === undefined) {
    const next = await chunks.next();
    if (next.done === true) break;
    read.push(next.value);
    first = next.value.find((byte) => !BEFORE_ROWS.has(byte));
  }
  async function* again(): AsyncGenerator<Buffer> {
    yield* read;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  yield* first === OPEN_BRACE ? jsonlRows(again()) : csvRows(again());
}
