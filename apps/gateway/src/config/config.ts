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

// Combines the settings into one configuration. Settings that contradict each other are reported with the variable's
// name, before anything is opened.

export interface Config {
  /** The cell of this gateway; it is part of the ids and keys that are made here. */
  cell: string;
  listen: { host: string; port: number };
  /** Every link that we write starts with it, never with the Host header. Without a trailing slash. */
  baseUrl: string;
  database: {
    url: string;
    maxConnections: number;
    /** Time limits for getting a connection and for retrying; defaults are those of the storage package. */
    connectTimeoutMs?: number;
    askAgainForMs?: number;
    /** For reads that tolerate this lag. */
    replica?: { url: string; maxLagMs: number };
  };
  redis: {
    url: string;
    prefix: string;
    queueShards: number;
    /** The default is that of the bus package. */
    commandTimeoutMs?: number;
  };
  /** Key of the HMAC under which API keys are stored. */
  keyPepper: string;
  /** Seal the login cookie: the first seals new cookies, all of them open existing ones. */
  cookieSecrets: string[];
  /** Keys for signing receipts; null when this installation issues none. */
  receipts: { key: Buffer; pastKeys: readonly Buffer[] } | null;
  /** Null without an identity provider. */
  identityProvider: ProviderSettings | null;
  wallets: WalletSettings;
  /** Null without card payments. */
  checkout: CheckoutSettings | null;
  /** Which part of a new card's payment is held back until it has settled. */
  cardHoldBack: HoldBackRules;
  /** Null without USDC deposits. */
  deposits: DepositSettings | null;
  reconcile: ReconcileSettings;
  /** Roster file, address of the models, and the registry behind /api/models. */
  models: { file?: string; baseUrl?: string; registryUrl?: string; httpsOnly?: boolean };
  /** The Content-Signal of all answers and of robots.txt. */
  contentSignal: string;
  contactEmail: string;
  /** Whether MCP accepts a user id as a bearer, for operations that spend nothing. Deprecated. */
  mcpUserIdBearer: boolean;
  /** Origins, besides our own, whose pages may call MCP; `*` allows all. */
  mcpAllowedOrigins: readonly string[];
  /** Networks whose X-Forwarded-For is trusted. */
  trustedProxies: string[];
  rateLimits: Policies;
  /** Maximum numbers of open event streams. */
  streams: { perAccount: number; perNetwork: number };
  /** Factors from provider prices to list prices. */
  pricePpm: PriceFactors;
  flexPrice: PriceTerms['flexPrice'];
  /** The ceiling of what providers may charge the fleet; null where the operator set none. */
  providerSpend: { hourU: bigint | null; dayU: bigint | null; freeShare: number };
  /** Null without sealing keys, that is, without webhooks. */
  webhooks: WebhookSettings | null;
  /** Maximum cost of all free polls of a UTC day to the operator, in micro-USD. */
  freeDailyCapU: bigint;
  /** Share of audited polls before and after a panel has `rateUntil` audits; `gate` audits can open the gate. */
  audits: { rate: number; laterRate: number; rateUntil: number; gate: number; refreshMs: number };
  /** Maximum number of running or waiting polls per account, per key and per anonymous network. */
  maxRunningPolls: { account: number; key: number; network: number };
  /** Maximum number of an account's flex polls, counted separately. */
  maxRunningFlexPolls: number;
  /** Maximum time for which a poll and its result are kept. */
  retentionS: number;
  /** A poll is refused if it would wait in the queue for more than this share of its deadline. */
  maxQueueShare: number;
  /** Where metrics and probes are served; null without an ops port. */
  ops: { host: string; port: number } | null;
  /** Token for the console on the ops port; null disables the console. */
  adminToken: string | null;
  logLevel: LogLevel;
  /** Share of successful requests that is logged. */
  logSample: number;
  /** Where traces are sent; null without a collector. */
  traces: TraceSettings | null;
  /** After SIGTERM: how long it keeps serving while not ready, then how long it has to finish. */
  drain: { delayMs: number; withinMs: number };
  gitCommit: string | null;
}

/** This service as a client of the identity provider. */
export interface ProviderSettings {
  issuer: string;
  /** The provider's name as people know it. */
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
    // Not the pepper itself: the sealing key is derived from it.
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

/** Anyone who can impersonate the issuer can log in to any account: hence https, except on loopback in development. */
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
