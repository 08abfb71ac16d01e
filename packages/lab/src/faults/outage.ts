import { setTimeout as sleep } from 'node:timers/promises';
import type { PollSpec } from '@eloquentpoll/contracts';
import type { Model } from '@eloquentpoll/models/panels';
import { createFundedAccount } from '../fixture/accounts.ts';
import type { Experiment } from '../fixture/experiment.ts';
import { type Question, specOf, submit } from '../fixture/polls.ts';
import { type MadeModel, makePanels } from '../fixture/roster-file.ts';
import { type SimulatorProcess, startSimulator } from '../fixture/simulators.ts';
import type { Progress } from '../terminal/progress.ts';
import { percentile, seconds, table } from '../terminal/table.ts';
import { hireCrew } from './crew.ts';

// Two providers, and one of them goes away: first it hangs (it is stopped: connections stand, nobody answers), then it
// is back, then it refuses (it is killed). Polls that ask only the other one must not notice; polls of the lost one end
// by their deadline; polls that ask both go on with what is left.

const KINDS = ['far', 'near', 'both'] as const;
type Kind = (typeof KINDS)[number];
const STATES = ['up', 'hanging', 'back', 'refusing'] as const;
type State = (typeof STATES)[number];

const WARM_UP = 60;
const POLLS = 400;
const AT_ONCE = 8;
const DEADLINE_MS = 8_000;
const SLACK_MS = 1_000;
const MOST_SLOWER = 1.2;
/** Time for a breaker's first rests and a probe that succeeds. */
const BREAKERS_REST_MS = 15_000;
const FAMILIES = ['oak', 'pine', 'lime', 'plum', 'teak', 'fig'];

export interface OutageRow {
  state: State;
  polls: Kind;
  count: number;
  success: number;
  partial: number;
  failed: number;
  p50Ms: number | null;
  p95Ms: number | null;
  maxMs: number | null;
  late: number;
}

type Measured = Omit<OutageRow, 'state'> & { times: number[] };

export interface OutageReport {
  seed: string;
  rows: OutageRow[];
  /** Of the unaffected provider's p95, against the time when both were up. */
  slower: Record<'hanging' | 'refusing', number>;
}

export async function outage(bench: Experiment, seed: string, progress: Progress): Promise<OutageReport> {
  const { stores, group } = bench;
  const latency = { p50_ms: 150, sigma: 0.25, straggler_rate: 0.01, straggler_factor: 4 };
  const settings = { seed, models: { '*': { latency } } };
  const near = await startSimulator(group, settings);
  const far = await startSimulator(group, settings);
  const models = FAMILIES.flatMap((family): MadeModel[] =>
    (['near', 'far'] as const).map((provider) => ({ id: `sim/${family}-${provider}`, provider, family })),
  );
  const { file, panels } = await makePanels(group.folder, { near: near.modelsUrl, far: far.modelsUrl }, models);
  await hireCrew(group, 1, {
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
        measure(bench, accountId, kind, polls, (n) => specOf(panels, questionOf(members[kind], seed, n))),
      ),
    );
  await round(WARM_UP);
  const rows: OutageRow[] = [];
  const nearTimes: Partial<Record<State, number[]>> = {};
  for (const state of STATES) {
    await enter(state, far, bench.signal);
    for (const { times, ...row } of await round(POLLS)) {
      rows.push({ state, ...row });
      if (row.polls === 'near') nearTimes[state] = times;
    }
    progress.note(`the far provider is ${state}: ${KINDS.length * POLLS} polls done`);
  }
  // Before and after, so that a machine that grows busier does not look like an outage.
  const calm = percentile([...nearTimes.up!, ...nearTimes.back!], 0.95)!;
  const slower = (state: State) => percentile(nearTimes[state]!, 0.95)! / calm;
  return { seed, rows, slower: { hanging: slower('hanging'), refusing: slower('refusing') } };
}

async function enter(state: State, { app }: SimulatorProcess, signal: AbortSignal): Promise<void> {
  if (state === 'hanging') app.signal('SIGSTOP');
  if (state === 'refusing') app.signal('SIGKILL');
  if (state !== 'back') return;
  app.signal('SIGCONT');
  await sleep(BREAKERS_REST_MS, undefined, { signal });
}

const questionOf = (models: readonly Model[], seed: string, n: number): Question => ({
  question: `Which of these would you take along in case ${seed} ${n}?`,
  options: ['a rope', 'a lamp', 'a map'],
  panel: 'broad',
  models: models.map((_, i) => models[(i + n) % models.length]!),
});

/** Keeps so many polls of a kind going until all were asked, and takes the time of each. */
async function measure(
  { stores, signal }: Experiment,
  accountId: string,
  kind: Kind,
  count: number,
  spec: (n: number) => PollSpec,
): Promise<Measured> {
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
  const times = polls.map(({ ms }) => (ms === null ? Number.POSITIVE_INFINITY : Number(ms)));
  const ended = (status: string) => polls.filter((poll) => poll.status === status).length;
  return {
    polls: kind,
    times,
    count: polls.length,
    success: ended('success'),
    partial: ended('partial'),
    failed: ended('failed'),
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    maxMs: percentile(times, 1),
    late: times.filter((ms) => !(ms <= DEADLINE_MS + SLACK_MS)).length,
  };
}

export function outageHolds({ rows, slower }: OutageReport): boolean {
  const near = rows.filter((row) => row.polls === 'near');
  return (
    rows.every((row) => row.late === 0) &&
    near.every((row) => row.success + row.partial === row.count) &&
    Math.max(slower.hanging, slower.refusing) <= MOST_SLOWER
  );
}

export function outageLines({ seed, rows, slower }: OutageReport): string[] {
  return [
    `One of two providers goes away: seed ${seed}, ${AT_ONCE} polls of each kind at once, deadline ${seconds(DEADLINE_MS, 0)}`,
    '',
    ...table(
      ['far provider', 'polls ask', 'polls', 'success', 'partial', 'failed', 'p50', 'p95', 'longest', 'late'],
      rows.map((row) => [
        row.state,
        row.polls,
        String(row.count),
        String(row.success),
        String(row.partial),
        String(row.failed),
        seconds(row.p50Ms, 2),
        seconds(row.p95Ms, 2),
        seconds(row.maxMs, 2),
        String(row.late),
      ]),
      [0, 1],
    ),
    '',
    `p95 of polls that ask only the near provider: ${slower.hanging.toFixed(2)} times as long while the far one hangs, ` +
      `${slower.refusing.toFixed(2)} times while it refuses (at most ${MOST_SLOWER})`,
  ];
}
