import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { freePort } from '@eloquentpoll/services/free-port';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { seedLocalAccount } from '../seed.ts';
import { type Sandboxed, sandbox } from './sandbox.ts';

// The product works when its processes may do next to nothing: read-only root, an unprivileged user, no capabilities, no shell.
// Run by `npm run hardening`, which makes the sandboxes' file systems.

const { HARDENING_BUBBLEWRAP: bubblewrap = '', HARDENING_IMAGES: images = '' } = process.env;
const READY_MS = 60_000;

/** How the images start Node. */
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
const [, ...flags] = JSON.parse(/^ENTRYPOINT (.*--permission.*)$/m.exec(dockerfile)?.[1] ?? '[]') as string[];

function start(t: Test, app: string, env: Record<string, string>, args = [...flags, 'main.js']): Sandboxed {
  const options = { bubblewrap, imageRoot: join(images, app), args, env: { ...SETTINGS, ...env } };
  const process_ = sandbox(options);
  t.teardown(() => process_.kill());
  return process_;
}

const SETTINGS = { NODE_ENV: 'production', HOME: '/tmp', PATH: '/usr/bin', HOST: '127.0.0.1' };

t.test('code running in a process writes nothing, changes no user and finds no shell', async (t) => {
  for (const app of ['gateway', 'worker', 'simulator']) {
    const probe = start(t, app, {}, ['probe.mjs']);
    const outcome = JSON.parse(await probe.says('"uid"'));
    t.same(
      outcome,
      {
        processes: 1,
        uid: 65534,
        gid: 65534,
        write_root: 'EROFS',
        write_app: 'EROFS',
        write_node: 'EROFS',
        write_tmp: 'done',
        write_dev: 'EROFS',
        become_root: outcome.become_root === 'EINVAL' ? 'EINVAL' : 'EPERM',
        run_shell: 'ENOENT',
        read_passwords: 'ENOENT',
      },
      app,
    );
  }
});

t.test('Node refuses it too, before the system does', async (t) => {
  const probe = start(t, 'worker', {}, [...flags.filter((flag) => !flag.startsWith('--import')), 'probe.mjs']);
  const refused = 'ERR_ACCESS_DENIED';
  t.match(JSON.parse(await probe.says('"uid"')), {
    write_root: refused,
    write_app: refused,
    write_tmp: refused,
    run_shell: refused,
    read_passwords: refused,
  });
});

t.test('a heap snapshot is taken as the runbook says, and the process lives on', async (t) => {
  const page = readFileSync(join(root, 'infra/runbooks/process-overloaded.md'), 'utf8');
  const [, patch = ''] = /--patch '\n([^']+)'\n/.exec(page) ?? [];
  const { containers, volumes } = parse(patch).spec.template.spec;
  const [{ args, volumeMounts }] = containers;
  t.equal(volumeMounts[0].name, volumes[0].name);
  const heap = t.testdir();
  chmodSync(heap, 0o777);
  const port = await freePort('127.0.0.1');
  const simulator = sandbox({
    ...{ bubblewrap, imageRoot: join(images, 'simulator'), args: [...flags, ...args] },
    env: { ...SETTINGS, PORT: String(port) },
    volumes: { [volumeMounts[0].mountPath]: heap },
  });
  t.teardown(() => simulator.kill());
  await simulator.says('"ready"');
  process.kill(await simulator.pid, 'SIGUSR2');
  await eventually('a snapshot', () => readdirSync(heap).some((name) => name.endsWith('.heapsnapshot')), READY_MS);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { signal: AbortSignal.timeout(READY_MS) });
  t.equal(answer.status, 200, 'after it was written it answers as before');
  const [name = ''] = readdirSync(heap);
  t.match(JSON.parse(readFileSync(join(heap, name), 'utf8')), { snapshot: { node_count: Number } });
});

t.test('polls run from request to stored result; SIGTERM ends every process in order', async (t) => {
  t.setTimeout(4 * READY_MS);
  const databaseUrl = await testDatabase(t);
  const { url: redisUrl, prefix } = testRedis(t);
  const pepper = 'pepper-of-the-hardening-test-0123456789';
  const { apiKey } = await seedLocalAccount(databaseUrl, pepper, {});
  const ports = await Promise.all([
    freePort('127.0.0.1'),
    freePort('127.0.0.1'),
    freePort('127.0.0.1'),
    freePort('127.0.0.1'),
  ]);
  const [simulatorPort, port, gatewayOps, workerOps] = ports.map(String) as [string, string, string, string];
  const models = { MODELS_FILE: 'simulator', MODELS_BASE_URL: `http://127.0.0.1:${simulatorPort}/v1` };
  const stores = { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, REDIS_PREFIX: prefix, ...models };
  const simulator = start(t, 'simulator', { PORT: simulatorPort, LATENCY_SCALE: '0.1' });
  await simulator.says('"ready"');
  const gateway = start(t, 'gateway', { ...stores, PORT: port, OPS_PORT: gatewayOps, KEY_PEPPER: pepper });
  const worker = start(t, 'worker', { ...stores, OPS_PORT: workerOps, WORKER_DRAIN_MS: '5000' });
  await Promise.all([gateway.says('"ready"'), worker.says('"ready"')]);
  const processes = { simulator, gateway, worker };

  const url = `http://127.0.0.1:${port}`;
  for (const path of ['/api/poll', '/api/poll/stream']) {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ question: 'Which is larger?', options: ['The Sun', 'The Moon'] }),
      signal: AbortSignal.timeout(READY_MS),
    });
    t.equal(response.status, 200, path);
    t.match(await response.text(), /"status":\s?"(success|partial)"/, `${path} has its result`);
  }
  for (const ops of [gatewayOps, workerOps]) {
    const isReady = async () =>
      (await fetch(`http://127.0.0.1:${ops}/readyz`, { signal: AbortSignal.timeout(READY_MS) })).ok;
    await eventually('it is ready, as its probe sees it', isReady, READY_MS);
  }

  for (const [name, process_] of Object.entries(processes)) {
    const status = readFileSync(`/proc/${await process_.pid}/status`, 'utf8');
    t.match(status, /^NoNewPrivs:\t1$/m, `${name} gains no privileges`);
    t.match(status, /^CapEff:\t0{16}$/m, `${name} has no capabilities`);
    t.match(status, /^CapBnd:\t0{16}$/m, 'and cannot get any');
    if (process.getuid?.() === 0)
      t.match(status, /^Uid:\t65534\t65534\t65534\t65534$/m, `${name} is unprivileged here too`);
  }
  for (const [name, process_] of Object.entries(processes)) {
    process.kill(await process_.pid, 'SIGTERM');
    t.equal(await process_.ended, 0, `${name} ends by itself`);
    t.notMatch(process_.lines.join('\n'), /EROFS|EPERM|EACCES/, `${name} wanted nothing that it may not`);
  }
});
