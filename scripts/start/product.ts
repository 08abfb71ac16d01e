import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PRODUCT } from '@eloquentpoll/identity-provider/client';
import { LOCAL_EMAIL } from '@eloquentpoll/identity-provider/people';
import { Failure } from '@eloquentpoll/launch/failure';
import type { createSteps } from '@eloquentpoll/launch/steps';
import { runStep } from '@eloquentpoll/launch/steps';
import { isLoopback } from '@eloquentpoll/ops/settings';
import { KEPT_LOG } from '@eloquentpoll/services/copy-postgres';
import { asRole, createRole, databaseOn, queryOnce } from '@eloquentpoll/services/databases';
import { freePort } from '@eloquentpoll/services/free-port';
import { startPgbouncer } from '@eloquentpoll/services/pgbouncer';
import { startPostgres } from '@eloquentpoll/services/postgres';
import type { ProcessGroup, RunningProcess } from '@eloquentpoll/services/process-group';
import { startRedis } from '@eloquentpoll/services/redis';
import { startRedisCluster } from '@eloquentpoll/services/redis-cluster';
import type { RunningApp } from '@eloquentpoll/services/start-app';
import { APP_ROLES, GATEWAY_ROLE, migrate, OtherSchema, roleTimeouts, WORKER_ROLE } from '@eloquentpoll/storage';
import { seedLocalAccount } from '../seed.ts';
import { type AppStarter, startProductApp } from './apps.ts';
import { planLogin } from './login.ts';
import type { ModelPlan } from './models.ts';
import { moneyEnv } from './money.ts';
import { checkPostgres, checkRedis } from './outside-services.ts';
import { loadSecrets, type Secrets, saveSecrets } from './secrets.ts';
import type { StartSettings } from './settings.ts';

// Starts the whole product: services, schema, simulator, worker, gateway and local account, in parallel where possible.
// Stages define the order of shutdown; all grace periods together are under 10 s.

export interface Product {
  url: string;
  apiKey: string;
  accountId: string;
  balanceU: bigint;
  /** The user name for the local identity provider; null if there is none. */
  login: string | null;
  databaseUrl: string;
  redisUrl: string;
  /** Where gateway and worker show metrics and probes. */
  opsUrls: Record<string, string>;
  processes: RunningProcess[];
}

export interface ProductOptions {
  settings: StartSettings;
  models: ModelPlan;
  group: ProcessGroup;
  steps: ReturnType<typeof createSteps>;
  env: NodeJS.ProcessEnv;
  gitCommit: string | null;
  scripts?: Partial<typeof SCRIPTS>;
  stopping: AbortSignal;
  /** A Redis cluster of three masters with a replica each, instead of one server. */
  cluster?: boolean;
  /** A PgBouncer between the apps and Postgres. */
  pooler?: boolean;
  /** A Postgres replica for lists and figures. */
  replica?: boolean;
  /** Replaces the default, which starts each app once. */
  startApp?: AppStarter;
}

const SCRIPTS = {
  gateway: 'apps/gateway/src/main.ts',
  worker: 'apps/worker/src/main.ts',
  simulator: 'apps/simulator/src/main.ts',
  'id-provider': 'apps/identity-provider/src/main.ts',
};
const ENDING = {
  gateway: { stage: 1, grace_ms: 2_500 },
  worker: { stage: 2, grace_ms: 2_000 },
  simulator: { stage: 3, grace_ms: 300 },
  'id-provider': { stage: 3, grace_ms: 300 },
  redis: { stage: 4 },
  pooler: { stage: 4 },
  postgres: { stage: 5 },
};
const GATEWAY_DRAIN_MS = 2_000;
const WORKER_DRAIN_MS = 1_500;
/** Four for each of the three masters. */
const CLUSTER_QUEUE_SHARDS = '12';
const ROLE = 'eloquentpoll';
const SIMULATED_AUDIT_RATE = '0.2';
/** Separate, so that play money and polls of simulated models cannot be used when real models are asked. */
const DATABASES = { real: 'eloquentpoll', simulated: 'eloquentpoll_simulated' };

export async function startProduct(options: ProductOptions): Promise<Product> {
  const { settings, group, models } = options;
  const secrets = loadSecrets(group.folder);
  const processes: RunningProcess[] = [];
  const port = settings.port || (await freePort(settings.host));
  const simulating = models.simulate ? simulated(options, processes) : Promise.resolve(null);
  simulating.catch(() => {});
  const url = settings.baseUrl ?? `http://localhost:${port}`;
  const loginStep = identityProvider(options, url, processes);
  loginStep.catch(() => {});
  const [databases, redisUrl] = await Promise.all([
    database(options, secrets, processes),
    redis(options, secrets, processes),
  ]);
  await runStep(options.steps, 'schema', '', () => broughtUpToDate(databases.owner, settings), schemaSummary);
  const simulator = await simulating;
  const modelsBaseUrl = simulator ? `${simulator.url}/v1` : models.baseUrl;
  const loginEnv = await loginStep;
  const { PORT: _port, HOST: _host, BASE_URL: _baseUrl, ...others } = options.env;
  const env = {
    OPS_PORT: '0',
    ...(options.cluster && { QUEUE_SHARDS: CLUSTER_QUEUE_SHARDS }),
    ...others,
    REDIS_URL: redisUrl,
    KEY_PEPPER: options.env.KEY_PEPPER || secrets.keyPepper,
    COOKIE_SECRETS: options.env.COOKIE_SECRETS || secrets.cookieSecret,
    RECEIPT_SIGNING_KEY: options.env.RECEIPT_SIGNING_KEY || secrets.receiptKey,
    ...webhookEnv(settings, options.env, secrets.webhookKey),
    MODELS_FILE: models.file,
    ...(modelsBaseUrl && { MODELS_BASE_URL: modelsBaseUrl }),
    ...(simulator && { MODELS_REGISTRY_URL: others.MODELS_REGISTRY_URL || `${simulator.url}/registry/models` }),
    // Their audits cost nothing, and without audits /trust and /models have no figures to show.
    ...(simulator && { AUDIT_RATE: others.AUDIT_RATE || SIMULATED_AUDIT_RATE }),
    ...(options.gitCommit && { GIT_COMMIT: options.gitCommit }),
  };
  const place = placeOf(databases.owner, settings);
  const money = simulator ? moneyEnv(settings, options.env, simulator) : {};
  const [account, worker, gateway] = await Promise.all([
    seedLocalAccount(databases.gateway, env.KEY_PEPPER, secrets.accounts?.[place] ?? secrets, loginEnv?.OIDC_ISSUER),
    app(
      options,
      'worker',
      {
        ...env,
        BASE_URL: url,
        DATABASE_URL: databases.worker,
        OPS_PORT: '0',
        WORKER_DRAIN_MS: `${WORKER_DRAIN_MS}`,
      },
      processes,
    ),
    app(
      options,
      'gateway',
      {
        ...env,
        DATABASE_URL: databases.gateway,
        ...(databases.replica && { DATABASE_REPLICA_URL: databases.replica }),
        ...money,
        ...loginEnv,
        ...gatewayEnv(settings, port, url),
      },
      processes,
    ),
  ]);
  const { accountId, apiKey, balanceU } = account;
  const databaseUrl = databases.owner;
  const accounts = { ...secrets.accounts, [place]: { accountId, apiKey } };
  saveSecrets(group.folder, { ...secrets, accountId, apiKey, accounts, url, databaseUrl });
  const opsUrls = opsUrlsOf({ gateway, worker });
  const login = loginEnv && LOCAL_EMAIL;
  return { url, apiKey, accountId, balanceU, login, databaseUrl, redisUrl, opsUrls, processes };
}

/** Names the database, the same at every start. */
const placeOf = (databaseUrl: string, { databaseUrl: given }: StartSettings): string =>
  given === null ? new URL(databaseUrl).pathname.slice(1) : 'DATABASE_URL';

/** Webhook receivers on this machine are allowed only if the service itself is reachable only from this machine. */
const webhookEnv = ({ host }: StartSettings, env: NodeJS.ProcessEnv, key: string) => ({
  WEBHOOK_SEALING_KEYS: env.WEBHOOK_SEALING_KEYS || key,
  WEBHOOKS_TO_LOOPBACK: env.WEBHOOKS_TO_LOOPBACK || (isLoopback(host) && env.NODE_ENV !== 'production' ? 'on' : 'off'),
});

const gatewayEnv = ({ host }: StartSettings, port: number, url: string) => ({
  HOST: host,
  PORT: `${port}`,
  BASE_URL: url,
  DRAIN_MS: `${GATEWAY_DRAIN_MS}`,
});

const opsUrlsOf = (apps: Record<string, RunningApp>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(apps).flatMap(([name, { ready }]) => (ready.ops_url ? [[name, `${ready.ops_url}`]] : [])),
  );

/** Starts a local identity provider if the settings name none. Returns its settings for the gateway. */
async function identityProvider(options: ProductOptions, baseUrl: string, processes: RunningProcess[]) {
  const { local, clientSecret } = planLogin(options.settings, options.env);
  if (!local) return null;
  const { folder } = options.group;
  const env = {
    ...options.env,
    HOST: '127.0.0.1',
    PORT: '0',
    BASE_URL: baseUrl,
    FOLDER: folder,
    CLIENT_SECRET: clientSecret,
  };
  const { ready } = await app(options, 'id-provider', env, processes);
  return {
    OIDC_ISSUER: `${ready.url}`,
    OIDC_NAME: 'the demo login',
    OIDC_CLIENT_ID: PRODUCT,
    OIDC_CLIENT_SECRET: clientSecret,
  };
}

/** Returns what the simulator reported when it was ready. */
async function simulated(options: ProductOptions, processes: RunningProcess[]): Promise<RunningApp['ready']> {
  const { ready } = await app(options, 'simulator', { ...options.env, HOST: '127.0.0.1', PORT: '0' }, processes);
  return ready;
}

function app(
  { steps, group, scripts, stopping, startApp: starter = startProductApp }: ProductOptions,
  name: keyof typeof SCRIPTS,
  env: NodeJS.ProcessEnv,
  processes: RunningProcess[],
): Promise<RunningApp> {
  const spec = { name, script: scripts?.[name] ?? SCRIPTS[name], env, ...ENDING[name] };
  const starting = async () => {
    const running = await starter(group, spec, { show: steps.line, stopping });
    processes.push(running);
    return running;
  };
  return runStep(
    steps,
    name,
    'starting',
    starting,
    ({ pid, ready }) => `${ready.url ?? ''}`.trim() || `process ${pid}`,
  );
}

/** Only the owner may change the schema; the apps' roles have limited grants. */
interface DatabaseUrls {
  owner: string;
  gateway: string;
  worker: string;
  /** The gateway's URL for the replica. */
  replica?: string;
}

async function database(options: ProductOptions, secrets: Secrets, processes: RunningProcess[]): Promise<DatabaseUrls> {
  const direct = await postgres(options, secrets, processes);
  const { pooler, settings, steps, group, env } = options;
  if (!pooler || settings.databaseUrl) return direct;
  const { through } = await runStep(
    steps,
    'PgBouncer',
    'starting',
    async () => {
      const { stage } = ENDING.pooler;
      const started = await startPgbouncer({ group, serverUrl: direct.owner, roles: APP_ROLES, stage, env });
      processes.push(started.process);
      return started;
    },
    ({ version, port }) => `${version} at 127.0.0.1:${port}, before Postgres`,
  );
  // The migration holds a session lock, so it bypasses the pooler.
  return { ...direct, gateway: through(direct.gateway), worker: through(direct.worker) };
}

function postgres(
  { settings, models, steps, group, replica }: ProductOptions,
  secrets: Secrets,
  processes: RunningProcess[],
): Promise<DatabaseUrls> {
  const { databaseUrl, migrateDatabaseUrl } = settings;
  if (databaseUrl)
    return runStep(
      steps,
      'Postgres',
      'DATABASE_URL',
      () => checkPostgres(databaseUrl),
      (version) => `${version} at DATABASE_URL`,
    ).then(() => ({ owner: migrateDatabaseUrl ?? databaseUrl, gateway: databaseUrl, worker: databaseUrl }));
  const password = secrets.postgresPassword;
  return runStep(
    steps,
    'Postgres',
    'starting',
    async () => {
      const { stage } = ENDING.postgres;
      const common = { group, password, durable: true, stage, settings: replica ? KEPT_LOG : {} };
      const server = await startPostgres(common);
      processes.push(server.process);
      const urls = await ownDatabase(server.url, DATABASES[models.simulate ? 'simulated' : 'real']);
      const { version } = server;
      if (!replica) return { urls, version };
      // Always a fresh copy: an old one may be too far behind to follow. The product keeps running if the replica ends.
      rmSync(join(group.folder, 'postgres-replica'), { recursive: true, force: true });
      const standby = await startPostgres({ ...common, name: 'postgres-replica', standbyOf: server });
      const of = new URL(urls.gateway);
      of.host = new URL(standby.url).host;
      return { urls: { ...urls, replica: of.href }, version };
    },
    ({ urls, version }) =>
      `${version} at ${new URL(urls.owner).host}${replica ? ' with a replica' : ''}, data in .data`,
  ).then(({ urls }) => urls);
}

function redis(
  { settings, steps, group, env, cluster }: ProductOptions,
  secrets: Secrets,
  processes: RunningProcess[],
) {
  const { redisUrl } = settings;
  if (redisUrl)
    return runStep(
      steps,
      'Redis',
      'REDIS_URL',
      () => checkRedis(redisUrl),
      (version) => `${version} at REDIS_URL`,
    ).then(() => redisUrl);
  const common = { group, password: secrets.redisPassword, durable: true, stage: ENDING.redis.stage, env };
  // A server of a cluster may end; the product keeps running.
  if (cluster)
    return runStep(
      steps,
      'Redis',
      'starting a cluster',
      () => startRedisCluster(common),
      ({ servers, version }) => `${version}, a cluster of ${servers.length} servers, data in .data`,
    ).then(({ url }) => url);
  return runStep(
    steps,
    'Redis',
    'starting',
    async () => {
      const server = await startRedis(common);
      processes.push(server.process);
      return server;
    },
    ({ url, version }) => `${version} at ${new URL(url).host}, data in .data`,
  ).then(({ url }) => url);
}

/** Creates the database, its owner and the roles of the apps; none of them is a superuser. */
async function ownDatabase(superuserUrl: string, name: string): Promise<DatabaseUrls> {
  for (const role of [ROLE, ...APP_ROLES]) await createRole(superuserUrl, role);
  await queryOnce(superuserUrl, roleTimeouts.join('; '));
  const known = await queryOnce(superuserUrl, `select from pg_database where datname = '${name}'`);
  if (known.length === 0) await queryOnce(superuserUrl, `create database ${name} owner ${ROLE}`);
  const url = databaseOn(superuserUrl, name);
  return { owner: asRole(url, ROLE), gateway: asRole(url, GATEWAY_ROLE), worker: asRole(url, WORKER_ROLE) };
}

/** Returns the applied migration steps; fails with one sentence if no step fits the database. */
async function broughtUpToDate(ownerUrl: string, { databaseUrl }: StartSettings): Promise<string[]> {
  try {
    return await migrate(ownerUrl);
  } catch (error) {
    if (!(error instanceof OtherSchema)) throw error;
    const wayOut = databaseUrl ? 'name an empty database in DATABASE_URL' : 'delete the folder .data and start again';
    throw new Failure(`The data cannot be used, because ${error.message}: ${wayOut}.`);
  }
}

function schemaSummary(applied: string[]): string {
  return applied.length === 0 ? 'up to date' : `${applied.length} ${applied.length === 1 ? 'step' : 'steps'} applied`;
}
