import { isIP } from 'node:net';
import { LOG_LEVELS, type LogLevel } from '@eloquentpoll/ops';
import { type DocumentSettings, documentSettings } from './document-settings.ts';
import type { Environment } from './environment.ts';
import { type OpsSettings, opsSettings } from './ops-settings.ts';
import {
  type CheckoutSettings,
  checkoutSettings,
  type DepositSettings,
  depositSettings,
  type ReconcileSettings,
  reconcileSettings,
} from './payment-settings.ts';
import { type Policies, readPolicies } from './rate-limit-policies.ts';
import { ConfigError, integer, isLoopback, url } from './settings.ts';

export { ConfigError };

// What the environment means. A setting that is wrong, missing or contradicts another is one sentence that names the
// variable, before anything is opened.

export interface Config extends DocumentSettings, OpsSettings {
  listen: { host: string; port: number };
  /** Every link that we write starts with it; the Host header never does. Without a slash at the end. */
  baseUrl: string;
  database: { url: string; maxConnections: number };
  redis: { url: string; prefix: string };
  /** Key of the HMAC under which API keys are stored. */
  keyPepper: string;
  /** Seal the session cookie: the first one new cookies, all of them old ones. */
  cookieSecrets: string[];
  /** Where people prove who they are; null where nobody can log in this way. */
  identityProvider: ProviderSettings | null;
  /** The chain that wallets sign in on, and the node that is asked about contract wallets, where there is one. */
  wallets: { chainId: number; rpcUrl?: string };
  /** Where cards pay; null where they cannot. */
  checkout: CheckoutSettings | null;
  /** Where wallets pay; null where they cannot. */
  deposits: DepositSettings | null;
  reconcile: ReconcileSettings;
  /** Panels, where models are asked, and the registry that /api/models lists. */
  models: { file?: string; baseUrl?: string; registryUrl?: string };
  /** Whether MCP takes a user id as a bearer, for what spends nothing. Deprecated. */
  mcpUserIdBearer: boolean;
  /** Networks whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  rateLimits: Policies;
  /** The most that all free polls of a UTC day may cost the operator, in micro-USD. */
  freeDailyCapU: bigint;
  logLevel: LogLevel;
  gitCommit: string | null;
}

/** We as a client of the identity provider. */
export interface ProviderSettings {
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** Base, where USDC deposits are made too. */
const BASE_CHAIN_ID = 8_453;

export function decideConfig(env: Environment): Config {
  const port = integer(env, 'PORT', 8080, 0, 65_535);
  const origin = baseUrl(env, port);
  const chainId = integer(env, 'CHAIN_ID', BASE_CHAIN_ID, 1, 999_999_999);
  return {
    listen: { host: env.HOST ?? '127.0.0.1', port },
    baseUrl: origin,
    database: {
      url: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']),
      maxConnections: integer(env, 'DATABASE_POOL', 10, 1, 1_000),
    },
    redis: { url: url(env, 'REDIS_URL', ['redis:', 'rediss:']), prefix: redisPrefix(env) },
    keyPepper: keyPepper(env),
    cookieSecrets: cookieSecrets(env),
    identityProvider: identityProvider(env),
    wallets: {
      chainId,
      ...(env.ETH_RPC_URL && { rpcUrl: url(env, 'ETH_RPC_URL', ['http:', 'https:']) }),
    },
    checkout: checkoutSettings(env),
    deposits: depositSettings(env, chainId),
    reconcile: reconcileSettings(env),
    models: {
      ...(env.MODELS_FILE && { file: env.MODELS_FILE }),
      ...(env.MODELS_BASE_URL && { baseUrl: url(env, 'MODELS_BASE_URL', ['http:', 'https:']) }),
      ...(env.MODELS_REGISTRY_URL && { registryUrl: url(env, 'MODELS_REGISTRY_URL', ['http:', 'https:']) }),
    },
    ...documentSettings(env, origin),
    ...opsSettings(env),
    mcpUserIdBearer: mcpUserIdBearer(env),
    trustedProxies: trustedProxies(env),
    rateLimits: rateLimits(env),
    freeDailyCapU: freeDailyCapU(env),
    logLevel: logLevel(env),
    gitCommit: gitCommit(env),
  };
}

function baseUrl(env: Environment, port: number): string {
  if (env.BASE_URL === undefined) {
    if (port === 0) throw new ConfigError('BASE_URL', 'is not set; with PORT=0 it cannot be derived');
    return `http://localhost:${port}`;
  }
  const { protocol, hostname, origin, pathname, search, hash } = new URL(url(env, 'BASE_URL', ['http:', 'https:']));
  if (pathname !== '/' || search || hash) throw new ConfigError('BASE_URL', 'must be an origin, without a path');
  if (env.NODE_ENV === 'production' && protocol === 'http:' && !isLoopback(hostname)) {
    throw new ConfigError('BASE_URL', 'must be https in production');
  }
  return origin;
}

function redisPrefix(env: Environment): string {
  const prefix = env.REDIS_PREFIX ?? 'ep';
  if (!/^[\w-]{1,32}$/.test(prefix)) throw new ConfigError('REDIS_PREFIX', 'must be 1 to 32 letters, digits, - or _');
  return prefix;
}

function keyPepper(env: Environment): string {
  if (env.KEY_PEPPER === undefined) throw new ConfigError('KEY_PEPPER', 'is not set; API keys are stored under it');
  if (env.KEY_PEPPER.length < 32) throw new ConfigError('KEY_PEPPER', 'must have at least 32 characters');
  return env.KEY_PEPPER;
}

/** Without a setting cookies are sealed under the pepper: one secret less to keep, and never the same key as it. */
function cookieSecrets(env: Environment): string[] {
  const secrets = (env.COOKIE_SECRETS ?? keyPepper(env)).split(',').map((secret) => secret.trim());
  if (secrets.some((secret) => secret.length < 32)) {
    throw new ConfigError(
      'COOKIE_SECRETS',
      'must be secrets of at least 32 characters, separated by commas, newest first',
    );
  }
  return secrets;
}

function identityProvider(env: Environment): ProviderSettings | null {
  const { OIDC_ISSUER, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  if (OIDC_ISSUER === undefined && clientId === undefined && clientSecret === undefined) return null;
  const issuer = issuerOf(env);
  if (clientId === undefined) throw new ConfigError('OIDC_CLIENT_ID', 'is not set, though OIDC_ISSUER is');
  if (clientSecret === undefined) throw new ConfigError('OIDC_CLIENT_SECRET', 'is not set, though OIDC_ISSUER is');
  return { issuer, clientId, clientSecret };
}

/** Whoever can answer in the provider's place can log in as anybody: so https, and here without it only on loopback. */
function issuerOf(env: Environment): string {
  if (env.OIDC_ISSUER === undefined)
    throw new ConfigError('OIDC_ISSUER', 'is not set, though other OIDC_ settings are');
  const { protocol, hostname, username, search, hash } = new URL(url(env, 'OIDC_ISSUER', ['http:', 'https:']));
  if (username || search || hash) throw new ConfigError('OIDC_ISSUER', 'must be an issuer: no user, query or fragment');
  if (env.NODE_ENV === 'production') {
    if (protocol === 'http:') throw new ConfigError('OIDC_ISSUER', 'must be https in production');
    if (isLoopback(hostname)) throw new ConfigError('OIDC_ISSUER', 'must not be this machine in production');
  } else if (protocol === 'http:' && !isLoopback(hostname)) {
    throw new ConfigError('OIDC_ISSUER', 'must be https, unless it is on this machine');
  }
  return env.OIDC_ISSUER;
}

function mcpUserIdBearer({ MCP_USER_ID_BEARER: text = 'off' }: Environment): boolean {
  if (text !== 'on' && text !== 'off') throw new ConfigError('MCP_USER_ID_BEARER', `must be on or off, not "${text}"`);
  return text === 'on';
}

function trustedProxies(env: Environment): string[] {
  const list = env.TRUST_PROXY?.split(',').map((entry) => entry.trim()) ?? [];
  for (const entry of list) {
    const [address = '', bits, rest] = entry.split('/');
    const widest = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    const fits = rest === undefined && bits !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= widest;
    if (!fits || Number(bits) === 0) {
      throw new ConfigError(
        'TRUST_PROXY',
        `must be a comma-separated list of networks such as 10.0.0.0/8, and "${entry}" is not a network`,
      );
    }
  }
  return list;
}

function rateLimits(env: Environment): Policies {
  try {
    return readPolicies(env.RATE_LIMITS);
  } catch (error) {
    throw new ConfigError('RATE_LIMITS', error instanceof Error ? error.message : 'is not readable');
  }
}

/** Read digit by digit, so that no cent is lost to binary fractions. 0 closes free polls. */
function freeDailyCapU({ FREE_DAILY_CAP_USD: text = '5' }: Environment): bigint {
  const [, dollars, fraction = ''] = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  if (dollars === undefined)
    throw new ConfigError('FREE_DAILY_CAP_USD', `must be US dollars such as 5 or 2.50, not "${text}"`);
  return BigInt(dollars + fraction.padEnd(6, '0'));
}

function logLevel(env: Environment): Config['logLevel'] {
  const level = LOG_LEVELS.find((known) => known === (env.LOG_LEVEL ?? 'info'));
  if (!level) throw new ConfigError('LOG_LEVEL', `must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
}

function gitCommit(env: Environment): string | null {
  if (env.GIT_COMMIT === undefined) return null;
  if (!/^[0-9a-f]{7,40}$/.test(env.GIT_COMMIT)) throw new ConfigError('GIT_COMMIT', 'must be a hexadecimal commit id');
  return env.GIT_COMMIT.slice(0, 12);
}
