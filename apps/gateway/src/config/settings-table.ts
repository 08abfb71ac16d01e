import {
  atLeast32,
  httpsUrl,
  integer,
  list,
  microUsd,
  onOff,
  optional,
  required,
  SHARED_SETTINGS,
  secret,
  share,
  text,
  url,
  type Values,
  withDefault,
} from '@eloquentpoll/ops/settings';
import { CELL, FIRST_CELL } from '@eloquentpoll/polls';
import {
  abortedShares,
  bytes32,
  CONTENT_SIGNAL,
  contentSignal,
  hex,
  network,
  origins,
  rateLimits,
  shareBelow,
} from './readers.ts';

const http = url('http:', 'https:');
const plainToken = /^[\x21-\x7e]+$/;

/** Every variable that the gateway reads. Rules between several of them are in config.ts and payment-settings.ts. */
export const GATEWAY_SETTINGS = {
  ...SHARED_SETTINGS,
  DATABASE_REPLICA_URL: optional(
    url('postgres:', 'postgresql:'),
    'A streaming replica (one server, or a balancer that keeps to one for each gateway), for lists, usage, exports and figures. Without it, and while it lags or is away, DATABASE_URL answers those too.',
  ),
  DATABASE_REPLICA_MAX_LAG: withDefault(integer(1, 300), 5, 'Seconds that an answer from the replica may be behind.'),
  PORT: withDefault(integer(0, 65_535), 8080, 'Where the API listens; 0 is any free port, and needs BASE_URL.'),
  HOST: withDefault(text('a host name or address'), '127.0.0.1', 'The address that it listens on.'),
  CELL: withDefault(
    text('one of 0-9 and a-z without i, l, o, u', CELL),
    FIRST_CELL,
    'Where there are several installations behind one router: which one this is. Never changed once it is in use.',
  ),
  KEY_PEPPER: required(secret(atLeast32), 'API keys are stored as HMAC under it.'),
  COOKIE_SECRETS: optional(
    secret(list(atLeast32)),
    'Seal cookies: the first one new cookies, all of them old ones. Default: KEY_PEPPER.',
  ),
  RECEIPT_SIGNING_KEY: optional(
    secret(bytes32),
    'The private Ed25519 key that signs receipts; without it none are given out.',
  ),
  RECEIPT_PAST_KEYS: optional(
    list(bytes32),
    'Public keys (the x of /.well-known/jwks.json) that signed before it; they stay published.',
  ),
  OIDC_ISSUER: optional(http, 'The identity provider; all three OIDC_ settings or none.'),
  OIDC_NAME: optional(text('a name'), 'What people know it by, such as Google; its host without it.'),
  OIDC_CLIENT_ID: optional(text('a client id'), 'Its name for this service.'),
  OIDC_CLIENT_SECRET: optional(secret(text('a client secret')), 'Proves this service to it.'),
  MCP_USER_ID_BEARER: withDefault(onOff, 'off', 'Whether MCP takes a user id as a bearer. Deprecated.'),
  MCP_ALLOWED_ORIGINS: optional(
    origins,
    'Pages of other origins that may call MCP from a browser, or *. Default: none, against DNS rebinding.',
  ),
  CHAIN_ID: withDefault(integer(1, 999_999_999), 8_453, 'The chain of wallets and deposits; 8453 is Base.'),
  ETH_RPC_URL: optional(http, 'A node of that chain, for contract wallets and deposits; https in production.'),
  ETH_RPC_SECOND_URL: optional(
    http,
    'A node of another provider; where it is set, both must accept a contract wallet.',
  ),
  ETH_LOG_RANGE: withDefault(integer(1, 100_000), 1_000, 'The most blocks per eth_getLogs; nodes limit it.'),
  CONTRACT_WALLETS: withDefault(onOff, 'off', 'Whether wallets without a private key log in by what ETH_RPC_URL says.'),
  STRIPE_SECRET_KEY: optional(
    secret(text('a secret or restricted key such as sk_live_...', /^(sk|rk)_(live|test)_\w{8,}$/)),
    'Takes card payments.',
  ),
  STRIPE_WEBHOOK_SECRETS: optional(
    secret(list(text('a signing secret such as whsec_...', /^whsec_\w{8,}$/), 2)),
    "Check the processor's events; two while one is being replaced.",
  ),
  STRIPE_API_BASE: optional(httpsUrl, "Instead of the processor's own address."),
  CARD_HOLD_BACK_DAYS: withDefault(
    integer(0, 90),
    7,
    'How long a card payment takes to settle; until an account has a settled one, part of its payments cannot be spent. 0 holds nothing back.',
  ),
  CARD_HOLD_BACK_SHARE: withDefault(share, 0.5, 'That part: this share of what has not settled.'),
  CARD_HOLD_BACK_ABOVE_USD: withDefault(microUsd, '20', 'So much of an account can always be spent.'),
  X402_PAY_TO: optional(hex(20, 'an address such as 0x...'), 'Takes deposits in USDC, paid to this address.'),
  X402_ASSET: optional(hex(20, 'an address such as 0x...'), 'The token. Default: USDC on that chain.'),
  X402_FACILITATOR_URL: optional(httpsUrl, 'Settles deposits; this one or the key below.'),
  X402_FACILITATOR_TOKEN: optional(secret(text('a token without blanks', plainToken)), 'Proves this service to it.'),
  X402_FACILITATOR_KEY: optional(
    secret(hex(32, 'a private key of 64 hexadecimal digits')),
    'Settles deposits from a wallet of our own, which pays the fees.',
  ),
  RECONCILE_CHECKOUTS_S: withDefault(integer(1, 86_400), 900, 'How often payments without an event are looked up.'),
  RECONCILE_DEPOSITS_S: withDefault(integer(1, 3_600), 60, 'How often unfinished deposits are looked up.'),
  // The longest of both are well below what the alarm MoneyNotReconciled waits for.
  RECONCILE_TRANSFERS_S: withDefault(
    integer(60, 14_400),
    3_600,
    'How often all transfers to X402_PAY_TO are compared with deposits.',
  ),
  RECONCILE_MOVEMENTS_S: withDefault(
    integer(60, 108_000),
    86_400,
    "How often all movements of the processor's balance are compared with the ledger.",
  ),
  MODELS_REGISTRY_URL: optional(http, 'The public list of models behind /api/models.'),
  TRUST_PROXY: optional(list(network), 'Networks whose X-Forwarded-For is believed.'),
  RATE_LIMITS: optional(rateLimits, 'Changes single rate limits.'),
  STREAMS_PER_ACCOUNT: withDefault(
    integer(1, 1_000_000),
    100,
    'Event streams of one account, or of one read-only key, that may be open at once.',
  ),
  STREAMS_PER_NETWORK: withDefault(integer(1, 1_000_000), 10, 'The same for a network without credentials.'),
  ABORTED_SHARES: withDefault(
    abortedShares,
    'broad=0.22,custom=0.31,fast=0.27,strong=0.08',
    'What calls that stops abort have of all that providers charge for polls of a preset, and of panels that callers name. List prices carry it.',
  ),
  PAYMENT_FEE_SHARE: withDefault(
    shareBelow(0.9),
    '0.059',
    'The share of a payment that its processor keeps; list prices carry it. The default is 2.9 % and 30 cents of 10 USD; 0.329 covers the smallest top-up, 1 USD.',
  ),
  FLEX_PRICE_PPM: withDefault(
    integer(1, 1_000_000),
    850_000,
    'What a flex poll costs by the list price of a standard one, in millionths; never less than what providers charge and the fee of a payment.',
  ),
  FREE_DAILY_CAP_USD: withDefault(microUsd, '5', 'The most that free polls may cost per UTC day; 0 closes them.'),
  AUDIT_RATE: withDefault(
    share,
    0,
    'The share of polls whose other models are asked after the answer, while their panel has few audits; 0 switches audits off.',
  ),
  AUDIT_LATER_RATE: withDefault(share, 0.05, 'The same when it has many.'),
  AUDIT_RATE_UNTIL: withDefault(integer(0, 1_000_000), 500, 'How many audits of a panel are many.'),
  AUDIT_GATE: withDefault(
    integer(1, 1_000_000),
    300,
    'Audits that a panel needs, beside a certificate, before its cheapest models are asked first.',
  ),
  MAX_RUNNING_POLLS: withDefault(integer(1, 100_000), 500, 'Polls of one account that may run or wait at once.'),
  MAX_RUNNING_POLLS_PER_KEY: withDefault(integer(1, 100_000), 250, 'The same of one API key.'),
  MAX_RUNNING_FLEX_POLLS: withDefault(
    integer(1, 1_000_000),
    5_000,
    'Flex polls of one account that may run or wait at once, beside the others; those of batches are not counted.',
  ),
  RETENTION_DAYS: withDefault(
    integer(1, 3_650),
    365,
    'How long polls and their results are kept; expires_in of a poll makes it shorter.',
  ),
  MAX_QUEUE_SHARE: withDefault(
    share,
    0.5,
    'A poll that would wait for longer than this share of its deadline is refused.',
  ),
  MAX_RUNNING_FREE_POLLS: withDefault(integer(1, 100_000), 60, 'The same of one network without credentials.'),
  CONTENT_SIGNAL: withDefault(contentSignal, CONTENT_SIGNAL, 'What published documents may be used for.'),
  CONTACT_EMAIL: optional(
    text('an e-mail address', /^[^\s@<>"]+@[^\s@<>"]+$/),
    'Whom readers can write to. Default: support@ and the host of BASE_URL.',
  ),
  LOG_SAMPLE: withDefault(share, 1, 'The share of good answers that is logged.'),
  ADMIN_TOKEN: optional(
    secret(text('at least 16 plain characters without blanks', /^[\x21-\x7e]{16,}$/)),
    'Opens the console on the port for operators.',
  ),
  DRAIN_DELAY_MS: withDefault(integer(0, 60_000), 0, 'After SIGTERM: how long it serves on, not ready.'),
  DRAIN_MS: withDefault(integer(500, 300_000), 20_000, 'After that: how long it has to end.'),
} as const;

export type GatewayValues = Values<typeof GATEWAY_SETTINGS>;
