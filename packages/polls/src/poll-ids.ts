import { FIRST_CELL } from './cells.ts';
import { drawnBytes } from './drawn-bytes.ts';

// Holding a result id is the permission to read the result, so both ids come from a secure generator: 105 bits for a
// poll, 75 for a result. Both say when and in which cell they were made: they are kept by month and routed by cell.

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/** `ps_`, two characters for the UTC month, the cell and 21: the poll's id inside, and `session_id` on the wire. */
export const newPollId = (cell = FIRST_CELL, now = new Date()): string =>
  `${pollIdsOfMonth(now)}${cell}${randomBase32(21)}`;

const FIRST_YEAR = 2020;

const MAX_MONTH = BASE32.length ** 2 - 1;

/**
 * What the ids of all polls of a month begin with. The order of these texts is that of the months, for 85 years; those
 * before and after have the text of the first and of the last.
 */
export function pollIdsOfMonth(month: Date): string {
  const months = (month.getUTCFullYear() - FIRST_YEAR) * 12 + month.getUTCMonth();
  const known = Math.min(Math.max(months, 0), MAX_MONTH);
  return `ps_${BASE32[known >> 5]}${BASE32[known & 31]}`;
}

/** Not before these are ids of polls that were accepted at that time or later, by any of our clocks. */
export const pollIdsSince = (at: Date): string => pollIdsOfMonth(new Date(at.getTime() - DAY_MS));

/** Before these are ids of polls that were accepted at that time or earlier. */
export function pollIdsUntil(at: Date): string {
  const next = new Date(at.getTime() + DAY_MS);
  return pollIdsOfMonth(new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1)));
}

const DAY_MS = 86_400_000;

const POLL_ID = /^ps_[0-9a-hjkmnp-tv-z]{24}$/;

/** Whether the text has the form of a poll id; other texts are not looked up. */
export const isPollId = (text: string): boolean => POLL_ID.test(text);

/** `EP-2026-11-20-`, the cell and 15 characters; the day is UTC. `poll_id` on the wire. */
export const newResultId = (cell = FIRST_CELL, now = new Date()): string =>
  `EP-${now.toISOString().slice(0, 10)}-${cell}${randomBase32(15)}`;

const RESULT_ID = /^EP-\d{4}-\d\d-\d\d-[0-9a-hjkmnp-tv-z]{16}$/;

/** Whether the text has the form of a result id; other texts are not looked up. */
export const isResultId = (text: string): boolean => RESULT_ID.test(text);

/** Between which ids that of the poll is: both were made at one time. */
export function pollIdsOfResult(resultId: string): { since: string; until: string } {
  const day = new Date(resultId.slice('EP-'.length, 'EP-2026-11-20'.length));
  return isResultId(resultId) && !Number.isNaN(day.getTime())
    ? { since: pollIdsSince(day), until: pollIdsUntil(day) }
    : { since: '', until: '~' };
}

/** `pb_` and 32 hexadecimal digits. */
export const newBatchId = (): string => `pb_${drawnBytes(16).toString('hex')}`;

const BATCH_ID = /^pb_[0-9a-f]{32}$/;

/** Whether the text has the form of a batch's id; other texts are not looked up. */
export const isBatchId = (text: string): boolean => BATCH_ID.test(text);

/** A byte's lower five bits are as random as the byte. */
function randomBase32(length: number): string {
  let text = '';
  for (const byte of drawnBytes(length)) text += BASE32[byte & 31]!;
  return text;
}
