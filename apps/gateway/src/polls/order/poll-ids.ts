import { randomBytes } from 'node:crypto';

// Holding a result id is the permission to read the result, so both ids come from a secure generator: 120 bits for a
// session, 80 for a result.

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** The poll's id inside, and its session's on the wire. */
export const newPollId = (): string => `ps_${randomBase32(24)}`;

const POLL_ID = /^ps_[0-9a-hjkmnp-tv-z]{24}$/;

/** Whether it can be a poll's id at all; what cannot is asked of nobody. */
export const isPollId = (text: string): boolean => POLL_ID.test(text);

/** `EP-2026-11-20-` and 16 characters; the day is UTC's. */
export const newResultId = (now: Date): string => `EP-${now.toISOString().slice(0, 10)}-${randomBase32(16)}`;

const RESULT_ID = /^EP-\d{4}-\d\d-\d\d-[0-9a-hjkmnp-tv-z]{16}$/;

/** Whether it can be a result's id at all; what cannot is asked of nobody. */
export const isResultId = (text: string): boolean => RESULT_ID.test(text);

/** A byte's lower five bits are as random as the byte. */
const randomBase32 = (length: number): string => Array.from(randomBytes(length), (byte) => BASE32[byte & 31]).join('');
