import { hash } from 'node:crypto';
import { isJsonObject } from '@eloquentpoll/contracts';

/** SHA-256 of a value in canonical form, in which the order of members does not matter. */
export function fingerprintOf(value: unknown): string {
  return hash('sha256', canonical(value), 'hex');
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isJsonObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}
