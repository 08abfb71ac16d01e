import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

// A key is `ep_k_`, 32 random base62 characters and 6 that are the CRC32 of all before: whoever finds one, or a typo of
// one, knows it without asking us. Only its HMAC is stored; the pepper lives outside the database.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'ep_k_';
const SECRET_LENGTH = 32;
const CHECK_LENGTH = 6;
const FORM = /^ep_k_[0-9A-Za-z]{38}$/;

export function newApiKey(): string {
  const body = PREFIX + randomBase62(SECRET_LENGTH);
  return body + checksum(body);
}

/** Whether it can be a key of ours at all; false costs no look-up. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECK_LENGTH)) === text.slice(-CHECK_LENGTH);
}

export function hashApiKey(pepper: string, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/** What may be shown of a key after its creation. */
export const apiKeyPrefix = (key: string): string => key.slice(0, 10);

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECK_LENGTH; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** Bytes from 248 on are thrown away, so that every character is equally likely. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}
