import { setTimeout as sleep } from 'node:timers/promises';
import type { PollSpec } from '@eloquentpoll/contracts';
import type { Model } from '@eloquentpoll/models/panels';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { createFundedAccount } from '../src/fixture/accounts.ts';
import { type Experiment, runExperiment } from '../src/fixture/experiment.ts';
import { startModule } from '../src/fixture/modules.ts';
import { fixtureSpec, type Question, submit } from '../src/fixture/polls.ts';
import { type SimulatorProcess, startSimulator } from '../src/fixture/simulators.ts';
import { percentile } from '../src/terminal/table.ts';
import { IMPATIENT, type MadeModel, makePanels } from './fixtures/roster-file.ts';

// slow: 40 s

// Two providers, one of which hangs (SIGSTOP), comes back, and refuses (SIGKILL). Polls that ask only the other one are as
// good and as fast as before; polls of the lost one end by their deadline; polls of both go on with what is left.

const KINDS = ['far', 'near', 'both'] as const;
type Kind = (typeof KINDS)[number];
type State = 'up' | 'hanging' | 'back' | 'refusing';

/** ATTACKS=full measures the times too, which takes many polls on a quiet machine. */
const FULL = process.env.ATTACKS === 'full';
const STATES: readonly State[] = FULL ? ['up', 'hanging', 'back', 'refusing'] : ['up', 'hanging', 'refusing'];
const POLLS = FULL ? 400 : 12;
const WARM_UP = FULL ? 60 : 8;
const MAX_SLOWER = 1.2;
const AT_ONCE = 8;
const DEADLINE_MS = 8_000;
/** Less than what a sweep adds, which ends a poll 5 s after its deadline where its worker did not. */
const SLACK_MS = FULL ? 1_000 : 4_000;
/** Time for a breaker's first pauses and a probe that succeeds. */
const BREAKER_PAUSE_MS = 15_000;
const SEED = 'outage';
const FAMILIES = ['oak', 'pine', 'lime', 'plum', 'teak', 'fig'];

t.test('the outage of a provider is not felt by polls that do not ask it', async (t) => {
  if (FULL) t.setTimeout(3_600_000);
  const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
  await runExperiment(servers, new AbortController().signal, async (experiment) => {
    const { stores, group } = experiment;
    const latency = { p50_ms: 150, sigma: 0.25, straggler_rate: 0.01, straggler_factor: 4 };
    const settings = { seed: SEED, models: { '*': { latency } } };
    const near = await startSimulator(group, settings);
    const far = await startSimulator(group, settings);
    const models = FAMILIES.flatMap((family): MadeModel[] =>
      (['near', 'far'] as const).map((provider) => ({ id: `sim/${family}-${provider}`, provider, family })),
    );
    const providers = { near: { url: near.modelsUrl }, far: { url: far.modelsUrl, timeouts: IMPATIENT } };
    const { file, panels } = await makePanels(group.folder, providers, models);
    await startModule(group, 'worker', '@eloquentpoll/worker/main', {
      DATABASE_URL: stores.databaseUrl,
      REDIS_URL: stores.redisUrl,
      REDIS_PREFIX: stores.redisPrefix,
      MODELS_FILE: file,
      WORKER_CONCURRENCY: '100',
    });
    const accountId = await createFundedAccount(stores.storage);
    const model = (family: string, provider: string): Model => panels.model(`sim/${family}-${provider}`)!;
    const members: Record<Kind, Model[]> = {
      near: FAMILIES.slice(0, 5).map((family) => model(family, 'near')),
      far: FAMILIES.slice(0, 5).map((family) => model(family, 'far')),
      both: FAMILIES.map((family, i) => model(family, i % 2 === 0 ? 'near' : 'far')),
    };
    const round = (polls: number) =>
      Promise.all(
        KINDS.map((kind) =>
          measure(experiment, accountId, polls, (n) => fixtureSpec(panels, questionOf(members[kind], n))),
        ),
      );

    await round(WARM_UP);
    const nearTimes = new Map<State, number[]>();
    for (const state of STATES) {
      await enter(state, far, new AbortController().signal);
      for (const [i, { times, statuses }] of (await round(POLLS)).entries()) {
        const polls = `${KINDS[i]} polls while the far provider is ${state}`;
        t.same(
          times.filter((ms) => !(ms <= DEADLINE_MS + SLACK_MS)),
          [],
          `${polls} end by their deadline`,
        );
        if (KINDS[i] !== 'near') continue;
        t.same(
          statuses.filter((status) => status !== 'success' && status !== 'partial'),
          [],
          `${polls} have a result`,
        );
        nearTimes.set(state, times);
      }
    }
    if (!FULL) return;
    // Before and after, so that a machine that grows busier does not look like an outage.
    const calm = percentile([...nearTimes.get('up')!, ...nearTimes.get('back')!], 0.95)!;
    for (const state of ['hanging', 'refusing'] as const) {
      const slower = percentile(nearTimes.get(state)!, 0.95)! / calm;
      const figure = `p95 of near polls is ${slower.toFixed(2)} times as long while the far one is ${state}`;
      t.comment(figure);
      t.ok(slower <= MAX_SLOWER, figure);
    }
  });
});

async function enter(state: State, { app }: SimulatorProcess, signal: AbortSignal): Promise<void> {
  if (state === 'hanging') app.signal('SIGSTOP');
  if (state === 'refusing') app.signal('SIGKILL');
  if (state !== 'back') return;
  app.signal('SIGCONT');
  await sleep(BREAKER_PAUSE_MS, undefined, { signal });
}

const questionOf = (models: readonly Model[], n: number): Question => ({
  question: `Which of these would you take along in case ${SEED} ${n}?`,
  options: ['a rope', 'a lamp', 'a map'],
  panel: 'broad',
  models: models.map((_, i) => models[(i + n) % models.length]!),
});

/** Keeps so many polls of a kind going until all were asked, and takes the time of each. */
async function measure(
  { stores, signal }: Experiment,
  accountId: string,
  count: number,
  spec: (n: number) => PollSpec,
): Promise<{ times: number[]; statuses: (string | null)[] }> {
  const ids: string[] = [];
  const one = async (n: number): Promise<void> => {
    const ended = Promise.withResolvers<void>();
    let unwatch = () => {};
    const id = await submit(stores, accountId, spec(n), DEADLINE_MS, async (pollId) => {
      const watch = await stores.bus.watchPoll(pollId, (news) => {
        if (news === null || news.status !== 'running') ended.resolve();
      });
      unwatch = () => watch.close();
    });
    ids.push(id);
    await Promise.race([ended.promise, sleep(DEADLINE_MS + 20_000, undefined, { ref: false })]);
    unwatch();
  };
  let next = 0;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) {
        signal.throwIfAborted();
        await one(next++);
      }
    }),
  );
  const polls = await stores.query<{ status: string | null; ms: string | null }>(
    `select r.status, extract(epoch from p.finished_at - p.created_at) * 1000 as ms
       from polls p left join results r on r.poll_id = p.id where p.id = any($1)`,
    [ids],
  );
  return {
    times: polls.map(({ ms }) => Number(ms ?? Number.POSITIVE_INFINITY)),
    statuses: polls.map(({ status }) => status),
  };
}
