import { randomBytes } from 'node:crypto';

// Holding a result id is the permission to read the result, so both ids come from a secure generator: 120 bits for a
// poll, 80 for a result.

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** `ps_` and 24 characters: the poll's id inside, and `session_id` on the wire. */
export const newPollId = (): string => `ps_${randomBase32(24)}`;

const POLL_ID = /^ps_[0-9a-hjkmnp-tv-z]{24}$/;

/** Whether the text has the form of a poll id; other texts are not looked up. */
export const isPollId = (text: string): boolean => POLL_ID.test(text);

/** `EP-2026-11-20-` and 16 characters; the day is UTC. `poll_id` on the wire. */
export const newResultId = (now = new Date()): string => `EP-${now.toISOString().slice(0, 10)}-${randomBase32(16)}`;

const RESULT_ID = /^EP-\d{4}-\d\d-\d\d-[0-9a-hjkmnp-tv-z]{16}$/;

/** Whether the text has the form of a result id; other texts are not looked up. */
export const isResultId = (text: string): boolean => RESULT_ID.test(text);

/** `pb_` and 32 hexadecimal digits. */
export const newBatchId = (): string => `pb_${randomBytes(16).toString('hex')}`;

const BATCH_ID = /^pb_[0-9a-f]{32}$/;

/** Whether the text has the form of a batch's id; other texts are not looked up. */
export const isBatchId = (text: string): boolean => BATCH_ID.test(text);

/** A byte's lower five bits are as random as the byte. */
const randomBase32 = (length: number): string => Array.from(randomBytes(length), (byte) => BASE32[byte & 31]).join('');
