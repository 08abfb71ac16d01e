import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

// Who may look and act: whoever knows ADMIN_TOKEN, as a bearer or as the password that a browser asks for. A browser
// sends that password by itself, so an action must also come from a form of ours. Guessing is slowed down for all.

export type Verdict = 'in' | 'unknown' | 'wait';

export interface Guard {
  admit(request: IncomingMessage): Verdict;
  /** What a form of ours carries. */
  readonly formToken: string;
  isOurForm(request: IncomingMessage, form: URLSearchParams): boolean;
}

const MOST_FAILURES = 10;
const WINDOW_MS = 60_000;

export function guard(token: string, now: () => number = () => performance.now()): Guard {
  const formToken = createHmac('sha256', token).update('admin form').digest('base64url');
  let failures: number[] = [];
  return {
    formToken,
    admit({ headers }) {
      failures = failures.filter((at) => now() - at < WINDOW_MS);
      if (failures.length >= MOST_FAILURES) return 'wait';
      const given = passwordOf(headers.authorization);
      if (given === null) return 'unknown';
      if (same(given, token)) return 'in';
      failures.push(now());
      return 'unknown';
    },
    isOurForm({ headers }, form) {
      const site = headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin') return false;
      // A bearer is put into a request by hand, so nothing has to prove that.
      return /^bearer /i.test(headers.authorization ?? '') || same(form.get('form') ?? '', formToken);
    },
  };
}

/** Compared by their hashes, so that neither content nor length shows in the time it takes. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function passwordOf(header: string | undefined): string | null {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return value;
  if (scheme === '') return null;
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}
