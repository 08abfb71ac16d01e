import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

// What Redis keeps of a key's owner: sealed for that key and with its end, so that what another process wrote there, or
// moved there from another key or an earlier time, is no owner.

export interface KeyOwner {
  accountId: string;
  keyId: string;
  /** An operator froze the account. */
  isFrozen: boolean;
  isReadOnly: boolean;
  /** It has a limit, expires or reads only: it manages no keys. */
  isRestricted: boolean;
}

export interface OwnerSeal {
  seal(name: string, owner: KeyOwner, expiresAtMs: number): string;
  /** Null for a text that was not sealed for this key, or whose time is over. */
  open(name: string, text: string): KeyOwner | null;
}

type KeyState = Omit<KeyOwner, 'accountId' | 'keyId'>;

/** Open or not; full, limited or read-only. */
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
  /** The last text of each key that was found right: most reads find the same again. */
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
