import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Behaviour } from '@eloquentpoll/simulator/app';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { createFundedAccount } from '../src/fixture/accounts.ts';
import { type Experiment, runExperiment } from '../src/fixture/experiment.ts';
import { startModule } from '../src/fixture/modules.ts';
import { fixtureSpec, submit } from '../src/fixture/polls.ts';
import { startSimulator } from '../src/fixture/simulators.ts';
import { FAILURE_SCRIPTS, type FailureScript } from './fixtures/failure-scripts.ts';
import { IMPATIENT, type MadeModel, type MadeProvider, makePanels } from './fixtures/roster-file.ts';

// slow: 20 s

// Every way a model can misbehave, in three places: one model of five whose others agree, one of three that decides, and
// all. Each poll has models and providers of its own, so that they share no breaker and no retry budget.

const PLACES = ['one of five', 'decisive', 'all five'] as const;
type Place = (typeof PLACES)[number];

const DEADLINE_MS = 8_000;
/** Less than what a sweep adds, which ends a poll 5 s after its deadline where its worker did not. */
const SLACK_MS = 4_000;
/** How the honest ones vote, by seat; the first seat misbehaves. */
const VOTES: Record<Place, readonly ('yes' | 'no')[]> = {
  'one of five': ['yes', 'yes', 'yes', 'yes', 'yes'],
  decisive: ['yes', 'yes', 'no'],
  'all five': ['yes', 'yes', 'yes', 'yes', 'yes'],
};
const RECORDED = '# column order: yes,no\nquestion_id,category,k,answer,votes\n1,lab,2,A,AB\n';
const FAMILIES = ['oak', 'pine', 'lime', 'plum', 'teak'];

interface ScriptRow {
  /** Of the misbehaving models; empty when the poll did not wait for them. */
  errors: string[];
  status: string;
  endedMs: number;
  billedU: number;
  overbilled: boolean;
}

t.test(
  'each way a model can misbehave ends its poll in time, with the status and error that it must have',
  async (t) => {
    const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
    await runExperiment(servers, new AbortController().signal, async (experiment) => {
      const asked = await askAll(experiment);
      for (const [pollId, { script, place }] of asked)
        t.same(wrongIn(await rowOf(experiment, pollId, place), script, place), [], `${script.name}, ${place}`);
    });
  },
);

async function askAll(experiment: Experiment) {
  const { stores, group } = experiment;
  const cases = FAILURE_SCRIPTS.flatMap((script, s) =>
    PLACES.map((place, p) => ({ script, place, key: `s${s}p${p}` })),
  );
  const models = cases.flatMap(({ place, key }) =>
    VOTES[place].map((_, seat): MadeModel => {
      const provider = misbehaves(place, seat) ? key : `${key}-honest`;
      return { id: modelId(key, seat), provider, family: FAMILIES[seat]! };
    }),
  );
  const votesFile = join(group.folder, 'votes.csv');
  await writeFile(votesFile, RECORDED);
  const simulator = await startSimulator(group, {
    votes_file: votesFile,
    models: Object.fromEntries(cases.flatMap(({ script, place, key }) => behaviours(script, place, key))),
  });
  const url = simulator.modelsUrl;
  const providers = Object.fromEntries(
    cases.flatMap(({ script, key }): [string, MadeProvider][] => [
      [key, script.error === 'timeout' ? { url, timeouts: IMPATIENT } : { url }],
      [`${key}-honest`, { url }],
    ]),
  );
  const { file, panels } = await makePanels(group.folder, providers, models);
  await startModule(group, 'worker', '@eloquentpoll/worker/main', {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: file,
    WORKER_CONCURRENCY: '200',
  });
  const accountId = await createFundedAccount(stores.storage);
  const asked = new Map<string, (typeof cases)[number]>();
  for (const one of cases) {
    const spec = fixtureSpec(panels, {
      question: 'Which letter is the right one in case #1?',
      options: ['A', 'B'],
      panel: 'broad',
      models: VOTES[one.place].map((_, seat) => panels.model(modelId(one.key, seat))!),
    });
    asked.set(await submit(stores, accountId, spec, DEADLINE_MS), one);
  }
  await eventually(
    'every poll with misbehaving models has ended',
    async () => {
      const [row] = await stores.query<{ n: number }>(
        `select count(*)::integer as n from polls where status = 'running'`,
      );
      return row?.n === 0;
    },
    DEADLINE_MS + 20_000,
  );
  return asked;
}

const misbehaves = (place: Place, seat: number): boolean => seat === 0 || place === 'all five';

const modelId = (key: string, seat: number): string => `sim/${key}-${FAMILIES[seat]}`;

function behaviours({ failure }: FailureScript, place: Place, key: string): [string, Behaviour][] {
  return VOTES[place].map((vote, seat) => [
    modelId(key, seat),
    {
      voter: 'recorded',
      recorded_as: vote,
      latency: { p50_ms: 60, sigma: 0.2, straggler_rate: 0 },
      ...(misbehaves(place, seat) ? { failures: [{ ...failure, rate: 1 }] } : {}),
    },
  ]);
}

async function rowOf({ stores }: Experiment, pollId: string, place: Place): Promise<ScriptRow> {
  const [poll] = await stores.query<{ status: string | null; ended_ms: string | null; billed_u: string | null }>(
    `select r.status, r.total_cost_u as billed_u, extract(epoch from p.finished_at - p.created_at) * 1000 as ended_ms
       from polls p left join results r on r.poll_id = p.id where p.id = $1`,
    [pollId],
  );
  const votes = await stores.query<{ error: string | null; billed_u: string; reserve_u: number }>(
    `select b.error, b.billed_u, (p.spec -> 'seats' -> b.seat::integer ->> 'reserve_u')::integer as reserve_u
       from votes b join polls p on p.id = b.poll_id
      where b.poll_id = $1 and ($2 or b.seat = 0) order by b.seat`,
    [pollId, place === 'all five'],
  );
  return {
    errors: [...new Set(votes.map((vote) => vote.error ?? 'vote'))],
    status: poll?.status ?? 'still running',
    endedMs: Number(poll?.ended_ms ?? Number.POSITIVE_INFINITY),
    billedU: Number(poll?.billed_u ?? 0),
    overbilled: votes.some((vote) => Number(vote.billed_u) > vote.reserve_u),
  };
}

function wrongIn(row: ScriptRow, { error }: FailureScript, place: Place): string[] {
  const status = place === 'one of five' || error === null ? 'success' : place === 'decisive' ? 'partial' : 'failed';
  const expected = error ?? 'vote';
  const problems: [boolean, string][] = [
    [row.errors.some((found) => found !== expected), `the vote says ${row.errors}, not ${expected}`],
    [row.errors.length === 0 && place !== 'one of five', 'the vote is missing'],
    [row.status !== status, `the poll is ${row.status}, not ${status}`],
    [!(row.endedMs <= DEADLINE_MS + SLACK_MS), `the poll ended after ${row.endedMs} ms`],
    [row.status === 'failed' && row.billedU !== 0, 'a failed poll was billed'],
    [row.overbilled, 'a vote was billed more than its reserve'],
  ];
  return problems.filter(([wrong]) => wrong).map(([, sentence]) => sentence);
}
