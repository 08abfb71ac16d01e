import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { clientNetwork } from '../../http/rate-limits/client-network.ts';

// Authenticates operators by ADMIN_TOKEN, as a bearer or a Basic password. Browsers send Basic credentials unasked, so
// actions also need a form token (CSRF). Wrong tokens are limited per network; the right one is never refused.

export type OperatorAdmission = 'admitted' | 'unauthenticated' | 'rate_limited';

export interface Guard {
  admit(request: IncomingMessage): OperatorAdmission;
  /** Value of the hidden field in our forms. */
  readonly formToken: string;
  /** The operator's name for the log: the user name beside the password, or the header X-Operator. */
  nameOf(request: IncomingMessage): string;
  isOurForm(request: IncomingMessage, form: URLSearchParams): boolean;
}

const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;
/** Maximum number of networks with counted failures; beyond it the oldest is dropped. */
const MAX_NETWORKS = 1_000;

export function guard(token: string, now: () => number = () => performance.now()): Guard {
  const formToken = createHmac('sha256', token).update('admin form').digest('base64url');
  const failures = new Map<string, number[]>();

  function countFailure(network: string): OperatorAdmission {
    const recent = (failures.get(network) ?? []).filter((at) => now() - at < WINDOW_MS);
    if (recent.length >= MAX_FAILURES) return 'rate_limited';
    const [oldest] = failures.size >= MAX_NETWORKS ? failures.keys() : [];
    if (oldest !== undefined) failures.delete(oldest);
    failures.set(network, [...recent, now()]);
    return 'unauthenticated';
  }

  return {
    formToken,
    nameOf: ({ headers }) => headers['x-operator']?.toString() ?? credentialsOf(headers.authorization)?.name ?? '',
    admit({ headers, socket }) {
      const { password } = credentialsOf(headers.authorization) ?? {};
      if (password === undefined) return 'unauthenticated';
      return isEqual(password, token) ? 'admitted' : countFailure(clientNetwork(socket.remoteAddress ?? ''));
    },
    isOurForm({ headers }, form) {
      const site = headers['sec-fetch-site'];
      if (site !== undefined && site !== 'same-origin') return false;
      // Browsers never send a bearer automatically, so a bearer needs no form token.
      return /^bearer /i.test(headers.authorization ?? '') || isEqual(form.get('form') ?? '', formToken);
    },
  };
}

/** In constant time: it compares hashes, so that neither content nor length leaks. */
const isEqual = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function credentialsOf(header: string | undefined): { name: string; password: string } | null {
  const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+)$/i.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'bearer') return { name: '', password: value };
  if (scheme === '') return null;
  const pair = Buffer.from(value, 'base64').toString();
  const colon = pair.indexOf(':');
  return { name: pair.slice(0, Math.max(colon, 0)), password: pair.slice(colon + 1) };
}
