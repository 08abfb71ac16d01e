import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mastersOf, openBus } from '@eloquentpoll/bus';
import { PRODUCT } from '@eloquentpoll/identity-provider/client';
import { root } from '@eloquentpoll/launch/folders';
import { asRole, createDatabase, createRole, queryOnce } from '@eloquentpoll/services/databases';
import { freePort } from '@eloquentpoll/services/free-port';
import { readJson } from '@eloquentpoll/services/json';
import type { ProcessGroup } from '@eloquentpoll/services/process-group';
import { type Prometheus, startPrometheus } from '@eloquentpoll/services/prometheus';
import { deleteKeys } from '@eloquentpoll/services/redis-keys';
import { newSecret } from '@eloquentpoll/services/secret';
import { APP_ROLES, GATEWAY_ROLE, migrate, roleTimeouts, WORKER_ROLE } from '@eloquentpoll/storage';
import { Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { parse } from 'yaml';
import { KEY_PEPPER } from '../fixture/accounts.ts';
import { startModule } from '../fixture/modules.ts';
import { NO_RATE_LIMITS } from '../fixture/no-rate-limits.ts';
import { usualModels } from '../fixture/usual-models.ts';
import type { RecordedQuestions } from './recorded-questions.ts';
import { startWatched, type WatchedProcess } from './watched-process.ts';

// The product as `npm start` runs it, with two gateways and two workers: separate Postgres roles, Redis with its log on
// disk, the identity provider, simulated models with play money, and a real Prometheus with our own rules.

export interface DayServers {
  /** As superuser. */
  databaseUrl: string;
  redisUrl: string;
  /** Folder of the bundled product; without it, the sources are run. */
  bundles?: string | undefined;
}

export interface DayService {
  readonly gateways: readonly string[];
  readonly processes: readonly WatchedProcess[];
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPrefix: string;
  readonly simulatorUrl: string;
  /** Null if alarms are not wanted. */
  readonly prometheus: Prometheus | null;
}

export interface DayServiceOptions {
  group: ProcessGroup;
  servers: DayServers;
  questions: RecordedQuestions;
  seed: string;
  /** 0: no Prometheus. */
  scrapeEveryS: number;
  instances: number;
}

/** Now and then a model fails, is slow, or gives an unusable answer. */
const USUAL_FAILURES = [
  { kind: 'status', status: 500, rate: 0.004 },
  { kind: 'status', status: 429, retry_after_s: 1, rate: 0.004 },
  { kind: 'reset', rate: 0.002 },
  { kind: 'refusal', rate: 0.003 },
  { kind: 'prose', rate: 0.003 },
  { kind: 'late', delay_ms: 4_000, rate: 0.002 },
];

export async function startDayService(options: DayServiceOptions): Promise<DayService & AsyncDisposable> {
  const { group, servers, seed } = options;
  const { bundles } = servers;
  await using made = new AsyncDisposableStack();
  const database = made.use(await createDatabase(servers.databaseUrl, { prefix: 'ep_day' }));
  for (const role of APP_ROLES) await createRole(servers.databaseUrl, role);
  await queryOnce(servers.databaseUrl, roleTimeouts.join('; '));
  await migrate(database.url);

  const votes = join(group.folder, 'day-votes.csv');
  const behaviour = join(group.folder, 'day-simulator.json');
  await writeFile(votes, options.questions.file);
  const models = { '*': { failures: USUAL_FAILURES }, ...usualModels() };
  await writeFile(behaviour, JSON.stringify({ seed, votes_file: votes, models, call_log_size: 100_000 }));
  const simulator = await startModule(group, 'simulator', '@eloquentpoll/simulator/main', {
    SIMULATOR_CONFIG: behaviour,
  });
  const simulatorUrl = String(simulator.ready.url);

  const ports = await Promise.all(Array.from({ length: options.instances }, () => freePort()));
  const baseUrl = `http://localhost:${ports[0]}`;
  const clientSecret = newSecret();
  const login = await startModule(group, 'id-provider', '@eloquentpoll/identity-provider/main', {
    ...{ HOST: '127.0.0.1', PORT: '0', BASE_URL: baseUrl, FOLDER: group.folder, CLIENT_SECRET: clientSecret },
  });

  const redisPrefix = database.name.replaceAll('_', '');
  const common = {
    BASE_URL: baseUrl,
    REDIS_URL: servers.redisUrl,
    REDIS_PREFIX: redisPrefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: `${simulatorUrl}/v1`,
    OPS_PORT: '0',
    WEBHOOK_SEALING_KEYS: newSecret(),
    WEBHOOKS_TO_LOOPBACK: 'on',
  };
  const gatewayEnv = {
    ...common,
    DATABASE_URL: asRole(database.url, GATEWAY_ROLE),
    KEY_PEPPER,
    COOKIE_SECRETS: newSecret(),
    RECEIPT_SIGNING_KEY: newSecret(),
    MODELS_REGISTRY_URL: `${simulatorUrl}/registry/models`,
    OIDC_ISSUER: String(login.ready.url),
    OIDC_NAME: 'the demo login',
    OIDC_CLIENT_ID: PRODUCT,
    OIDC_CLIENT_SECRET: clientSecret,
    ...playMoney(simulatorUrl, simulator.ready.play_money),
    // call.ts says from which network a person without an account asks.
    TRUST_PROXY: '127.0.0.1/32',
    // All others share one network here, so limits per network would be reached at once.
    RATE_LIMITS: NO_RATE_LIMITS,
    STREAMS_PER_NETWORK: '1000',
    FREE_DAILY_CAP_USD: '1000',
    AUDIT_RATE: '0.05',
  };
  const workerEnv = {
    ...common,
    DATABASE_URL: asRole(database.url, WORKER_ROLE),
    // As our manifests set it. With fewer, polls wait in the rush hour while the machine is idle.
    WORKER_CONCURRENCY: '200',
    AUDIT_DAILY_CAP_USD: '100',
  };
  const processes = await Promise.all(
    ports.flatMap((port, i) => [
      startWatched(group, { name: `worker-${i + 1}`, role: 'worker', stage: 2, bundles }, workerEnv),
      startWatched(
        group,
        { name: `gateway-${i + 1}`, role: 'gateway', stage: 1, bundles },
        { ...gatewayEnv, PORT: `${port}` },
      ),
    ]),
  );
  const prometheus =
    options.scrapeEveryS === 0
      ? null
      : await startPrometheus({
          group,
          stage: 0,
          scrapeEveryS: options.scrapeEveryS,
          rules: JSON.stringify(alarmRules()),
          targets: processes.map(({ name, role, app }) => ({
            url: String(app.ready.ops_url),
            labels: { job: role, pod: name },
          })),
        });
  const bus = made.use(await openBus({ redisUrl: servers.redisUrl, prefix: redisPrefix }));
  made.defer(() => deleteKeys(bus.redis, `*${redisPrefix}*`, mastersOf(bus.redis)));
  // The stores are stopped after the apps; otherwise each app would log that its stores are down.
  made.defer(async () => {
    for (const { app } of processes) app.signal('SIGTERM');
    await Promise.all(processes.map(({ app }) => app.ended));
  });
  const kept = made.move();
  return {
    gateways: processes
      .filter(({ role }) => role === 'gateway')
      .map(({ app }) => `http://localhost:${String(app.ready.port)}`),
    processes,
    databaseUrl: database.url,
    redisUrl: servers.redisUrl,
    redisPrefix,
    simulatorUrl,
    prometheus,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

const RuleFile = Type.Object({ spec: Type.Object({ groups: Type.Array(Type.Unknown()) }) });

/** The deployed rules, without their Kubernetes wrapper. */
function alarmRules(): unknown {
  const text = readFileSync(join(root, 'infra/monitoring/prometheus-rule.yaml'), 'utf8');
  return { groups: readJson(RuleFile, JSON.stringify(parse(text))).spec.groups };
}

const PlayMoney = Type.Object({ chain_id: Type.Integer(), token: Type.String(), pay_to: Type.String() });

function playMoney(url: string, said: unknown): Record<string, string> {
  if (!Value.Check(PlayMoney, said)) throw new Error('the simulator did not say how it takes play money');
  const { chain_id, token, pay_to } = said;
  return {
    CHAIN_ID: `${chain_id}`,
    ETH_RPC_URL: `${url}/chain`,
    X402_ASSET: token,
    X402_PAY_TO: pay_to,
    X402_FACILITATOR_URL: `${url}/facilitator`,
    STRIPE_SECRET_KEY: 'sk_test_playmoney',
    STRIPE_WEBHOOK_SECRETS: `whsec_${newSecret()}`,
    STRIPE_API_BASE: url,
    CARD_HOLD_BACK_DAYS: '0',
  };
}
