import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openBus } from '@eloquentpoll/bus';
import type { PollSpec } from '@eloquentpoll/contracts';
import { newPollId } from '@eloquentpoll/polls';
import { appProgram } from '@eloquentpoll/services/app-program';
import { bareEnvironment } from '@eloquentpoll/services/bare-environment';
import { acceptPoll, claimPoll, createAccount, creditAccount, openStorage } from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { testRedis } from '@eloquentpoll/testkit/redis';
import t, { type Test } from 'tap';

// slow: 3 s

// The worker as a process of its own, as it is started in production.

const MAIN = appProgram('worker');
const POLL_ID = newPollId();
const SPEC: PollSpec = {
  question: 'Which?',
  options: ['A', 'B'],
  panel_name: 'fast',
  confidence_threshold: 1,
  max_cost_u: 1_000,
  min_votes: 1,
  search: false,
  seed: 'seed',
  seats: [{ model_id: 'sim/acorn-mini', family: 'acorn', reserve_u: 1_000, failure_rate: 0, p90_ms: 0 }],
  simulated: true,
};

function start(t: Test, env: Record<string, string>) {
  const child = spawn(process.execPath, [MAIN], { env: { ...bareEnvironment(MAIN), ...env }, stdio: 'pipe' });
  t.teardown(() => child.kill('SIGKILL'));
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const lines = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  async function line(msg: string) {
    const found = await eventually(
      `the line "${msg}"`,
      () => lines().find((one) => one.msg === msg) ?? (child.exitCode !== null && 'ended'),
    );
    if (found === 'ended') throw new Error(`ended before it logged ${msg}: ${err}`);
    return found;
  }
  return { child, ended, line, output: () => out + err };
}

async function environment(t: Test): Promise<Record<string, string>> {
  const { url, prefix } = testRedis(t);
  return {
    DATABASE_URL: await testDatabase(t),
    REDIS_URL: url,
    REDIS_PREFIX: prefix,
    MODELS_FILE: 'simulator',
    OPS_PORT: '0',
  };
}

t.test('SIGTERM while models hang: polls are handed back at once', async (t) => {
  const asked = Promise.withResolvers<void>();
  // Takes every question and answers none.
  const models = createServer(() => asked.resolve());
  await new Promise<void>((resolve) => models.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    models.closeAllConnections();
    models.close();
  });
  const env = await environment(t);
  const worker = start(t, {
    ...env,
    MODELS_BASE_URL: `http://127.0.0.1:${(models.address() as AddressInfo).port}/v1`,
    WORKER_DRAIN_MS: '300',
    LOG_LEVEL: 'info',
  });
  const { ops_url } = await worker.line('ready');
  t.equal((await fetch(`${ops_url}/readyz`)).status, 200);

  const storage = openStorage({ databaseUrl: env.DATABASE_URL! });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const bus = await openBus({ redisUrl: env.REDIS_URL!, prefix: env.REDIS_PREFIX! });
  t.teardown(() => bus[Symbol.asyncDispose]());
  const accountId = await createAccount(storage);
  await creditAccount(storage, { accountId, amountU: 1_000n, source: 'operator', idem: 'test' });
  const poll = { id: POLL_ID, resultId: 'EP-2026-01-01-aaaaaaaaaaaaaaaa', accountId, spec: SPEC, deadlineMs: 60_000 };
  await acceptPoll(storage, { poll: { ...poll, entryPoint: 'test' }, holdU: 1_000n });
  await bus.enqueuePoll(POLL_ID);
  await asked.promise;
  t.match(await (await fetch(`${ops_url}/metrics`)).text(), /^eloquentpoll_polls_running\{lane="standard"\} 1$/m);

  worker.child.kill('SIGTERM');
  t.equal(await worker.ended, 0, worker.output());
  t.equal((await bus.queueCounts()).waiting, 1, 'the poll has a job again');
  t.match(await claimPoll(storage, POLL_ID, 'next'), { epoch: 2, claims: 1 }, 'and can be claimed at once');
});

t.test('a silent worker says that it is ready; what it prints of its settings unlocks nothing', async (t) => {
  const env = await environment(t);
  const canaries = { OPENROUTER_API_KEY: 'canary-key', OTEL_EXPORTER_OTLP_HEADERS: 'authorization=canary-header' };
  const url = new URL(env.DATABASE_URL!);
  url.searchParams.set('application_name', 'canary-parameter');
  const [silent, talking] = [
    start(t, { ...env, LOG_LEVEL: 'silent' }),
    start(t, { ...env, ...canaries, DATABASE_URL: url.href }),
  ];
  await silent.line('ready');
  const { settings } = await talking.line('settings.read');
  t.match(settings, { OTEL_EXPORTER_OTLP_HEADERS: 'set', MODELS_FILE: 'simulator', REDIS_PREFIX: env.REDIS_PREFIX });
  await talking.line('ready');
  t.notMatch(talking.output(), /canary/);
  for (const { child, ended } of [silent, talking]) {
    child.kill('SIGTERM');
    t.equal(await ended, 0);
  }
});

t.test('a setting that makes no sense is one sentence that names it', async (t) => {
  const env = await environment(t);
  const cases: [Record<string, string>, RegExp][] = [
    [{ LOG_LEVEL: 'loud' }, /^worker: LOG_LEVEL: must be one of .*, not "loud"$/m],
    [{ OPS_PORT: 'nine' }, /^worker: OPS_PORT: must be a whole number from 0 to 65535, not "nine"$/m],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' }, /^worker: OTEL_EXPORTER_OTLP_ENDPOINT: must be a URL/],
  ];
  const runs = cases.map(([more, says]) => ({ says, run: start(t, { ...env, ...more }) }));
  for (const { says, run } of runs) {
    t.equal(await run.ended, 1);
    t.match(run.output(), says);
  }
});
