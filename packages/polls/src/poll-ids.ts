import { FIRST_CELL } from './cells.ts';
import { drawnBytes } from './drawn-bytes.ts';

// Anyone who knows a result id may read the result, so both kinds of ids come from a secure generator: 105 bits for a
// poll, 75 for a result. Both contain the time and the cell in which they were made, to find their month and cell.

const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * `ps_`, two characters for the UTC month, the cell, and 21 random characters. The poll's internal id, and `session_id`
 * on the wire.
 */
export const newPollId = (cell = FIRST_CELL, now = new Date()): string =>
  `${pollIdsOfMonth(now)}${cell}${randomBase32(21)}`;

const FIRST_YEAR = 2020;

const MAX_MONTH = BASE32.length ** 2 - 1;

/**
 * The common prefix of the ids of all polls of a month. Prefixes sort like the months for 85 years; earlier and later
 * months get the first and the last prefix.
 */
export function pollIdsOfMonth(month: Date): string {
  const months = (month.getUTCFullYear() - FIRST_YEAR) * 12 + month.getUTCMonth();
  const known = Math.min(Math.max(months, 0), MAX_MONTH);
  return `ps_${BASE32[known >> 5]}${BASE32[known & 31]}`;
}

/** Lower bound of the ids of polls that were accepted at or after this time, by the clock of any gateway. */
export const pollIdsSince = (at: Date): string => pollIdsOfMonth(new Date(at.getTime() - DAY_MS));

/** Upper bound (exclusive) of the ids of polls that were accepted at or before this time. */
export function pollIdsUntil(at: Date): string {
  const next = new Date(at.getTime() + DAY_MS);
  return pollIdsOfMonth(new Date(Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1)));
}

const DAY_MS = 86_400_000;

const POLL_ID = /^ps_[0-9a-hjkmnp-tv-z]{24}$/;

/** Whether the text has the form of a poll id. Other texts need not be looked up. */
export const isPollId = (text: string): boolean => POLL_ID.test(text);

/** `EP-2026-11-20-`, the cell, and 15 random characters. The day is UTC. `poll_id` on the wire. */
export const newResultId = (cell = FIRST_CELL, now = new Date()): string =>
  `EP-${now.toISOString().slice(0, 10)}-${cell}${randomBase32(15)}`;

const RESULT_ID = /^EP-\d{4}-\d\d-\d\d-[0-9a-hjkmnp-tv-z]{16}$/;

/** Whether the text has the form of a result id. Other texts need not be looked up. */
export const isResultId = (text: string): boolean => RESULT_ID.test(text);

/** The range that contains the id of the result's poll, because both ids were made at the same time. */
export function pollIdsOfResult(resultId: string): { since: string; until: string } {
  const day = new Date(resultId.slice('EP-'.length, 'EP-2026-11-20'.length));
  return isResultId(resultId) && !Number.isNaN(day.getTime())
    ? { since: pollIdsSince(day), until: pollIdsUntil(day) }
    : { since: '', until: '~' };
}

/** `pb_` and 32 hexadecimal digits. */
export const newBatchId = (): string => `pb_${drawnBytes(16).toString('hex')}`;

const BATCH_ID = /^pb_[0-9a-f]{32}$/;

/** Whether the text has the form of a batch id. Other texts need not be looked up. */
export const isBatchId = (text: string): boolean => BATCH_ID.test(text);

/** The lower five bits of a random byte are random too. */
function randomBase32(length: number): string {
  let text = '';
  for (const byte of drawnBytes(length)) text += BASE32[byte & 31]!;
  return text;
}
