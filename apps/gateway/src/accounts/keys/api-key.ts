import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { FIRST_CELL, routeOf } from '@eloquentpoll/polls';

// A key is `ep_k_`, 32 base62 characters and a CRC32 in 6: secret scanners recognise it, and typos are rejected without
// a lookup. Of the 32 characters 23 are random (136 bits) and 9 are the account's route. Only its HMAC is stored.

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'ep_k_';
/** Random characters before the route, which remain visible later, and after it. */
const SHOWN_LENGTH = 5;
const HIDDEN_LENGTH = 18;
const CHECK_LENGTH = 6;
const FORM = /^ep_k_[0-9A-Za-z]{38}$/;

/** Returns this many bytes, different ones at each call. */
type Draw = (length: number) => Buffer;

interface Home {
  cell?: string | undefined;
  accountId: string;
  /** The source of its characters; random by default. */
  draw?: Draw | undefined;
}

/** Without an account, a key of no account. */
export function newApiKey(
  { cell = FIRST_CELL, accountId, draw = randomBytes }: Home = { accountId: randomUUID() },
): string {
  const body = PREFIX + base62Of(draw, SHOWN_LENGTH) + routeOf(cell, accountId) + base62Of(draw, HIDDEN_LENGTH);
  return body + checksum(body);
}

/** Yields the same bytes for the same form. They cannot be computed without the form's random id and the pepper. */
export function drawOfForm(pepper: string, { accountId, formId }: { accountId: string; formId: string }): Draw {
  let count = 0;
  return (length) => {
    const block = createHmac('sha256', pepper).update(`key of form ${count++} ${accountId} ${formId}`).digest();
    return block.subarray(0, length);
  };
}

/** Checks format and checksum, without a lookup. */
export function looksLikeApiKey(text: string): boolean {
  return FORM.test(text) && checksum(text.slice(0, -CHECK_LENGTH)) === text.slice(-CHECK_LENGTH);
}

export function hashApiKey(pepper: string, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/** The part of a key that is still shown after its creation. */
export const apiKeyPrefix = (key: string): string => key.slice(0, PREFIX.length + SHOWN_LENGTH);

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
function base62Of(draw: Draw, length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of draw(length)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}
