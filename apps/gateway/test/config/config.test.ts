import t from 'tap';
import { readConfig } from '../../src/config/config.ts';
import { pricePpmOf } from '../../src/config/list-prices.ts';

const GOOD = {
  DATABASE_URL: 'postgres://u:secret@127.0.0.1/db',
  REDIS_URL: 'redis://127.0.0.1',
  KEY_PEPPER: 'x'.repeat(32),
};
const decide = (env: Record<string, string>) => readConfig({ ...GOOD, ...env });

t.test('three settings are enough', (t) => {
  t.match(decide({}), {
    listen: { host: '127.0.0.1', port: 8080 },
    baseUrl: 'http://localhost:8080',
    redis: { prefix: 'ep' },
    wallets: { chainId: 8_453 },
    mcpUserIdBearer: false,
    trustedProxies: { length: 0 },
    freeDailyCapU: 5_000_000n,
    retentionS: 31_536_000,
    maxQueueShare: 0.5,
    maxRunningPolls: { account: 500, key: 250, network: 60 },
    logLevel: 'info',
    gitCommit: null,
  });
  t.match(decide({ MCP_USER_ID_BEARER: 'on' }), { mcpUserIdBearer: true });
  t.match(decide({ BASE_URL: 'https://polls.example/', TRUST_PROXY: '10.0.0.0/8, fd00::/8', PORT: '0' }), {
    baseUrl: 'https://polls.example',
    trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
    listen: { port: 0 },
  });
  t.end();
});

t.test('each setting reaches its own place', (t) => {
  const config = decide({
    HOST: '0.0.0.0',
    CELL: '7',
    DATABASE_POOL: '11',
    DATABASE_REPLICA_URL: 'postgres://127.0.0.2/db',
    DATABASE_REPLICA_MAX_LAG: '12',
    REDIS_PREFIX: 'mine',
    QUEUE_SHARDS: '3',
    COOKIE_SECRETS: `${'n'.repeat(32)},${'o'.repeat(32)}`,
    RECEIPT_SIGNING_KEY: '1'.repeat(64),
    MODELS_REGISTRY_URL: 'https://registry.example/models',
    MCP_ALLOWED_ORIGINS: 'https://app.example',
    CARD_HOLD_BACK_DAYS: '13',
    CARD_HOLD_BACK_SHARE: '0.14',
    CARD_HOLD_BACK_ABOVE_USD: '15',
    RECONCILE_CHECKOUTS_S: '161',
    RECONCILE_DEPOSITS_S: '162',
    RECONCILE_TRANSFERS_S: '163',
    RECONCILE_MOVEMENTS_S: '164',
    RATE_LIMITS: 'deposit=17/170',
    STREAMS_PER_ACCOUNT: '181',
    STREAMS_PER_NETWORK: '182',
    PROVIDER_SPEND_HOUR_USD: '191',
    PROVIDER_SPEND_DAY_USD: '192',
    PROVIDER_SPEND_FREE_SHARE: '0.193',
    WEBHOOK_SEALING_KEYS: 'w'.repeat(32),
    WEBHOOKS_TO_LOOPBACK: 'on',
    FREE_DAILY_CAP_USD: '20',
    AUDIT_RATE: '0.211',
    AUDIT_LATER_RATE: '0.212',
    AUDIT_RATE_UNTIL: '213',
    AUDIT_GATE: '214',
    AUDIT_REFRESH_S: '215',
    MAX_RUNNING_POLLS: '221',
    MAX_RUNNING_POLLS_PER_KEY: '222',
    MAX_RUNNING_FREE_POLLS: '223',
    MAX_RUNNING_FLEX_POLLS: '224',
    RETENTION_DAYS: '23',
    MAX_QUEUE_SHARE: '0.24',
    OPS_HOST: '0.0.0.1',
    OPS_PORT: '9000',
    ADMIN_TOKEN: 'a'.repeat(16),
    LOG_LEVEL: 'error',
    LOG_SAMPLE: '0.25',
    DRAIN_DELAY_MS: '261',
    DRAIN_MS: '2620',
    GIT_COMMIT: '0123456789abcdef',
  });
  t.match(config, {
    cell: '7',
    listen: { host: '0.0.0.0' },
    database: {
      url: GOOD.DATABASE_URL,
      maxConnections: 11,
      replica: { url: 'postgres://127.0.0.2/db', maxLagMs: 12_000 },
    },
    redis: { url: GOOD.REDIS_URL, prefix: 'mine', queueShards: 3 },
    keyPepper: GOOD.KEY_PEPPER,
    cookieSecrets: ['n'.repeat(32), 'o'.repeat(32)],
    models: { registryUrl: 'https://registry.example/models' },
    mcpAllowedOrigins: ['https://app.example'],
    cardHoldBack: { days: 13, share: 0.14, freeU: 15_000_000n },
    reconcile: { checkoutsS: 161, depositsS: 162, transfersS: 163, movementsS: 164 },
    rateLimits: { deposit: { windows: [{ limit: 17, seconds: 170 }] }, poll: { windows: [{ limit: 1_000 }] } },
    streams: { perAccount: 181, perNetwork: 182 },
    providerSpend: { hourU: 191_000_000n, dayU: 192_000_000n, freeShare: 0.193 },
    webhooks: { sealingKeys: ['w'.repeat(32)], toLoopback: true },
    freeDailyCapU: 20_000_000n,
    audits: { rate: 0.211, laterRate: 0.211, rateUntil: 213, gate: 214, refreshMs: 215_000 },
    maxRunningPolls: { account: 221, key: 222, network: 223 },
    maxRunningFlexPolls: 224,
    retentionS: 23 * 86_400,
    maxQueueShare: 0.24,
    ops: { host: '0.0.0.1', port: 9_000 },
    adminToken: 'a'.repeat(16),
    logLevel: 'error',
    logSample: 0.25,
    drain: { delayMs: 261, withinMs: 2_620 },
    gitCommit: '0123456789ab',
  });
  t.same(config.receipts, { key: Buffer.alloc(32, 0x11), pastKeys: [] });
  t.same(
    decide({}).cookieSecrets,
    [GOOD.KEY_PEPPER],
    'without secrets of their own cookies are sealed from the pepper',
  );
  t.end();
});

t.test('money is read to the last digit', (t) => {
  for (const [text, cap] of [
    ['0', 0n],
    ['2.50', 2_500_000n],
    ['0.000001', 1n],
    ['999999.999999', 999_999_999_999n],
  ] as const)
    t.equal(decide({ FREE_DAILY_CAP_USD: text }).freeDailyCapU, cap, text);
  t.end();
});

t.test(
  'a list price carries the stopped calls of its own panel, and a named panel has them where it is set apart',
  (t) => {
    const priceOf = (panel_name: 'broad' | 'strong' | 'custom', env: Record<string, string> = {}) =>
      pricePpmOf(decide({ PAYMENT_FEE_SHARE: '0', ...env }), { panel_name });
    const together = { ABORTED_SHARES: 'broad=0.2,fast=0.5,strong=0' };
    t.same(
      [priceOf('broad', together), priceOf('strong', together), priceOf('custom', together)],
      [1_250_000, 1_000_000, 1_250_000],
    );
    const apart = { ABORTED_SHARES: 'broad=0.2,custom=0.5,fast=0.5,strong=0' };
    t.same([priceOf('broad', apart), priceOf('custom', apart)], [1_250_000, 2_000_000]);
    // As measured in decision 0021: what is billed for the calls that answered covers those that were stopped.
    for (const [panel, stopped] of [
      ['broad', 0.212],
      ['strong', 0.073],
      ['custom', 0.097],
    ] as const)
      t.ok((priceOf(panel) / 1e6) * (1 - stopped) >= 1, panel);
    for (const wrong of [
      'broad=0.2,fast=0.5',
      'broad=0.2,fast=0.5,strong=0,other=0.1',
      'broad=0.2,fast=0.5,strong=0,custom=1',
    ])
      t.throws(() => decide({ ABORTED_SHARES: wrong }), /ABORTED_SHARES/, wrong);
    t.end();
  },
);

const LOGIN = { OIDC_ISSUER: 'https://id.example/', OIDC_CLIENT_ID: 'polls', OIDC_CLIENT_SECRET: 'a secret' };

t.test('an identity provider is three settings or none', (t) => {
  t.equal(decide({}).identityProvider, null);
  const login = { issuer: 'https://id.example/', name: 'id.example', clientId: 'polls', clientSecret: 'a secret' };
  t.same(decide(LOGIN).identityProvider, login, 'the issuer is kept as it was written');
  t.equal(decide({ ...LOGIN, OIDC_NAME: 'Example ID' }).identityProvider?.name, 'Example ID');
  t.ok(decide({ ...LOGIN, OIDC_ISSUER: 'http://localhost:9000' }).identityProvider);
  t.ok(decide({ ...LOGIN, BASE_URL: 'https://polls.example', NODE_ENV: 'production' }).identityProvider);
  t.end();
});

t.test("what documents say about themselves is the operator's to choose", (t) => {
  t.match(decide({ BASE_URL: 'https://polls.example' }), {
    contentSignal: 'search=yes, ai-input=yes, ai-train=no',
    contactEmail: 'support@polls.example',
  });
  t.match(decide({ CONTENT_SIGNAL: 'ai-train=yes,search = no', CONTACT_EMAIL: 'a@b.example' }), {
    contentSignal: 'ai-train=yes, search=no',
    contactEmail: 'a@b.example',
  });
  t.end();
});

const NODES = { ETH_RPC_URL: 'https://node.example' };

t.test('contract wallets are off until a setting of their own switches them on', (t) => {
  t.match(decide(NODES).wallets, { chainId: 8_453, contractNodes: { length: 0 } });
  const on = { ...NODES, CONTRACT_WALLETS: 'on' };
  t.same(decide(on).wallets.contractNodes, ['https://node.example']);
  const both = { ...on, ETH_RPC_SECOND_URL: 'https://other.example' };
  t.same(decide(both).wallets.contractNodes, ['https://node.example', 'https://other.example']);
  const local = { CONTRACT_WALLETS: 'on', ETH_RPC_URL: 'http://127.0.0.1:8545', NODE_ENV: 'production' };
  t.same(decide({ ...local, BASE_URL: 'https://polls.example' }).wallets.contractNodes, ['http://127.0.0.1:8545']);
  t.end();
});

t.test('in production models are asked by https, on this machine, or are the simulator', (t) => {
  const production = { BASE_URL: 'https://polls.example', NODE_ENV: 'production' };
  for (const MODELS_BASE_URL of ['https://models.example/v1', 'http://127.0.0.1:8090/v1', 'http://[::1]:8090/v1'])
    t.equal(decide({ ...production, MODELS_BASE_URL }).models.baseUrl, MODELS_BASE_URL);
  const simulator = { MODELS_FILE: 'simulator', MODELS_BASE_URL: 'http://simulator:8081/v1' };
  t.equal(decide({ ...production, ...simulator }).models.httpsOnly, true);
  t.equal(decide({ MODELS_BASE_URL: 'http://models.example/v1' }).models.httpsOnly, false, 'elsewhere as one likes');
  t.end();
});

const WRONG: [Record<string, string>, string][] = [
  [{ CONTENT_SIGNAL: 'ai-train=maybe' }, 'CONTENT_SIGNAL'],
  [{ CONTENT_SIGNAL: 'ai-train=yes, ai-train=no' }, 'CONTENT_SIGNAL'],
  [{ CONTENT_SIGNAL: 'archive=yes' }, 'CONTENT_SIGNAL'],
  [{ CONTENT_SIGNAL: 'search=yes\nX: y' }, 'CONTENT_SIGNAL'],
  [{ CONTACT_EMAIL: 'no-address' }, 'CONTACT_EMAIL'],
  [{ DATABASE_URL: '' }, 'DATABASE_URL'],
  [{ DATABASE_URL: 'mysql://u:secret@h/db' }, 'DATABASE_URL'],
  [{ REDIS_URL: '' }, 'REDIS_URL'],
  [{ REDIS_URL: 'localhost:6379' }, 'REDIS_URL'],
  [{ REDIS_PREFIX: 'a:b' }, 'REDIS_PREFIX'],
  [{ KEY_PEPPER: '' }, 'KEY_PEPPER'],
  [{ KEY_PEPPER: 'short secret' }, 'KEY_PEPPER'],
  [{ PORT: '80 80' }, 'PORT'],
  [{ PORT: '65536' }, 'PORT'],
  [{ PORT: '-1' }, 'PORT'],
  [{ PORT: '0' }, 'BASE_URL'],
  [{ BASE_URL: 'ftp://x' }, 'BASE_URL'],
  [{ BASE_URL: 'https://polls.example/api' }, 'BASE_URL'],
  [{ BASE_URL: 'http://polls.example', NODE_ENV: 'production' }, 'BASE_URL'],
  [{ DATABASE_POOL: '0' }, 'DATABASE_POOL'],
  [{ MODELS_BASE_URL: 'sim' }, 'MODELS_BASE_URL'],
  [{ MODELS_REGISTRY_URL: 'registry.example/models?key=secret' }, 'MODELS_REGISTRY_URL'],
  ...['MODELS_BASE_URL', 'MODELS_REGISTRY_URL'].map((name): [Record<string, string>, string] => [
    { [name]: 'http://u:secret@models.example/v1', BASE_URL: 'https://polls.example', NODE_ENV: 'production' },
    name,
  ]),
  [{ ...LOGIN, OIDC_ISSUER: '' }, 'OIDC_ISSUER'],
  [{ ...LOGIN, OIDC_CLIENT_ID: '' }, 'OIDC_CLIENT_ID'],
  [{ ...LOGIN, OIDC_CLIENT_SECRET: '' }, 'OIDC_CLIENT_SECRET'],
  [{ ...LOGIN, OIDC_ISSUER: 'id.example' }, 'OIDC_ISSUER'],
  [{ ...LOGIN, OIDC_ISSUER: 'https://u:secret@id.example' }, 'OIDC_ISSUER'],
  [{ ...LOGIN, OIDC_ISSUER: 'https://id.example?tenant=1' }, 'OIDC_ISSUER'],
  [{ ...LOGIN, OIDC_ISSUER: 'http://id.example' }, 'OIDC_ISSUER'],
  ...['http://id.example', 'http://localhost:9000', 'https://localhost:9000', 'https://127.0.0.1', 'https://[::1]'].map(
    (issuer): [Record<string, string>, string] => [
      { ...LOGIN, OIDC_ISSUER: issuer, BASE_URL: 'https://polls.example', NODE_ENV: 'production' },
      'OIDC_ISSUER',
    ],
  ),
  [{ CHAIN_ID: '0x2105' }, 'CHAIN_ID'],
  [{ CHAIN_ID: '0' }, 'CHAIN_ID'],
  [{ ETH_RPC_URL: 'wss://u:secret@node.example' }, 'ETH_RPC_URL'],
  [{ ETH_RPC_URL: 'http://node.example', NODE_ENV: 'production' }, 'ETH_RPC_URL'],
  [{ CONTRACT_WALLETS: 'on' }, 'ETH_RPC_URL'],
  [{ CONTRACT_WALLETS: 'yes' }, 'CONTRACT_WALLETS'],
  [{ ...NODES, ETH_RPC_SECOND_URL: 'http://other.example', NODE_ENV: 'production' }, 'ETH_RPC_SECOND_URL'],
  [{ ...NODES, ETH_RPC_SECOND_URL: 'https://node.example/secret' }, 'ETH_RPC_SECOND_URL'],
  ...['-1', '1e3', '$5', '0.0000001', '5 USD', '1000000'].map((usd): [Record<string, string>, string] => [
    { FREE_DAILY_CAP_USD: usd },
    'FREE_DAILY_CAP_USD',
  ]),
  [{ MCP_USER_ID_BEARER: 'true' }, 'MCP_USER_ID_BEARER'],
  [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
  [{ GIT_COMMIT: 'main' }, 'GIT_COMMIT'],
  ...['true', '1', '10.0.0.1', '0.0.0.0/0', '10.0.0.0/33', '10.0.0.0/8/8', 'loopback', '10.0.0.0/8,'].map(
    (list): [Record<string, string>, string] => [{ TRUST_PROXY: list }, 'TRUST_PROXY'],
  ),
];

t.test('[§I2-setting-named] a wrong setting is one line that names the variable and repeats no secret', (t) => {
  for (const [env, name] of WRONG) {
    try {
      decide(env);
      t.fail(`${JSON.stringify(env)} was accepted`);
    } catch (error) {
      const message = error instanceof Error ? error.message : '';
      t.ok(message.startsWith(`${name}: `), message);
      t.notMatch(message, /secret|\n/);
    }
  }
  t.end();
});
