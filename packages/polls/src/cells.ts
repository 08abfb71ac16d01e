import { createHash } from 'node:crypto';

// A cell is a whole installation for a share of the accounts. Ids say the cell that they were made in, so that a router
// in front of several finds it without a look-up.

/** One character of those that ids are made of. */
export const CELL = /^[0-9a-hjkmnp-tv-z]$/;
export const FIRST_CELL = '0';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const TAG_LENGTH = 8;

/**
 * What a router reads in keys and cookies of an account: the cell and a tag of the account, which leads to another cell
 * once it was moved there. 47 bits of a hash, so that the tag does not give the account's id away.
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
