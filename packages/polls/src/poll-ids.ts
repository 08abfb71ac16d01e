import { randomBytes } from 'node:crypto';

// Holding a result id is the permission to read the result, so both ids come from a secure generator: 110 bits for a
// poll, 80 for a result. Both say when they were made, so that what is found by them can be kept by month.

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** `ps_`, two characters for the UTC month and 22: the poll's id inside, and `session_id` on the wire. */
export const newPollId = (now = new Date()): string => `${pollIdsOfMonth(now)}${randomBase32(22)}`;

const FIRST_YEAR = 2020;

/** What the ids of all polls of a month begin with. The order of these texts is that of the months, for 85 years. */
export function pollIdsOfMonth(month: Date): string {
  const months = (month.getUTCFullYear() - FIRST_YEAR) * 12 + month.getUTCMonth();
  return `ps_${BASE32[(months >> 5) & 31]}${BASE32[months & 31]}`;
}

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
