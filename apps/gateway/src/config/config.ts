import { type LogLevel, type TraceSettings, traceSettings } from '@eloquentpoll/ops';
import {
  type Environment,
  isLoopback,
  readSettings,
  refuseClearText,
  SettingError,
  type WebhookSettings,
  webhookSettings,
} from '@eloquentpoll/ops/settings';
import type { HoldBackRules } from '@eloquentpoll/storage';
import packageJson from '../../package.json' with { type: 'json' };
import { flexPriceOf, type PriceFactors, type PriceTerms, priceFactors } from './list-prices.ts';
import {
  type CheckoutSettings,
  checkoutSettings,
  type DepositSettings,
  depositSettings,
  type ReconcileSettings,
} from './payment-settings.ts';
import { type Policies, readPolicies } from './rate-limit-policies.ts';
import { GATEWAY_SETTINGS, type GatewayValues } from './settings-table.ts';
import { type WalletSettings, walletSettings } from './wallet-settings.ts';

// What the settings mean together. One that contradicts another is a sentence that names the variable, before anything
// is opened.

export interface Config {
  /** The cell that this gateway belongs to; ids and keys that are made here say it. */
  cell: string;
  listen: { host: string; port: number };
  /** Every link that we write starts with it; the Host header never does. Without a slash at the end. */
  baseUrl: string;
  database: {
    url: string;
    maxConnections: number;
    /** To wait for one of them, and to go on asking; as storage has it without these. */
    connectTimeoutMs?: number;
    askAgainForMs?: number;
    /** For reads that may lag so much. */
    replica?: { url: string; maxLagMs: number };
  };
  redis: {
    url: string;
    prefix: string;
    queueShards: number;
    /** As the bus has it without this. */
    commandTimeoutMs?: number;
  };
  /** Key of the HMAC under which API keys are stored. */
  keyPepper: string;
  /** Seal the login cookie: the first one new cookies, all of them old ones. */
  cookieSecrets: string[];
  /** What receipts are signed with; null where none are given out. */
  receipts: { key: Buffer; pastKeys: readonly Buffer[] } | null;
  /** Where people log in; null without an identity provider. */
  identityProvider: ProviderSettings | null;
  wallets: WalletSettings;
  /** Card payments; null without them. */
  checkout: CheckoutSettings | null;
  /** What of a new card's payment cannot be spent at once. */
  cardHoldBack: HoldBackRules;
  /** Deposits; null without them. */
  deposits: DepositSettings | null;
  reconcile: ReconcileSettings;
  /** Panels, where models are asked, and the registry that /api/models lists. */
  models: { file?: string; baseUrl?: string; registryUrl?: string; httpsOnly?: boolean };
  /** The Content-Signal of every answer, and of robots.txt. */
  contentSignal: string;
  contactEmail: string;
  /** Whether MCP takes a user id as a bearer, for what spends nothing. Deprecated. */
  mcpUserIdBearer: boolean;
  /** Origins of pages that may call MCP, beside our own; `*` for all. */
  mcpAllowedOrigins: readonly string[];
  /** Networks whose X-Forwarded-For is believed. */
  trustedProxies: string[];
  rateLimits: Policies;
  /** Event streams that may be open at once. */
  streams: { perAccount: number; perNetwork: number };
  /** List prices by the providers' prices. */
  pricePpm: PriceFactors;
  flexPrice: PriceTerms['flexPrice'];
  /** What providers may charge the fleet; an amount is null where the operator names none. */
  providerSpend: { hourU: bigint | null; dayU: bigint | null; freeShare: number };
  /** The most that all free polls of a UTC day may cost the operator, in micro-USD. */
  /** Null without sealing keys: there are no webhooks. */
  webhooks: WebhookSettings | null;
  freeDailyCapU: bigint;
  /** Which share of polls is audited until a panel has so many audits, and after; and how many open the gate. */
  audits: { rate: number; laterRate: number; rateUntil: number; gate: number; refreshMs: number };
  /** Polls that may run or wait at once, of an account, of one of its keys and of a network without credentials. */
  maxRunningPolls: { account: number; key: number; network: number };
  /** The same of an account's flex polls, beside those. */
  maxRunningFlexPolls: number;
  /** How long a poll and its result are kept at most. */
  retentionS: number;
  /** A poll that would wait in the queue for longer than this share of its deadline is refused. */
  maxQueueShare: number;
  /** Where metrics and probes are served; null where they are not. */
  ops: { host: string; port: number } | null;
  /** Opens the console on the ops port; null leaves it closed. */
  adminToken: string | null;
  logLevel: LogLevel;
  /** Share of good answers that is logged. */
  logSample: number;
  /** Where traces go; null without a collector. */
  traces: TraceSettings | null;
  /** After SIGTERM: how long it goes on as before, unready, and then how long it has to end. */
  drain: { delayMs: number; withinMs: number };
  gitCommit: string | null;
}

/** This service as a client of the identity provider. */
export interface ProviderSettings {
  issuer: string;
  /** What people know it by. */
  name: string;
  clientId: string;
  clientSecret: string;
}

export function readConfig(env: Environment): Config {
  const values = readSettings(GATEWAY_SETTINGS, env);
  const origin = baseUrl(values);
  refuseClearText(values, 'MODELS_BASE_URL', 'MODELS_REGISTRY_URL');
  return {
    cell: values.CELL,
    listen: { host: values.HOST, port: values.PORT },
    baseUrl: origin,
    database: {
      url: values.DATABASE_URL,
      maxConnections: values.DATABASE_POOL,
      ...(values.DATABASE_REPLICA_URL && {
        replica: { url: values.DATABASE_REPLICA_URL, maxLagMs: values.DATABASE_REPLICA_MAX_LAG * 1_000 },
      }),
    },
    redis: { url: values.REDIS_URL, prefix: values.REDIS_PREFIX, queueShards: values.QUEUE_SHARDS },
    keyPepper: values.KEY_PEPPER,
    // Never the same key as the pepper: the sealing key is derived from it.
    cookieSecrets: values.COOKIE_SECRETS ?? [values.KEY_PEPPER],
    receipts: receiptKeys(values),
    identityProvider: identityProvider(values),
    wallets: walletSettings(values),
    checkout: checkoutSettings(values),
    cardHoldBack: {
      days: values.CARD_HOLD_BACK_DAYS,
      share: values.CARD_HOLD_BACK_SHARE,
      freeU: values.CARD_HOLD_BACK_ABOVE_USD,
    },
    deposits: depositSettings(values),
    reconcile: {
      checkoutsS: values.RECONCILE_CHECKOUTS_S,
      depositsS: values.RECONCILE_DEPOSITS_S,
      transfersS: values.RECONCILE_TRANSFERS_S,
      movementsS: values.RECONCILE_MOVEMENTS_S,
    },
    models: {
      ...(values.MODELS_FILE && { file: values.MODELS_FILE }),
      ...(values.MODELS_BASE_URL && { baseUrl: values.MODELS_BASE_URL }),
      ...(values.MODELS_REGISTRY_URL && { registryUrl: values.MODELS_REGISTRY_URL }),
      httpsOnly: values.NODE_ENV === 'production',
    },
    contentSignal: values.CONTENT_SIGNAL,
    contactEmail: values.CONTACT_EMAIL ?? `support@${new URL(origin).hostname}`,
    mcpUserIdBearer: values.MCP_USER_ID_BEARER,
    mcpAllowedOrigins: values.MCP_ALLOWED_ORIGINS ?? [],
    trustedProxies: values.TRUST_PROXY ?? [],
    streams: { perAccount: values.STREAMS_PER_ACCOUNT, perNetwork: values.STREAMS_PER_NETWORK },
    rateLimits: values.RATE_LIMITS ?? readPolicies(undefined),
    pricePpm: priceFactors(values.ABORTED_SHARES, values.PAYMENT_FEE_SHARE),
    flexPrice: flexPriceOf(values.FLEX_PRICE_PPM, values.PAYMENT_FEE_SHARE),
    providerSpend: {
      hourU: values.PROVIDER_SPEND_HOUR_USD ?? null,
      dayU: values.PROVIDER_SPEND_DAY_USD ?? null,
      freeShare: values.PROVIDER_SPEND_FREE_SHARE,
    },
    webhooks: webhookSettings(values),
    freeDailyCapU: values.FREE_DAILY_CAP_USD,
    audits: {
      rate: values.AUDIT_RATE,
      laterRate: Math.min(values.AUDIT_RATE, values.AUDIT_LATER_RATE),
      rateUntil: values.AUDIT_RATE_UNTIL,
      gate: values.AUDIT_GATE,
      refreshMs: values.AUDIT_REFRESH_S * 1_000,
    },
    maxRunningPolls: {
      account: values.MAX_RUNNING_POLLS,
      key: values.MAX_RUNNING_POLLS_PER_KEY,
      network: values.MAX_RUNNING_FREE_POLLS,
    },
    maxRunningFlexPolls: values.MAX_RUNNING_FLEX_POLLS,
    retentionS: values.RETENTION_DAYS * 86_400,
    maxQueueShare: values.MAX_QUEUE_SHARE,
    ops: values.OPS_PORT === undefined ? null : { host: values.OPS_HOST, port: values.OPS_PORT },
    adminToken: adminToken(values),
    logLevel: values.LOG_LEVEL,
    logSample: values.LOG_SAMPLE,
    traces: traceSettings(values, 'gateway', packageJson.version),
    drain: { delayMs: values.DRAIN_DELAY_MS, withinMs: values.DRAIN_MS },
    gitCommit: values.GIT_COMMIT?.slice(0, 12) ?? null,
  };
}

function baseUrl({ BASE_URL, NODE_ENV, PORT }: GatewayValues): string {
  if (BASE_URL === undefined) {
    if (PORT === 0) throw new SettingError('BASE_URL', 'is not set; with PORT=0 it cannot be derived');
    return `http://localhost:${PORT}`;
  }
  const { protocol, hostname, origin, pathname, search, hash } = new URL(BASE_URL);
  if (pathname !== '/' || search || hash) throw new SettingError('BASE_URL', 'must be an origin, without a path');
  if (NODE_ENV === 'production' && protocol === 'http:' && !isLoopback(hostname))
    throw new SettingError('BASE_URL', 'must be https in production');
  return origin;
}

function receiptKeys({
  RECEIPT_SIGNING_KEY: key,
  RECEIPT_PAST_KEYS: pastKeys = [],
}: GatewayValues): Config['receipts'] {
  if (key === undefined && pastKeys.length > 0)
    throw new SettingError('RECEIPT_SIGNING_KEY', 'is not set, though RECEIPT_PAST_KEYS is');
  return key === undefined ? null : { key, pastKeys };
}

function identityProvider(values: GatewayValues): ProviderSettings | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = values;
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return null;
  if (issuer === undefined) throw new SettingError('OIDC_ISSUER', 'is not set, though other OIDC_ settings are');
  checkIssuer(new URL(issuer), values.NODE_ENV === 'production');
  if (clientId === undefined) throw new SettingError('OIDC_CLIENT_ID', 'is not set, though OIDC_ISSUER is');
  if (clientSecret === undefined) throw new SettingError('OIDC_CLIENT_SECRET', 'is not set, though OIDC_ISSUER is');
  return { issuer, name: values.OIDC_NAME ?? new URL(issuer).host, clientId, clientSecret };
}

/** An attacker who can answer in its place can log in to any account: hence https, except on this machine in development. */
function checkIssuer({ protocol, hostname, username, search, hash }: URL, isProduction: boolean): void {
  const refuse = (problem: string) => {
    throw new SettingError('OIDC_ISSUER', problem);
  };
  if (username || search || hash) refuse('must be an issuer: no user, query or fragment');
  if (isProduction && protocol === 'http:') refuse('must be https in production');
  if (isProduction && isLoopback(hostname)) refuse('must not be this machine in production');
  if (protocol === 'http:' && !isLoopback(hostname)) refuse('must be https, unless it is on this machine');
}

function adminToken({ ADMIN_TOKEN: token, OPS_PORT }: GatewayValues): string | null {
  if (token !== undefined && OPS_PORT === undefined)
    throw new SettingError('ADMIN_TOKEN', 'is set, but OPS_PORT is not, and the console is served there');
  return token ?? null;
}
