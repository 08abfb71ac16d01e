import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { openBus } from '@eloquentpoll/bus';
import { GATEWAY_SETTINGS } from '@eloquentpoll/gateway/settings';
import { root } from '@eloquentpoll/launch/folders';
import { readRedisAddress } from '@eloquentpoll/ops/redis-address';
import { runProgram } from '@eloquentpoll/services/run-program';
import { APP_ROLES } from '@eloquentpoll/storage';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { keysUnder } from '../../packages/bus/src/keys.ts';
import { settingProblems } from './infra/known-settings.ts';
import { kustomize, type Manifest, named, schemaOf } from './infra/manifests.ts';

// slow: 3 s

// The manifests are what Kubernetes, KEDA and the Prometheus operator understand, every name in them exists in the code,
// and every pod is as hardened as the images allow.

const manifests = kustomize('infra/k8s/example');
const base = kustomize('infra/k8s/base');
const withOperators = kustomize('infra/k8s/with-operators');
const workloads = manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job');

t.test('every manifest has what its schema asks for', async (t) => {
  t.ok(base.length >= 17 && manifests.length > base.length);
  for (const manifest of [...base, ...manifests]) {
    const { [manifest.kind]: Kind } = await import(schemaOf(manifest));
    t.doesNotThrow(() => new Kind(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`);
  }
  const { Deployment } = await import('kubernetes-models/apps/v1/Deployment');
  const broken = { ...named(base, 'Deployment', 'worker'), spec: { replicas: 'many' } };
  t.throws(
    () => new Deployment(Object(broken)).validate(),
    /replicas must be integer|required/,
    'and a wrong one is found',
  );
});

t.test('every address that takes a file lets it through: the example Ingress, nginx and the router of cells', (t) => {
  const UPLOADS = ['/api/batches', '/dashboard/batches', '/dashboard/batches/check'];
  const { rules } = named(manifests, 'Ingress', 'gateway-uploads').spec;
  t.same(
    rules[0].http.paths.map(({ path }: { path: string }) => path),
    UPLOADS,
  );
  for (const file of ['infra/nginx/eloquentpoll.conf', 'infra/cells/router.conf']) {
    const text = readFileSync(join(root, file), 'utf8');
    const [, pattern] = /location ~ (\S+) \{\s+client_max_body_size 257m;/.exec(text) ?? [];
    for (const path of UPLOADS) t.match(path, new RegExp(pattern ?? '^$'), `${file}: ${path}`);
    for (const path of ['/api/batches/pb_1', '/dashboard/batches/pb_1', '/api/poll'])
      t.notMatch(path, new RegExp(pattern ?? ''), `${file}: ${path}`);
  }
  t.end();
});

t.test('and nothing that its schema does not know: a misspelt field is a default in production', async (t) => {
  const folder = t.testdir({ node_modules: t.fixture('symlink', join(root, 'scripts/node_modules')) });
  const program = async (all: Manifest[]) => {
    const lines = all.flatMap((manifest, index) => [
      `import type { I${manifest.kind} as T${index} } from '${schemaOf(manifest)}';`,
      `export const m${index}: T${index} = ${JSON.stringify(manifest)};`,
    ]);
    writeFileSync(join(folder, 'manifests.ts'), lines.join('\n'));
    const compilerOptions = { strict: true, noEmit: true, skipLibCheck: true, module: 'nodenext', types: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['manifests.ts'] }));
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    // Without tap's loader, which the compiler's own start does not stand.
    const args = ['-u', 'NODE_OPTIONS', process.execPath, tsc, '-p', folder];
    return runProgram('env', args, { cwd: folder, env: process.env }, 60_000);
  };
  const { ok, output } = await program(manifests);
  t.ok(ok, output);
  const misspelt = structuredClone(named(base, 'Deployment', 'worker'));
  misspelt.spec.template.spec.terminationGracePeriodSecond = 35;
  const result = await program([misspelt]);
  t.notOk(result.ok);
  t.match(result.output, /terminationGracePeriodSecond\b/);
});

t.test('every setting that is set exists in the process that gets it, and every secret is a reference', async (t) => {
  for (const { metadata, spec } of workloads)
    for (const container of spec.template.spec.containers) {
      const app = metadata.name === 'migrate' ? 'operator' : metadata.name;
      for (const { name, value } of container.env) t.same(settingProblems(app, name, value), [], `${app}: ${name}`);
      for (const { configMapRef } of container.envFrom ?? [])
        for (const [name, value] of Object.entries(named(manifests, 'ConfigMap', configMapRef.name).data ?? {}))
          t.same(settingProblems('gateway', name, value), [], `gateway: ${name}`);
    }
});

t.test('every container runs unprivileged, read-only, without capabilities, with a bound on memory', async (t) => {
  t.equal(workloads.length, 3);
  for (const { metadata, spec } of workloads) {
    const pod = spec.template.spec;
    t.match(pod.securityContext, { runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } });
    t.equal(pod.automountServiceAccountToken, false);
    for (const container of pod.containers) {
      t.same(
        container.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
        metadata.name,
      );
      t.ok(container.resources.limits.memory && container.resources.requests.cpu);
    }
  }
});

t.test('why a migration failed can be read after its last attempt, as the page says', async (t) => {
  const { spec } = named(manifests, 'Job', 'migrate');
  t.equal(spec.template.spec.restartPolicy, 'Never', 'Kubernetes deletes a pod that it restarts, and its log');
  t.equal(spec.backoffLimit, 6, 'seven attempts');
  t.ok(spec.ttlSecondsAfterFinished >= 3_600);
  const page = readFileSync(join(root, 'infra/upgrades.md'), 'utf8');
  const [, key = '', value = ''] = /logs -l (\S+)=(\w+) --prefix/.exec(page) ?? [];
  t.equal(spec.template.metadata.labels[key], value);
  t.match(page, 'at most seven');
});

t.test('a pod is given every file of its secret, as a URL may name one beside it', async (t) => {
  for (const { metadata, spec } of workloads) {
    const [{ secret }] = spec.template.spec.volumes;
    t.match(secret.secretName, `eloquentpoll-${metadata.name}`);
    t.equal(secret.items, undefined, metadata.name);
  }
});

/** The cluster's `restricted`: of a pod, what it and its container are given together. */
const checkRestricted = (t: Test, pod: Manifest['spec'], container: Manifest['spec'], name: string): void => {
  t.equal(container?.runAsNonRoot ?? pod?.runAsNonRoot, true, `${name} does not run as root`);
  t.equal((container?.seccompProfile ?? pod?.seccompProfile)?.type, 'RuntimeDefault', `${name} has a profile`);
  t.equal(container?.allowPrivilegeEscalation, false, `${name} gets no more privileges`);
  t.same(container?.capabilities, { drop: ['ALL'] }, `${name} has no capabilities`);
};

t.test('the namespace takes every pod that the manifests bring, those of the Redis operator too', async (t) => {
  const all = withOperators;
  const [namespace] = all.filter(({ kind }) => kind === 'Namespace');
  t.equal(namespace?.metadata.labels?.['pod-security.kubernetes.io/enforce'], 'restricted');
  // Poolers have a template too, whose security is CloudNativePG's.
  const pods = all.filter(
    ({ apiVersion, spec }) => spec?.template?.spec && !apiVersion.startsWith('postgresql.cnpg.io/'),
  );
  t.same(pods.map(({ metadata }) => metadata.name).toSorted(), ['gateway', 'migrate', 'worker']);
  for (const { metadata, spec } of pods) {
    const { securityContext, containers, initContainers = [] } = spec.template.spec;
    for (const container of [...containers, ...initContainers])
      checkRestricted(t, securityContext, container.securityContext, `${metadata.name}: ${container.name}`);
  }
  const clusters = all.filter(({ apiVersion }) => apiVersion.startsWith('redis.redis.opstreelabs.in/'));
  t.equal(clusters.length, 1);
  for (const { spec } of clusters) {
    const parts = [
      'redisLeader',
      'redisFollower',
      'initContainer',
      ...('redisExporter' in spec ? ['redisExporter'] : []),
    ];
    for (const part of parts) checkRestricted(t, spec.podSecurityContext, spec[part].securityContext, part);
    for (const { name, securityContext } of spec.sidecars ?? [])
      checkRestricted(t, spec.podSecurityContext, securityContext, name);
  }
});

t.test('a process is asked where it answers, and has longer to leave than it takes', async (t) => {
  for (const name of ['gateway', 'worker']) {
    const { spec } = named(manifests, 'Deployment', name);
    const [container] = spec.template.spec.containers;
    t.equal(container.readinessProbe.httpGet.path, '/readyz');
    t.equal(container.livenessProbe.httpGet.path, '/livez');
    t.match(container.ports.at(-1), { name: 'ops', containerPort: 9464 });
    const drains = container.env.filter(({ name }: { name: string }) => name.includes('DRAIN'));
    const drained_ms = drains.reduce((sum: number, { value }: { value: string }) => sum + Number(value), 0);
    t.ok(drained_ms >= 20_000 && spec.template.spec.terminationGracePeriodSeconds * 1_000 > drained_ms + 5_000);
    t.equal(spec.replicas, undefined, 'an apply does not undo the autoscaler');
    t.same(
      spec.template.spec.topologySpreadConstraints.map(({ topologyKey }: { topologyKey: string }) => topologyKey),
      ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'],
      'the loss of a zone or of a node leaves some',
    );
    t.equal(
      named(manifests, 'PodDisruptionBudget', name).spec.selector.matchLabels['app.kubernetes.io/component'],
      name,
    );
  }
});

t.test('KEDA looks at the queue that workers take from', async (t) => {
  const { spec } = named(manifests, 'ScaledObject', 'worker');
  const list = spec.triggers.find(({ type }: { type: string }) => type === 'redis').metadata;
  const { url: redisUrl, prefix } = testRedis(t);
  await using bus = await openBus({ redisUrl, prefix });
  await bus.enqueuePoll('ps_waits');
  const { waiting } = keysUnder(prefix).shard('standard', 0);
  t.equal(await bus.redis.zcard(waiting), 1);
  t.equal(list.listName, keysUnder('ep').shard('standard', 0).waiting);
  const [worker] = named(manifests, 'Deployment', 'worker').spec.template.spec.containers;
  const slots = Number(worker.env.find(({ name }: { name: string }) => name === 'WORKER_CONCURRENCY').value);
  for (const { metadata } of spec.triggers)
    t.equal(
      Number(metadata.threshold ?? metadata.listLength),
      slots * 0.7,
      'a worker is 70 % full when the next comes',
    );
});

t.test('at their most, in a release, processes have no more connections than Postgres or a pooler takes', async (t) => {
  const auditor = readFileSync(join(root, 'apps/worker/src/ops/ledger-watch.ts'), 'utf8');
  const auditors = Number(/maxConnections: (\d+)/.exec(auditor)?.[1]);
  t.equal(auditors, 2);
  function connectionsOf(all: Manifest[]) {
    const processes = (name: string, most: number) => {
      const { strategy, template } = named(all, 'Deployment', name).spec;
      const [{ env, envFrom }] = template.spec.containers;
      const shared = named(all, 'ConfigMap', envFrom[0].configMapRef.name).data ?? {};
      const own = env.find((one: { name: string }) => one.name === 'DATABASE_POOL');
      const pool = Number(own?.value ?? shared.DATABASE_POOL ?? GATEWAY_SETTINGS.DATABASE_POOL.byDefault);
      return { pool, count: most + Math.ceil((most * Number.parseInt(strategy.rollingUpdate.maxSurge, 10)) / 100) };
    };
    const gateways = processes('gateway', named(all, 'HorizontalPodAutoscaler', 'gateway').spec.maxReplicas);
    const workers = processes('worker', named(all, 'ScaledObject', 'worker').spec.maxReplicaCount);
    const ofGateways = gateways.count * gateways.pool;
    return { ofGateways, together: ofGateways + workers.count * (workers.pool + auditors) };
  }
  /** For the superuser, the migration, backups and an operator. */
  const KEPT_FREE = 20;
  const settings = readFileSync(join(root, 'infra/postgres/postgresql.conf'), 'utf8');
  const carried = Number(/^max_connections = (\d+)$/m.exec(settings)?.[1]) - KEPT_FREE;
  for (const all of [base, manifests]) {
    const { together } = connectionsOf(all);
    t.ok(together > 100 && together <= carried, `${together} of ${carried}`);
  }
  const { ofGateways, together } = connectionsOf(withOperators);
  const clients = Number(named(withOperators, 'Pooler').spec.pgbouncer.parameters.max_client_conn);
  t.ok(together > carried && together <= clients, `${together} of ${clients}, while one pooler is away`);
  const onReplica = Number(named(withOperators, 'Cluster').spec.postgresql.parameters.max_connections) - KEPT_FREE;
  t.ok(ofGateways <= onReplica, `${ofGateways} of ${onReplica}, while one replica is away`);
  const capacity = readFileSync(join(root, 'infra/capacity.md'), 'utf8');
  t.ok(capacity.includes(`DATABASE_POOL * gateways + (DATABASE_POOL + ${auditors}) * workers`));
});

t.test('what KEDA is given as a secret is made without a newline, and it can be seen whether KEDA works', async (t) => {
  const readme = readFileSync(join(root, 'infra/README.md'), 'utf8');
  for (const all of [base, withOperators]) {
    const { spec } = named(all, 'TriggerAuthentication', 'queue');
    t.equal(spec.secretTargetRef.length, 2);
    for (const { name, key } of spec.secretTargetRef) {
      t.match(readme, new RegExp(`^printf %s \\S+ > ${key}$`, 'm'), `${key} is a file without a newline`);
      t.match(readme, new RegExp(`create secret generic ${name} (?:.*\\\\\n)*.*--from-file=${key}\\b`), `of ${name}`);
    }
  }
  t.ok(readme.includes('`enableTLS: "true"`') && readme.includes('get scaledobject worker'));
  t.ok(readme.includes(`get hpa keda-hpa-${named(base, 'ScaledObject', 'worker').metadata.name}`));
});

t.test('no page leaves a secret in a file or an argument that other users can read', async (t) => {
  const readme = readFileSync(join(root, 'infra/README.md'), 'utf8');
  t.match(readme, /run `umask 077`[^#]*```sh\nfor name in key_pepper /);
  const runbooks = readFileSync(join(root, 'infra/runbooks/README.md'), 'utf8');
  t.match(runbooks, /^printf .*base64 < FILE.* \|\n +kubectl patch secret \S+ --patch-file \/dev\/stdin$/m);
});

t.test('the page makes the secret of each process with the URL of its own role', async (t) => {
  const readme = readFileSync(join(root, 'infra/README.md'), 'utf8');
  for (const app of ['gateway', 'worker']) {
    const url = `--from-file=database_url=${app}_database_url`;
    t.match(readme, new RegExp(`create secret generic eloquentpoll-${app} (?:.*\\\\\n)*.*${url}\\b`));
  }
});

t.test('workers of an installation follow its own polls, in whichever namespace it is', async (t) => {
  const queryOf = (all: Manifest[]) => named(all, 'ScaledObject', 'worker').spec.triggers[0].metadata.query;
  const counted = (namespace: string) =>
    `sum(max by (state) (eloquentpoll_queue_jobs{namespace="${namespace}",lane="standard"}))`;
  t.equal(queryOf(manifests), counted('eloquentpoll'));
  const copy = t.testdir();
  for (const part of ['k8s', 'monitoring']) cpSync(join(root, 'infra', part), join(copy, part), { recursive: true });
  for (const overlay of ['with-operators', 'example']) {
    const file = join(copy, 'k8s', overlay, 'kustomization.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^namespace: .*$/m, 'namespace: cell-1'));
    const all = kustomize(relative(root, join(copy, 'k8s', overlay)));
    t.equal(queryOf(all), counted('cell-1'), overlay);
    t.equal(named(all, 'Deployment', 'worker').metadata.namespace, 'cell-1');
  }
});

t.test('nothing reaches a process that no policy names, and the cloud cannot be asked for credentials', async (t) => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  t.same(named(policies, 'NetworkPolicy', 'deny-all').spec, { podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
  const [{ to }] = named(policies, 'NetworkPolicy', 'providers').spec.egress;
  t.ok(to[0].ipBlock.except.includes('169.254.0.0/16'));
});

t.test(
  'policies of databases by operators select what CloudNativePG itself labels, jobs and poolers included',
  async (t) => {
    const policies = withOperators.filter(({ kind }) => kind === 'NetworkPolicy');
    const cluster = { matchLabels: { 'cnpg.io/cluster': named(withOperators, 'Cluster', 'postgres').metadata.name } };
    const { spec: postgres } = named(policies, 'NetworkPolicy', 'postgres');
    t.same(postgres.podSelector, cluster);
    t.same(postgres.ingress[0].from[1].podSelector, cluster);
    t.same(named(policies, 'NetworkPolicy', 'to-postgres').spec.egress[0].to, [{ podSelector: cluster }]);
  },
);

t.test('what a process may ask of a database in the namespace, the database may answer', async (t) => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  const componentsOf = (selector: Manifest['spec']): string[] =>
    selector?.matchExpressions?.[0].values ?? Object.values(selector?.matchLabels ?? {});
  const { podSelector, egress } = named(policies, 'NetworkPolicy', 'names-and-databases').spec;
  for (const [database, port, clients] of [
    ['postgres', 5_432, ['gateway', 'worker', 'migrate']],
    ['redis', 6_379, ['gateway', 'worker']],
  ] as const) {
    const asked = egress.find(({ to }: Manifest['spec']) => componentsOf(to[0].podSelector)[0] === database);
    t.equal(asked.ports[0].port, port);
    const { spec } = named(policies, 'NetworkPolicy', `${database}-clients`);
    t.same(componentsOf(spec.podSelector), [database]);
    t.same(componentsOf(spec.ingress[0].from[0].podSelector), clients);
    for (const client of clients) t.ok(componentsOf(podSelector).includes(client), `${client} may ask ${database}`);
    t.same(spec.ingress[0].ports, [{ protocol: 'TCP', port }]);
  }
  const readme = readFileSync(join(root, 'infra/README.md'), 'utf8');
  const namespaces = policies
    .flatMap(({ spec }) => spec.ingress ?? [])
    .flatMap(({ from }) => from)
    .flatMap(({ namespaceSelector }) => Object.values<string>(namespaceSelector?.matchLabels ?? {}));
  t.same([...new Set(namespaces)].toSorted(), ['ingress-nginx', 'keda', 'monitoring']);
  for (const name of namespaces) t.ok(readme.includes(`\`${name}\``), `${name} is named where it is set up`);
});

t.test('databases by operators: what they are called and hold is what the processes are given', async (t) => {
  const all = withOperators;
  const own = all.filter(({ apiVersion }) => !apiVersion.startsWith('redis.redis.opstreelabs.in/'));
  for (const manifest of own) {
    const { [manifest.kind]: Kind } = await import(schemaOf(manifest));
    t.doesNotThrow(() => new Kind(manifest).validate(), `${manifest.kind} ${manifest.metadata.name}`);
  }
  const readme = readFileSync(join(root, 'infra/k8s/with-operators/README.md'), 'utf8');
  const { spec: postgres } = named(all, 'Cluster', 'postgres');
  const roles: { name: string; passwordSecret: { name: string } }[] = postgres.managed.roles;
  t.same(roles.map(({ name }) => name).toSorted(), APP_ROLES.toSorted());
  for (const secret of [
    postgres.bootstrap.initdb.secret.name,
    ...roles.map(({ passwordSecret }) => passwordSecret.name),
  ])
    t.ok(readme.includes(`\`${secret}\``), secret);
  t.ok(
    postgres.bootstrap.initdb.postInitApplicationSQL.includes('grant pg_monitor, pg_signal_backend to eloquentpoll'),
    'the URL of the owner is enough for the runbooks',
  );
  const { spec: nightly } = named(all, 'ScheduledBackup');
  t.equal(nightly.immediate, true, 'there is a base backup before the first night');
  const [, backup = ''] = /<<'END'\n(.*?)\nEND\n/s.exec(readme) ?? [];
  const { Backup } = await import('@kubernetes-models/cloudnative-pg/postgresql.cnpg.io/v1/Backup');
  t.doesNotThrow(() => new Backup(parse(backup)).validate(), 'and one after a restore');
  for (const field of ['cluster', 'method', 'pluginConfiguration']) t.same(parse(backup).spec[field], nightly[field]);
  t.match(postgres.postgresql, {
    synchronous: { method: 'any', number: 1, dataDurability: 'required' },
    parameters: { synchronous_commit: 'on' },
  });
  const poolers = all.filter(({ kind }) => kind === 'Pooler');
  t.same(
    poolers.map(({ spec }) => spec.type),
    ['rw'],
  );
  for (const { metadata, spec } of poolers) {
    t.equal(spec.pgbouncer.poolMode, 'transaction');
    t.ok(Number(spec.pgbouncer.parameters.max_prepared_statements) > 0, 'statements are prepared by name');
    const ignored: string[] = spec.pgbouncer.parameters.ignore_startup_parameters.split(',');
    for (const name of ignored) t.ok(postgres.postgresql.parameters[name], `${name} is the server's`);
    // A pool is one role's; migrations, replicas and the operator come past it.
    const servers = spec.instances * roles.length * Number(spec.pgbouncer.parameters.default_pool_size);
    t.ok(servers <= Number(postgres.postgresql.parameters.max_connections) - 20, `${metadata.name}: ${servers}`);
  }
  const [{ selectorType, serviceTemplate }] = postgres.managed.services.additional;
  t.same([selectorType, serviceTemplate.spec.sessionAffinity], ['ro', 'ClientIP'], 'one replica for a gateway');
  t.ok(readme.includes(`\`database_replica_url\` the same at \`${serviceTemplate.metadata.name}\``));
  const [gateway] = named(all, 'Deployment', 'gateway').spec.template.spec.containers;
  t.match(gateway.env.at(-1), { name: 'DATABASE_REPLICA_URL_FILE', value: /database_replica_url$/ });
  t.ok(readme.includes('@pooler:5432') && readme.includes('@postgres-rw:5432'), 'the migration goes past the pooler');

  const redis = named(all, 'RedisCluster', 'redis');
  const [address] = /redis\+cluster:\/\/[^`]+/.exec(readme) ?? [];
  t.match(readRedisAddress(address ?? ''), {
    kind: 'cluster',
    hosts: [{ host: `${redis.metadata.name}-leader`, port: 6_379 }],
  });
  const keda = `redis-leader.${redis.metadata.namespace}.svc:6379`;
  t.ok(readme.includes(`\`redis_address\`: \`${keda}\``), 'KEDA asks from its own namespace');
  const general = readFileSync(join(root, 'infra/README.md'), 'utf8');
  t.match(general, /`redis_address` is for KEDA[^`]*`[\w-]+\.eloquentpoll\.svc:6379`/);
  t.ok(readme.includes(`\`${redis.spec.kubernetesConfig.redisSecret.name}\``));
  const settings = named(all, 'ConfigMap', redis.spec.redisLeader.redisConfig.additionalRedisConfig);
  t.match(settings.data?.['redis-additional.conf'], /^maxmemory-policy noeviction$/m);

  const { QUEUE_SHARDS: shards } = named(all, 'ConfigMap', gateway.envFrom[0].configMapRef.name).data ?? {};
  const triggers: { type: string; metadata: { listName: string; listLength: string } }[] = named(
    all,
    'ScaledObject',
    'worker',
  ).spec.triggers.filter(({ type }: { type: string }) => type !== 'prometheus');
  t.same(
    triggers.map(({ type, metadata }) => [type, metadata.listName]),
    Array.from({ length: Number(shards) }, (_, i) => ['redis-cluster', keysUnder('ep').shard('standard', i).waiting]),
    'KEDA sees every shard of the queue',
  );
  for (const { metadata } of triggers)
    t.equal(Number(metadata.listLength), Math.round(140 / Number(shards)), metadata.listName);
});
