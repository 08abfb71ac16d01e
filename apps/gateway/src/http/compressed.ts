import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { boundedLru } from './bounded-lru.ts';

// Compressed forms of public texts, each made once and kept while there is space. Never use it for text that contains a
// secret, because the compressed length would reveal something about it.

export type Coding = 'br' | 'gzip';

/** Below this size the extra headers outweigh the saving. */
const MIN_BYTES = 1_024;
/** Enough for the public documents and pages, and for results that are read often. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;
/** Compresses nearly as well as the best quality, in a tenth of the time. */
const BROTLI_QUALITY = 5;

const kept = boundedLru<Promise<Buffer>>(MAX_KEPT_BYTES);

/** The best coding that the caller accepts; null to send the text uncompressed. */
export function codingFor(acceptEncoding: string | undefined, bytes: number): Coding | null {
  if (acceptEncoding === undefined || bytes < MIN_BYTES) return null;
  const accepted = new Map(acceptEncoding.toLowerCase().split(',').map(weighed));
  const weight = (coding: Coding): number => accepted.get(coding) ?? accepted.get('*') ?? 0;
  const best = weight('br') >= weight('gzip') ? 'br' : 'gzip';
  return weight(best) > 0 ? best : null;
}

function weighed(part: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  const weight = q === undefined ? 1 : Number(q.slice(2));
  return [coding, Number.isNaN(weight) ? 0 : Math.max(0, weight)];
}

/** Equal tags mean equal texts. */
export function compressed(tag: string, text: string, coding: Coding): Promise<Buffer> {
  const key = `${tag} ${coding}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const made = compress(text, coding).then(inItsOwnMemory);
  // Others wait for the same work meanwhile; how much memory it takes is known when it is done.
  kept.set(key, made, 0);
  made.then(
    ({ length }) => kept.set(key, made, length),
    () => kept.delete(key),
  );
  return made;
}

/** Copies the data: zlib returns a view of a block of many kB, which stays in memory as long as the view does. */
function inItsOwnMemory(view: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(view.length);
  view.copy(own);
  return own;
}

const withBrotli = promisify(brotliCompress);
const withGzip = promisify<string, Buffer>(gzip);

const compress = (text: string, coding: Coding): Promise<Buffer> =>
  coding === 'gzip'
    ? withGzip(text)
    : withBrotli(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
