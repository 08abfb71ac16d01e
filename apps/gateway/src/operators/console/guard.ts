import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

// Authenticates operators by ADMIN_TOKEN, as a bearer or a Basic password. Browsers send Basic credentials by themselves,
// so actions also need a form token (CSRF). Failures are limited for all clients together.

export type Admission = 'admitted' | 'unauthenticated' | 'rate_limited';

export interface Guard {
  admit(request: IncomingMessage): Admission;
  /** The hidden field of our forms. */
  readonly formToken: string;
  isOurForm(request: IncomingMessage, form: URLSearchParams): boolean;
}

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

export function guard(token: string, now: () => number = () => performance.now()): Guard {
  const formToken = createHmac('sha256', token).update('admin form').digest('base64url');
  let failures: number[] = [];
  return {
    formToken,
    admit({ headers }) {
      failures = failures.filter((at) => now() - at < WINDOW_MS);
      if (failures.length >= MAX_FAILURES) return 'rate_limited';
      const password = passwordOf(headers.authorization);
      if (password === null) return 'unauthenticated';
      if (isEqual(password, token)) return 'admitted';
      failures.push(now());
      return 'unauthenticated';
    },
    isOurForm({ headers }, form) {
      const site = headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin') return false;
      // A browser does not send a bearer by itself, so a bearer needs no form token.
      return /^bearer /i.test(headers.authorization ?? '') || isEqual(form.get('form') ?? '', formToken);
    },
  };
}

/** Constant time: compares hashes, so neither content nor length shows. */
const isEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function passwordOf(header: string | undefined): string | null {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme === '') return null;
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}
