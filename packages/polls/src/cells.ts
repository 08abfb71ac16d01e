import { createHash } from 'node:crypto';

// A cell is a complete installation for a share of the accounts. Ids contain the cell in which they were made, so that
// a router in front of several cells finds it without a lookup.

/** One character of the alphabet of ids. */
export const CELL = /^[0-9a-hjkmnp-tv-z]$/;
export const FIRST_CELL = '0';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TAG_LENGTH = 8;

/**
 * The part of an account's keys and cookies that a router reads: the cell, and a tag of the account, which leads to
 * another cell once the account has moved. The tag is 47 bits of a hash, so that it does not reveal the account's id.
 */
export function routeOf(cell: string, accountId: string): string {
  if (!CELL.test(cell)) throw new RangeError(`${JSON.stringify(cell)} is not the name of a cell`);
  return cell + accountTag(accountId);
}

export function accountTag(accountId: string): string {
  let rest = createHash('sha256').update(accountId).digest().readBigUInt64BE();
  let tag = '';
  for (let i = 0; i < TAG_LENGTH; i++) {
    tag += BASE62[Number(rest % 62n)];
    rest /= 62n;
  }
  return tag;
}
