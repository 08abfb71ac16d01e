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
    'A streaming replica for lists, usage, exports and figures: one server, or a balancer that always sends a gateway to the same one. Without a replica, and while it lags or is away, DATABASE_URL is used.',
  ),
  DATABASE_REPLICA_MAX_LAG: withDefault(integer(1, 300), 5, 'How many seconds the replica may lag behind the primary.'),
  PORT: withDefault(integer(0, 65_535), 8080, 'The port of the API. 0 means any free port; BASE_URL is then required.'),
  HOST: withDefault(text('a host name or address'), '127.0.0.1', 'The address on which the API listens.'),
  CELL: withDefault(
    text('one of 0-9 and a-z without i, l, o, u', CELL),
    FIRST_CELL,
    'Identifies this installation when several are behind one router. Never change it once it is in use.',
  ),
  KEY_PEPPER: required(secret(atLeast32), 'The secret with which API keys are hashed (HMAC) before they are stored.'),
  COOKIE_SECRETS: optional(
    secret(list(atLeast32)),
    'Secrets that encrypt cookies: the first encrypts new cookies, all of them decrypt existing ones. Default: KEY_PEPPER.',
  ),
  RECEIPT_SIGNING_KEY: optional(
    secret(bytes32),
    'The private Ed25519 key that signs receipts. Without it there are no receipts.',
  ),
  RECEIPT_PAST_KEYS: optional(
    list(bytes32),
    'Public keys (`x` in /.well-known/jwks.json) of earlier signing keys; they stay published.',
  ),
  OIDC_ISSUER: optional(
    http,
    'The identity provider. Set OIDC_ISSUER, OIDC_CLIENT_ID and OIDC_CLIENT_SECRET together, or none of them.',
  ),
  OIDC_NAME: optional(text('a name'), 'The name of the identity provider on pages, such as Google. Default: its host.'),
  OIDC_CLIENT_ID: optional(text('a client id'), 'The client id of this service at the identity provider.'),
  OIDC_CLIENT_SECRET: optional(
    secret(text('a client secret')),
    'The client secret of this service at the identity provider.',
  ),
  MCP_USER_ID_BEARER: withDefault(
    onOff,
    'off',
    'Whether MCP accepts a user id as bearer token, for what costs nothing. Deprecated, and off because user ids are not secret.',
  ),
  MCP_ALLOWED_ORIGINS: optional(
    origins,
    'Other origins whose pages may call MCP from a browser, or *. Default: none, as protection against DNS rebinding.',
  ),
  CHAIN_ID: withDefault(integer(1, 999_999_999), 8_453, 'The chain id for wallets and deposits; 8453 is Base.'),
  ETH_RPC_URL: optional(http, 'A node of that chain, for contract wallets and deposits; https in production.'),
  ETH_RPC_SECOND_URL: optional(
    http,
    'A node of another provider. If it is set, both nodes must accept the signature of a contract wallet.',
  ),
  ETH_LOG_RANGE: withDefault(
    integer(1, 100_000),
    1_000,
    'Maximum number of blocks per eth_getLogs; many nodes have a limit.',
  ),
  CONTRACT_WALLETS: withDefault(
    onOff,
    'off',
    'Whether contract wallets, which have no private key, can log in; ETH_RPC_URL verifies their signatures.',
  ),
  STRIPE_SECRET_KEY: optional(
    secret(text('a secret or restricted key such as sk_live_...', /^(sk|rk)_(live|test)_\w{8,}$/)),
    'The key of the payment processor; enables card payments.',
  ),
  STRIPE_WEBHOOK_SECRETS: optional(
    secret(list(text('a signing secret such as whsec_...', /^whsec_\w{8,}$/), 2)),
    "Secrets that verify the processor's events; two while one is being replaced.",
  ),
  STRIPE_API_BASE: optional(httpsUrl, "Replaces the processor's own API address."),
  CARD_HOLD_BACK_DAYS: withDefault(
    integer(0, 90),
    7,
    'Days until a card payment counts as settled. Part of a payment made before the account has a settled one cannot be spent until it has settled itself. 0 holds nothing back.',
  ),
  CARD_HOLD_BACK_SHARE: withDefault(share, 0.5, 'The share of unsettled card payments that cannot be spent.'),
  CARD_HOLD_BACK_ABOVE_USD: withDefault(microUsd, '20', 'This amount of unsettled card payments can always be spent.'),
  X402_PAY_TO: optional(
    hex(20, 'an address such as 0x...'),
    'The address to which USDC deposits are paid; enables deposits.',
  ),
  X402_ASSET: optional(
    hex(20, 'an address such as 0x...'),
    'The contract of the token. Default: USDC on the chain CHAIN_ID.',
  ),
  X402_FACILITATOR_URL: optional(httpsUrl, 'A facilitator that settles deposits. Set this or X402_FACILITATOR_KEY.'),
  X402_FACILITATOR_TOKEN: optional(
    secret(text('a token without blanks', plainToken)),
    'The bearer token of this service at the facilitator.',
  ),
  X402_FACILITATOR_KEY: optional(
    secret(hex(32, 'a private key of 64 hexadecimal digits')),
    'The private key of a wallet of your own that settles deposits and pays the fees.',
  ),
  RECONCILE_CHECKOUTS_S: withDefault(
    integer(1, 86_400),
    900,
    'Seconds between lookups of card payments for which no event arrived.',
  ),
  RECONCILE_DEPOSITS_S: withDefault(integer(1, 3_600), 60, 'Seconds between lookups of unfinished deposits.'),
  // The maximum of each is well below the time after which the alarm MoneyNotReconciled fires.
  RECONCILE_TRANSFERS_S: withDefault(
    integer(60, 14_400),
    3_600,
    'Seconds between comparisons of all transfers to X402_PAY_TO with deposits.',
  ),
  RECONCILE_MOVEMENTS_S: withDefault(
    integer(60, 108_000),
    86_400,
    "Seconds between comparisons of all movements of the processor's balance with the ledger.",
  ),
  MODELS_REGISTRY_URL: optional(http, 'The public list of models behind /api/models.'),
  TRUST_PROXY: optional(list(network), 'Networks of proxies whose X-Forwarded-For header is trusted.'),
  RATE_LIMITS: optional(rateLimits, 'Overrides individual rate limits.'),
  STREAMS_PER_ACCOUNT: withDefault(
    integer(1, 1_000_000),
    100,
    'How many event streams an account or a read-only key may have open at once.',
  ),
  STREAMS_PER_NETWORK: withDefault(
    integer(1, 1_000_000),
    10,
    'How many event streams callers without credentials may have open at once per network.',
  ),
  ABORTED_SHARES: withDefault(
    abortedShares,
    'broad=0.22,custom=0.12,fast=0.27,strong=0.08',
    'For each preset and for custom panels: the share of the provider cost that is for calls aborted when polls stop. List prices include it.',
  ),
  PAYMENT_FEE_SHARE: withDefault(
    shareBelow(0.9),
    '0.059',
    'The share of a payment that its processor keeps; list prices include it. The default is 2.9 % and 30 cents of 10 USD; 0.329 covers the smallest top-up, 1 USD.',
  ),
  FLEX_PRICE_PPM: withDefault(
    integer(1, 1_000_000),
    850_000,
    'The price of a flex poll in millionths of the standard list price. It is never less than the provider cost plus the payment fee.',
  ),
  FREE_DAILY_CAP_USD: withDefault(microUsd, '5', 'Maximum cost of all free polls per UTC day; 0 disables free polls.'),
  AUDIT_RATE: withDefault(
    share,
    0,
    'The share of questions that are audited (the remaining models are asked after the answer) while their panel has few audits; 0 switches audits off. Of polls with the same question of an account only the first is audited.',
  ),
  AUDIT_LATER_RATE: withDefault(
    share,
    0.05,
    'The share of questions that are audited once their panel has AUDIT_RATE_UNTIL audits; at most AUDIT_RATE.',
  ),
  AUDIT_RATE_UNTIL: withDefault(
    integer(0, 1_000_000),
    500,
    'The number of audits from which AUDIT_LATER_RATE applies to a panel.',
  ),
  AUDIT_GATE: withDefault(
    integer(1, 1_000_000),
    300,
    'How many audits a panel needs, besides a certificate, before its cheapest models are asked first.',
  ),
  MAX_RUNNING_POLLS: withDefault(integer(1, 100_000), 500, 'How many polls of one account may run or wait at once.'),
  MAX_RUNNING_POLLS_PER_KEY: withDefault(
    integer(1, 100_000),
    250,
    'How many polls of one API key may run or wait at once.',
  ),
  MAX_RUNNING_FLEX_POLLS: withDefault(
    integer(1, 1_000_000),
    5_000,
    'How many flex polls of one account may run or wait at once, in addition to standard polls. Polls of batches do not count.',
  ),
  RETENTION_DAYS: withDefault(
    integer(1, 3_650),
    365,
    'How many days polls and results are kept. A poll can set a shorter time with expires_in.',
  ),
  MAX_QUEUE_SHARE: withDefault(
    share,
    0.5,
    'A poll is refused if it would wait in the queue for longer than this share of its deadline.',
  ),
  MAX_RUNNING_FREE_POLLS: withDefault(
    integer(1, 100_000),
    60,
    'How many polls of callers without credentials may run or wait at once per network.',
  ),
  CONTENT_SIGNAL: withDefault(
    contentSignal,
    CONTENT_SIGNAL,
    'What search engines and AI may use published documents for.',
  ),
  CONTACT_EMAIL: optional(
    text('an e-mail address', /^[^\s@<>"]+@[^\s@<>"]+$/),
    'The contact address on published pages. Default: support@ and the host of BASE_URL.',
  ),
  LOG_SAMPLE: withDefault(share, 1, 'The share of successful requests that are logged.'),
  ADMIN_TOKEN: optional(
    secret(text('at least 16 plain characters without blanks', /^[\x21-\x7e]{16,}$/)),
    'The password of the console on the ops port. Without it there is no console.',
  ),
  DRAIN_DELAY_MS: withDefault(
    integer(0, 60_000),
    0,
    'Milliseconds after SIGTERM in which the gateway is not ready but still serves requests.',
  ),
  DRAIN_MS: withDefault(
    integer(500, 300_000),
    20_000,
    'Milliseconds after DRAIN_DELAY_MS in which open requests can finish.',
  ),
} as const;

export type GatewayValues = Values<typeof GATEWAY_SETTINGS>;
