import t from 'tap';
import { readConfig } from '../src/config.ts';

const GOOD = { DATABASE_URL: 'postgres://u:secret@127.0.0.1/db', REDIS_URL: 'redis://127.0.0.1' };
const decide = (env: Record<string, string>) => readConfig({ ...GOOD, ...env });

t.test('two settings are enough', (t) => {
  t.match(decide({}), {
    databasePool: 10,
    redisPrefix: 'ep',
    queueShards: 1,
    modelsFile: undefined,
    modelsBaseUrl: undefined,
    modelsHttpsOnly: false,
    concurrency: 50,
    reserved: 10,
    flex: { concurrency: 25, reserved: 5 },
    freeFailures: { atLeastU: 250_000n, sharePpm: 50_000 },
    canariesPerDay: undefined,
    canaryDayCapU: 500_000n,
    audits: { dailyU: 1_000_000n, refreshMs: 60_000 },
    providerSpend: { hourU: null, dayU: null, freeShare: 0.8 },
    readings: true,
    ledgerCheckMs: 60_000,
    ops: null,
    traces: null,
    webhooks: null,
  });
  t.end();
});

t.test('each setting reaches its own place', (t) => {
  const config = decide({
    DATABASE_POOL: '7',
    REDIS_PREFIX: 'mine',
    QUEUE_SHARDS: '3',
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: 'http://127.0.0.1:8081/v1',
    NODE_ENV: 'production',
    SOME_PROVIDER_KEY: 'named by a roster',
    EMPTY_KEY: '',
    WORKER_CONCURRENCY: '41',
    WORKER_FLEX_CONCURRENCY: '21',
    WORKER_RESERVED_SHARE: '0.5',
    WORKER_DRAIN_MS: '1234',
    LOG_LEVEL: 'error',
    FREE_FAILURES_USD: '0.11',
    FREE_FAILURES_SHARE: '0.012',
    CANARIES_PER_DAY: '13',
    CANARY_DAILY_CAP_USD: '0.14',
    AUDIT_DAILY_CAP_USD: '0.15',
    AUDIT_REFRESH_S: '16',
    PROVIDER_SPEND_HOUR_USD: '17',
    PROVIDER_SPEND_DAY_USD: '18',
    PROVIDER_SPEND_FREE_SHARE: '0.19',
    READINGS: 'off',
    LEDGER_CHECK_S: '20',
    OPS_HOST: '0.0.0.0',
    OPS_PORT: '9000',
    GIT_COMMIT: '0123456789abcdef',
    BASE_URL: 'https://polls.example/',
    WEBHOOK_SEALING_KEYS: `${'n'.repeat(32)},${'o'.repeat(32)}`,
    WEBHOOK_CONCURRENCY: '22',
  });
  const { setting, ...rest } = config;
  t.match(rest, {
    databaseUrl: GOOD.DATABASE_URL,
    databasePool: 7,
    redisUrl: GOOD.REDIS_URL,
    redisPrefix: 'mine',
    queueShards: 3,
    modelsFile: 'simulator',
    modelsBaseUrl: 'http://127.0.0.1:8081/v1',
    modelsHttpsOnly: true,
    concurrency: 41,
    reserved: 20,
    flex: { concurrency: 21, reserved: 10 },
    drainMs: 1_234,
    logLevel: 'error',
    freeFailures: { atLeastU: 110_000n, sharePpm: 12_000 },
    canariesPerDay: 13,
    canaryDayCapU: 140_000n,
    audits: { dailyU: 150_000n, refreshMs: 16_000 },
    providerSpend: { hourU: 17_000_000n, dayU: 18_000_000n, freeShare: 0.19 },
    readings: false,
    ledgerCheckMs: 20_000,
    ops: { host: '0.0.0.0', port: 9_000 },
    gitCommit: '0123456789ab',
    webhooks: {
      sealingKeys: ['n'.repeat(32), 'o'.repeat(32)],
      toLoopback: false,
      baseUrl: 'https://polls.example',
      concurrency: 22,
    },
  });
  t.equal(setting('SOME_PROVIDER_KEY'), 'named by a roster');
  t.equal(setting('EMPTY_KEY'), undefined, 'an empty variable is not set');
  t.end();
});

t.test('settings that contradict each other are refused by name', (t) => {
  const keys = { WEBHOOK_SEALING_KEYS: 'n'.repeat(32) };
  for (const [env, name] of [
    [keys, 'BASE_URL'],
    [{ ...keys, WEBHOOKS_TO_LOOPBACK: 'on', NODE_ENV: 'production' }, 'WEBHOOKS_TO_LOOPBACK'],
    [{ NODE_ENV: 'production', MODELS_BASE_URL: 'http://models.example/v1' }, 'MODELS_BASE_URL'],
    [{ WORKER_RESERVED_SHARE: '0.95' }, 'WORKER_RESERVED_SHARE'],
    [{ WORKER_CONCURRENCY: '0' }, 'WORKER_CONCURRENCY'],
  ] as const)
    t.throws(() => decide(env), { message: new RegExp(`^${name}: `) }, name);
  t.end();
});
