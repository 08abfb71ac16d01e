import { QUESTION_MARK } from './good-values.ts';

// Finds secrets: some may appear nowhere, others only in the answers of certain operations.

export interface SecretWatch {
  /** The secret in a log line, or null. */
  inLog(line: string): string | null;
  /** The secret in an answer, or null. */
  inAnswer(text: string, operationId: string): string | null;
}

const API_KEY = /ep_k_[0-9A-Za-z]{20,}/;
const SEALED = /eyJ[\w-]{10,}\.[\w-]*\.[\w-]+/;
const SIGNATURE = /0x[0-9a-f]{130}/i;
const WEBHOOK_SECRET = /whsec_[0-9A-Za-z+/]{28,}/;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Operations that return a new key. */
const GIVES_KEY = new Set([
  'createKey',
  'sendNewKey',
  'sendKeyRotation',
  'redeemGrant',
  'verifyWallet',
  'rotateKeysByWallet',
  'deposit',
]);
/** Operations that return the signing secret of a webhook endpoint. */
const GIVES_SECRET = new Set([
  'createWebhookEndpoint',
  'getWebhookSecret',
  'rotateWebhookSecret',
  'getDashboardWebhook',
]);
/** Operations that set a sealed cookie. */
const SETS_COOKIE = new Set(['verifyWallet', 'login', 'loginCallback', 'logout']);
/** Operations that return the caller's account id. */
const SHOWS_ACCOUNT = new Set(['getCurrentUser', 'getDashboard', 'verifyWallet', 'deposit', 'exportAccount']);

export function secretWatch(settings: Readonly<Record<string, string>>, accountIds: ReadonlySet<string>): SecretWatch {
  const setting = (text: string) => Object.entries(settings).find(([, value]) => text.includes(value))?.[0] ?? null;
  const account = (text: string) => (text.match(UUID) ?? []).some((id) => accountIds.has(id));
  return {
    inLog(line) {
      if (line.includes(QUESTION_MARK)) return 'a question';
      if (API_KEY.test(line)) return 'an API key';
      if (SEALED.test(line)) return 'a cookie or token';
      if (WEBHOOK_SECRET.test(line)) return 'a webhook secret';
      if (SIGNATURE.test(line)) return 'a signature';
      if (account(line)) return 'the id of an account';
      return setting(line);
    },
    inAnswer(text, operationId) {
      if (!GIVES_KEY.has(operationId) && API_KEY.test(text)) return 'an API key';
      if (!SETS_COOKIE.has(operationId) && SEALED.test(text)) return 'a cookie or token';
      if (!GIVES_SECRET.has(operationId) && WEBHOOK_SECRET.test(text)) return 'a webhook secret';
      if (!SHOWS_ACCOUNT.has(operationId) && account(text)) return 'the id of an account';
      return setting(text);
    },
  };
}
