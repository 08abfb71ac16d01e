import { randomUUID } from 'node:crypto';
import { createAccount, creditAccount, insertKey } from '@eloquentpoll/storage';
import { testDatabase, testRedis } from '@eloquentpoll/testkit';
import type { Test } from 'tap';
import { apiKeyPrefix, hashApiKey, newApiKey } from '../src/accounts/api-key.ts';
import { beginSession, COOKIE } from '../src/accounts/session-cookie.ts';
import { type App, buildApp } from '../src/app.ts';
import type { Config } from '../src/config.ts';
import { type Context, openContext } from '../src/context.ts';
import { readPolicies } from '../src/limits/policies.ts';
import { createLog } from '../src/log.ts';
import { checkAnswers } from './check-answers.ts';

export const PEPPER = 'a pepper of at least 32 characters';

export interface Gateway {
  app: App;
  context: Context;
  /** Every line that was logged. */
  log: string[];
  /** A key of an account with this many US dollars. */
  keyWith(usd: number): Promise<{ accountId: string; key: string; bearer: { authorization: string } }>;
  /** Headers of a logged-in page of ours. */
  sessionFor(accountId: string): Promise<{ cookie: string; origin: string }>;
}

/** A gateway with a database and a corner of Redis of its own; each answer that it gives is checked. */
export async function build(t: Test, config: Partial<Config> = {}, given: Partial<Context> = {}): Promise<Gateway> {
  const settings = await settingsFor(t, config);
  const log: string[] = [];
  const logger = createLog(settings, { write: (line) => void log.push(line) });
  const context = await openContext(settings, { log: logger, ...given });
  t.teardown(() => context[Symbol.asyncDispose]());
  const app = buildApp(context);
  t.teardown(() => app.close());
  checkAnswers(t, app);
  await app.ready();
  return {
    app,
    context,
    log,
    keyWith: (usd) => keyWith(context, usd),
    sessionFor: (accountId) => sessionFor(context, accountId),
  };
}

async function settingsFor(t: Test, config: Partial<Config>): Promise<Config> {
  // Dropped before what uses them would be wrong: tap tears down in reverse order of these calls.
  const databaseUrl = await testDatabase(t);
  return {
    listen: { host: '127.0.0.1', port: 0 },
    baseUrl: 'https://polls.example',
    database: { url: databaseUrl, maxConnections: 5 },
    redis: testRedis(t),
    keyPepper: PEPPER,
    cookieSecrets: [PEPPER],
    identityProvider: null,
    wallets: { chainId: 8_453 },
    checkout: null,
    deposits: null,
    reconcile: { checkoutsS: 900, depositsS: 60 },
    models: { file: 'simulator' },
    contentSignal: 'search=yes, ai-input=yes, ai-train=no',
    contactEmail: 'support@polls.example',
    mcpUserIdBearer: false,
    trustedProxies: [],
    rateLimits: readPolicies(undefined),
    freeDailyCapU: 5_000_000n,
    logLevel: 'trace',
    logSample: 1,
    ops: null,
    adminToken: null,
    traces: null,
    drain: { delayMs: 0, withinMs: 20_000 },
    gitCommit: null,
    ...config,
  };
}

async function sessionFor(context: Context, accountId: string) {
  const cookie = `${COOKIE}=${await beginSession(context, { accountId })}`;
  return { cookie, origin: context.config.baseUrl };
}

async function keyWith({ storage }: Context, usd: number) {
  const accountId = await createAccount(storage);
  const amountU = BigInt(usd * 1_000_000);
  if (amountU > 0n) await creditAccount(storage, { accountId, amountU, source: 'operator', idem: randomUUID() });
  const key = newApiKey();
  await insertKey(storage, { accountId, hash: hashApiKey(PEPPER, key), prefix: apiKeyPrefix(key) });
  return { accountId, key, bearer: { authorization: `Bearer ${key}` } };
}
