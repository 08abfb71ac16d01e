import { createHmac, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

// A key is `ep_k_`, 32 random base62 characters, and their CRC32 in 6: secret scanners recognise it, and typos are
// rejected without a lookup. Only its HMAC is stored; the pepper is a setting, not in the database.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'ep_k_';
const SECRET_LENGTH = 32;
const CHECK_LENGTH = 6;
const FORM = /^ep_k_[0-9A-Za-z]{38}$/;

export function newApiKey(): string {
  const body = PREFIX + randomBase62(SECRET_LENGTH);
  return body + checksum(body);
}

/** Checks form and checksum, without a lookup. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECK_LENGTH)) === text.slice(-CHECK_LENGTH);
}

export function hashApiKey(pepper: string, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/** The part of a key that is still shown after its creation. */
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

/** Rejection sampling: 248 is the largest multiple of 62 in a byte, so every character is equally likely. */
function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}
