import { fromBase64url, toBase64url } from './base64url.ts';
import type { Proof } from './receipt.ts';

// SHA-256 as used by receipts. Hashed data starts with 0 for a leaf and 1 for a node of a day's tree (RFC 6962).

type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text);

const sha256 = async (...parts: readonly Uint8Array[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', joined(parts)));

export const textHash = async (text: string): Promise<string> => toBase64url(await sha256(utf8(text)));

/** The hash of a question, independent of how its characters are composed. */
export const questionHash = (question: string): Promise<string> => textHash(question.normalize('NFC'));

export const leafOf = (payload: Uint8Array): Promise<Bytes> => sha256(Uint8Array.of(0), payload);

/** The root computed from this leaf and path (RFC 9162, 2.1.3.2). Null if they do not fit a tree of this size. */
export async function rootFrom(leaf: Uint8Array, { index, receipts, path }: Proof): Promise<string | null> {
  if (index >= receipts) return null;
  let at = index;
  let last = receipts - 1;
  let node: Uint8Array = leaf;
  for (const text of path) {
    const sibling = fromBase64url(text);
    if (sibling === null || sibling.length !== 32 || last === 0) return null;
    if (at % 2 === 1 || at === last) {
      node = await sha256(Uint8Array.of(1), sibling, node);
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2);
        last = Math.floor(last / 2);
      }
    } else {
      node = await sha256(Uint8Array.of(1), node, sibling);
    }
    at = Math.floor(at / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 ? toBase64url(node) : null;
}

/**
 * The seal of a day: the hash of the previous seal, the day, the number of its receipts and their root. Null if one of
 * the texts is malformed.
 */
export async function sealOf({
  previous_seal,
  day,
  receipts,
  root,
}: Pick<Proof, 'previous_seal' | 'day' | 'receipts' | 'root'>): Promise<string | null> {
  const previous = fromBase64url(previous_seal ?? '');
  const rootBytes = fromBase64url(root);
  if (previous === null || rootBytes === null) return null;
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(receipts));
  return toBase64url(await sha256(previous, utf8(day), size, rootBytes));
}

function joined(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
