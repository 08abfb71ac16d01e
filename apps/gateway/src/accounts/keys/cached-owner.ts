import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

// The cached owner of a key in Redis, sealed for that key and with its expiry. A text that another process wrote, or
// copied from another key or an earlier time, is not accepted.

export interface KeyOwner {
  accountId: string;
  keyId: string;
  /** An operator froze the account. */
  isFrozen: boolean;
  isReadOnly: boolean;
  /** The key has a limit, expires or is read-only: it cannot manage keys. */
  isRestricted: boolean;
}

export interface OwnerSeal {
  seal(name: string, owner: KeyOwner, expiresAtMs: number): string;
  /** Null for a text that was not sealed for this key, or that has expired. */
  open(name: string, text: string): KeyOwner | null;
}

type KeyState = Omit<KeyOwner, 'accountId' | 'keyId'>;

/** Frozen (x) or open (o), then full (f), limited (l) or read-only (r). */
const lettersOf = ({ isFrozen, isReadOnly, isRestricted }: KeyState): string =>
  `${isFrozen ? 'x' : 'o'}${isReadOnly ? 'r' : isRestricted ? 'l' : 'f'}`;

const stateOf = ([account, key]: string): KeyState => ({
  isFrozen: account === 'x',
  isReadOnly: key === 'r',
  isRestricted: key !== 'f',
});

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const FORM = new RegExp(`^((${UUID}) (${UUID}) (\\d{13}) ([ox][flr])) ([\\w-]{43})$`);
const MAX_VERIFIED = 5_000;

export function ownerSeal(pepper: string, now: () => number = Date.now): OwnerSeal {
  const secret = Buffer.from(hkdfSync('sha256', pepper, '', 'cached key owners', 32));
  const macOf = (name: string, content: string): string =>
    createHmac('sha256', secret).update(`${name} ${content}`).digest('base64url');
  /** The last text per key that verified: most reads find the same text again. */
  const verified = new Map<string, string>();

  function isRight(name: string, text: string, content: string, mac: string): boolean {
    if (verified.get(name) === text) return true;
    if (!timingSafeEqual(Buffer.from(mac), Buffer.from(macOf(name, content)))) return false;
    if (verified.size >= MAX_VERIFIED) verified.clear();
    verified.set(name, text);
    return true;
  }

  return {
    seal(name, { accountId, keyId, ...state }, expiresAtMs) {
      const content = `${accountId} ${keyId} ${expiresAtMs} ${lettersOf(state)}`;
      return `${content} ${macOf(name, content)}`;
    },
    open(name, text) {
      const [, content = '', accountId = '', keyId = '', expiresAtMs, letters = '', mac = ''] = FORM.exec(text) ?? [];
      if (content === '' || Number(expiresAtMs) <= now() || !isRight(name, text, content, mac)) return null;
      return { accountId, keyId, ...stateOf(letters) };
    },
  };
}
