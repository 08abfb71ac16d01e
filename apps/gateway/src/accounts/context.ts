import type { Config } from '../config/config.ts';
import type { HttpContext } from '../http/context.ts';
import { type FailedAuthentication, failedAuthentication } from './failed-authentication.ts';
import { type KeyHasher, keyHasher } from './keys/hashed-key.ts';
import { type KeyCache, keyCache } from './keys/key-cache.ts';
import { type KeyUsage, keyUsage } from './keys/key-usage.ts';
import { type IdentityProvider, identityProvider } from './login/identity-provider.ts';
import { ATTEMPT_COOKIE } from './login/login-attempt.ts';
import { type Sealer, sealer } from './login/login-cookie.ts';
import { openWebhooks, type Webhooks } from './webhooks/webhooks.ts';

/** Everything that is needed to recognise callers: keys, logins and the identity provider. */
export interface AccountsContext extends HttpContext {
  readonly keys: KeyCache;
  readonly hashedKey: KeyHasher;
  readonly usage: KeyUsage;
  /** Counts failed authentications per network. */
  readonly failures: FailedAuthentication;
  /** Seals login cookies. */
  readonly sealer: Sealer;
  /** Seals the cookies of logins in progress. */
  readonly attemptSealer: Sealer;
  readonly identityProvider: IdentityProvider | null;
  /** Null when the operator has not set up webhooks. */
  readonly webhooks: Webhooks | null;
  /** Each ends open payments of an account that is about to be deleted, or throws a 409. */
  readonly endsOfPayments: ((accountId: string) => Promise<void>)[];
}

export function openAccountsContext(
  base: HttpContext,
  owned: AsyncDisposableStack,
  overrides: Partial<AccountsContext>,
): AccountsContext {
  const { bus, config, limiter, log, storage } = base;
  const usage = overrides.usage ?? owned.use(keyUsage(storage, log));
  return {
    ...base,
    usage,
    keys:
      overrides.keys ??
      keyCache({ redis: bus.redis, prefix: bus.prefix, storage, pepper: config.keyPepper, onUse: usage.note }),
    failures: overrides.failures ?? failedAuthentication(limiter),
    hashedKey: overrides.hashedKey ?? keyHasher(config.keyPepper),
    sealer: overrides.sealer ?? sealer(config.cookieSecrets),
    attemptSealer: overrides.attemptSealer ?? sealer(config.cookieSecrets, ATTEMPT_COOKIE),
    identityProvider: overrides.identityProvider ?? openProvider(config),
    webhooks: overrides.webhooks ?? openWebhooks(config.webhooks),
    endsOfPayments: overrides.endsOfPayments ?? [],
  };
}

const openProvider = ({ identityProvider: settings, baseUrl }: Config): IdentityProvider | null =>
  settings && identityProvider(settings, baseUrl);
