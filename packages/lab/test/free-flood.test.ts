import { setTimeout as sleep } from 'node:timers/promises';
import { balanceOf, checkLedger, FREE_POOL } from '@eloquentpoll/storage';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { KEY_PEPPER } from '../src/fixture/accounts.ts';
import { type Experiment, runExperiment } from '../src/fixture/experiment.ts';
import { startModule } from '../src/fixture/modules.ts';
import { startSimulator } from '../src/fixture/simulators.ts';

// slow: 15 s

// Free polls from many addresses at once, behind a proxy that the gateways trust, with rate limits out of the way. What
// is left is the daily cap, which the database keeps to the micro-USD.

const ADDRESSES = process.env.ATTACKS === 'full' ? 10_000 : 300;
const CAP_USD = process.env.ATTACKS === 'full' ? '0.05' : '0.02';
const AT_ONCE = 64;
const GATEWAYS = 2;
const LOOK_EVERY_MS = 20;

t.test(`free polls from ${ADDRESSES} addresses spend no more than the cap of the day`, async (t) => {
  if (process.env.ATTACKS === 'full') t.setTimeout(3_600_000);
  const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
  await runExperiment(servers, new AbortController().signal, async (experiment) => {
    const { stores, signal } = experiment;
    const urls = await startService(experiment, CAP_USD);
    const pool = async () => (await balanceOf(stores.storage, FREE_POOL))!;
    let maxAtStakeU = 0n;
    let over = false;
    const watching = (async () => {
      for (; !over; await sleep(LOOK_EVERY_MS)) {
        const { usageU, heldU } = await pool();
        if (usageU + heldU > maxAtStakeU) maxAtStakeU = usageU + heldU;
      }
    })();

    let [next, served, refused] = [0, 0, 0];
    const caller = async (): Promise<void> => {
      while (next < ADDRESSES) {
        const n = next++;
        const status = await ask(urls[n % urls.length]!, n, signal);
        if (status === 200) served += 1;
        if (status === 429) refused += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    over = true;
    await watching;

    const { usageU, heldU } = await pool();
    const [stored] = await stores.query<{ polls: number; billed: number; provider: number; cap: number }>(`
      select (select count(*)::int from polls) as polls,
             (select coalesce(sum(billed_u), 0)::int from votes) as billed,
             (select coalesce(sum(provider_cost_u), 0)::int from polls) as provider,
             (select coalesce(sum(amount_u), 0)::int from transfers where kind = 'top_up') as cap`);
    t.ok(served > 0 && refused > 0, `${served} were served, ${refused} refused`);
    t.equal(served + refused, ADDRESSES, 'every caller got one of the two answers');
    t.equal(stored?.polls, served);
    t.ok(Number(usageU) >= stored!.billed, 'the pool paid what the votes cost');
    t.ok(Number(usageU) >= stored!.provider, 'and every call that was aborted');
    t.equal(heldU, 0n);
    t.ok(
      Number(maxAtStakeU) <= stored!.cap && Number(usageU) <= stored!.cap,
      `${maxAtStakeU} of ${stored?.cap} at stake`,
    );
    t.same(await checkLedger(stores.storage), []);
  });
});

async function startService({ group, stores }: Experiment, capUsd: string): Promise<string[]> {
  const { modelsUrl } = await startSimulator(group, { latency_scale: 0 });
  const env = {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: 'simulator',
    MODELS_BASE_URL: modelsUrl,
  };
  await startModule(group, 'worker', '@eloquentpoll/worker/main', { ...env, WORKER_CONCURRENCY: '50' });
  const gateways = Array.from({ length: GATEWAYS }, (_, n) =>
    startModule(group, `gateway ${n + 1}`, '@eloquentpoll/gateway/main', {
      ...env,
      PORT: '0',
      BASE_URL: 'http://localhost',
      KEY_PEPPER,
      LOG_LEVEL: 'warn',
      TRUST_PROXY: '127.0.0.0/8',
      FREE_DAILY_CAP_USD: capUsd,
      RATE_LIMITS: 'free_poll=100000000/3600',
    }),
  );
  return (await Promise.all(gateways)).map(({ ready }) => `http://${ready.address}:${ready.port}/api/quick-poll`);
}

async function ask(url: string, n: number, signal: AbortSignal): Promise<number> {
  for (let left = 20; ; left--) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': addressOf(n) },
      body: JSON.stringify({ poll: `Which of these is best, asked for the ${n}th time? [this one, that one]` }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(60_000)]),
    });
    const { code } = (await response.json()) as { code?: string };
    // On a busy machine the answer to some is that no poll was made and that they may ask again.
    if (code !== 'service_unavailable' || left === 0) return response.status;
    await sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000, undefined, { signal });
  }
}

/** Of the range for benchmarks (198.18.0.0/15), a different one for each number. */
const addressOf = (n: number): string => `198.${18 + ((n >> 16) & 1)}.${(n >> 8) & 255}.${n & 255}`;
