import { randomUUID } from 'node:crypto';
import { apiKeyPrefix, hashApiKey, newApiKey } from '@eloquentpoll/gateway/api-key';
import { buildApp } from '@eloquentpoll/gateway/app';
import { readConfig as readGatewayConfig } from '@eloquentpoll/gateway/config';
import { openContext as openGateway } from '@eloquentpoll/gateway/context';
import { buildSimulator, parseRecordedVotes, type SimulatorOptions } from '@eloquentpoll/simulator/app';
import { createAccount, creditAccount, insertKey } from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { testRedis } from '@eloquentpoll/testkit/redis';
import { readConfig } from '@eloquentpoll/worker/config';
import { openContext as openWorker } from '@eloquentpoll/worker/context';
import { servePolls } from '@eloquentpoll/worker/serve-polls';
import type { Test } from 'tap';

/** The models of the simulator's `fast` panel, in the order in which recorded votes name them. */
export const JURY = ['acorn-mini', 'birch-flash', 'dune-quick', 'fjord-small', 'ember-8b'];

/** Generous: a crowded machine must not look like a fault. */
const STORE_LIMIT_MS = 5_000;

/** Question number and what each of the jury says, `-` for a model that refuses. */
export type Recorded = Record<number, string>;

/** Gateway, worker and simulator as in production, in one process, on a database and a corner of Redis of their own. */
export async function wholeService(
  t: Test,
  recorded: Recorded,
  options: SimulatorOptions = {},
  more: Record<string, string> = {},
) {
  const rows = Object.entries(recorded).map(([id, votes]) => `${id},test,10,A,${votes}`);
  const file = [`# column order: ${JURY.join(',')}`, 'question_id,category,k,answer,votes', ...rows].join('\n');
  const simulator = buildSimulator({ latencyScale: 0, recordedVotes: parseRecordedVotes(file), ...options });
  const address = await simulator.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => simulator.close());

  const { url: redisUrl, prefix } = testRedis(t);
  const settings = {
    DATABASE_URL: await testDatabase(t),
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    KEY_PEPPER: 'a pepper of at least 32 characters',
    BASE_URL: 'http://localhost:8080',
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: `${address}/v1`,
    LOG_LEVEL: 'silent',
    ...more,
  };
  const worker = await openWorker({
    ...readConfig(settings),
    databaseConnectTimeoutMs: STORE_LIMIT_MS,
    redisCommandTimeoutMs: STORE_LIMIT_MS,
  });
  t.teardown(() => worker[Symbol.asyncDispose]());
  const consumer = servePolls(worker, { concurrency: 20, flex: { concurrency: 5, reserved: 1 } });
  t.teardown(() => consumer.drain(1_000));
  const { database, redis, ...config } = readGatewayConfig(settings);
  const gateway = await openGateway({
    ...config,
    database: { ...database, connectTimeoutMs: STORE_LIMIT_MS, askAgainForMs: STORE_LIMIT_MS },
    redis: { ...redis, commandTimeoutMs: STORE_LIMIT_MS },
  });
  t.teardown(() => gateway[Symbol.asyncDispose]());
  const app = buildApp(gateway);
  t.teardown(() => app.close());
  await Promise.all([app.ready(), consumer.ready()]);

  const accountId = await createAccount(gateway.storage);
  await creditAccount(gateway.storage, { accountId, amountU: 10_000_000n, source: 'operator', idem: randomUUID() });
  const key = newApiKey();
  const hash = hashApiKey(settings.KEY_PEPPER, key);
  await insertKey(gateway.storage, { accountId, hash, prefix: apiKeyPrefix(key) });
  const headers = { authorization: `Bearer ${key}` };
  return { app, gateway, worker, settings, accountId, headers, simulator };
}
