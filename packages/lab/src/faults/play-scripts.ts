import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Behaviour } from '@eloquentpoll/simulator/app';
import { createFundedAccount } from '../fixture/accounts.ts';
import type { Experiment } from '../fixture/experiment.ts';
import { specOf, submit } from '../fixture/polls.ts';
import { type MadeModel, makePanels } from '../fixture/roster-file.ts';
import { startSimulator } from '../fixture/simulators.ts';
import type { Progress } from '../terminal/progress.ts';
import { seconds, table } from '../terminal/table.ts';
import { hireCrew } from './crew.ts';
import { FAILURE_SCRIPTS, type FailureScript } from './failure-scripts.ts';

// Every failure script in three places: one model of five whose others agree, one model of three on whose vote the
// outcome depends, and all models. Each poll has models and a provider of its own, so that no breaker and no retry
// budget of one is felt by another.

const PLACES = ['one of five', 'decisive', 'all five'] as const;
type Place = (typeof PLACES)[number];

const DEADLINE_MS = 8_000;
/** The last vote, the store and the announcement on a busy machine. */
const SLACK_MS = 1_000;
/** How the honest ones vote, by seat; the first seat misbehaves. */
const VOTES: Record<Place, readonly ('yes' | 'no')[]> = {
  'one of five': ['yes', 'yes', 'yes', 'yes', 'yes'],
  decisive: ['yes', 'yes', 'no'],
  'all five': ['yes', 'yes', 'yes', 'yes', 'yes'],
};
const RECORDED = '# column order: yes,no\nquestion_id,category,k,answer,votes\n1,lab,2,A,AB\n';
const FAMILIES = ['oak', 'pine', 'lime', 'plum', 'teak'];

export interface ScriptRow {
  script: string;
  place: Place;
  /** Of the misbehaving models; empty when the poll did not wait for them. */
  errors: string[];
  calls: number[];
  status: string;
  reason: string | null;
  endedMs: number;
  billedU: number;
  wrong: string[];
}

export async function playScripts(bench: Experiment, progress: Progress): Promise<ScriptRow[]> {
  const { stores, group, signal } = bench;
  const cases = FAILURE_SCRIPTS.flatMap((script, s) =>
    PLACES.map((place, p) => ({ script, place, key: `s${s}p${p}` })),
  );
  const models = cases.flatMap(({ place, key }) =>
    VOTES[place].map((_, seat): MadeModel => ({ id: modelId(key, seat), provider: key, family: FAMILIES[seat]! })),
  );
  const votesFile = join(group.folder, 'votes.csv');
  await writeFile(votesFile, RECORDED);
  const simulator = await startSimulator(group, {
    votes_file: votesFile,
    models: Object.fromEntries(cases.flatMap(({ script, place, key }) => behaviours(script, place, key))),
  });
  const providers = Object.fromEntries(cases.map(({ key }) => [key, simulator.modelsUrl]));
  const { file, panels } = await makePanels(group.folder, providers, models);
  await hireCrew(group, 1, {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    REDIS_PREFIX: stores.redisPrefix,
    MODELS_FILE: file,
    WORKER_CONCURRENCY: '200',
  });
  const accountId = await createFundedAccount(stores.storage);
  const asked = new Map<string, (typeof cases)[number]>();
  for (const one of cases) {
    const spec = specOf(panels, {
      question: 'Which letter is the right one in case #1?',
      options: ['A', 'B'],
      panel: 'broad',
      models: VOTES[one.place].map((_, seat) => panels.model(modelId(one.key, seat))!),
    });
    asked.set(await submit(stores, accountId, spec, DEADLINE_MS), one);
  }
  for (let left = asked.size, until = Date.now() + DEADLINE_MS + 20_000; left > 0 && Date.now() < until; ) {
    await sleep(100, undefined, { signal });
    const [row] = await stores.query<{ n: number }>(
      `select count(*)::integer as n from polls where status = 'running'`,
    );
    left = row!.n;
    progress.show(`${asked.size - left} of ${asked.size} polls with misbehaving models have ended`);
  }
  progress.end();
  return Promise.all([...asked].map(([pollId, { script, place }]) => rowOf(bench, pollId, script, place)));
}

const modelId = (key: string, seat: number): string => `sim/${key}-${FAMILIES[seat]}`;

function behaviours({ failure }: FailureScript, place: Place, key: string): [string, Behaviour][] {
  return VOTES[place].map((vote, seat) => [
    modelId(key, seat),
    {
      voter: 'recorded',
      recorded_as: vote,
      latency: { p50_ms: 60, sigma: 0.2, straggler_rate: 0 },
      ...(seat === 0 || place === 'all five' ? { failures: [{ ...failure, rate: 1 }] } : {}),
    },
  ]);
}

interface PollRow {
  status: string | null;
  reason: string | null;
  ended_ms: string | null;
  billed_u: string | null;
}

async function rowOf({ stores }: Experiment, pollId: string, script: FailureScript, place: Place): Promise<ScriptRow> {
  const [poll] = await stores.query<PollRow>(
    `select r.status, r.termination_reason as reason, r.total_cost_u as billed_u,
            extract(epoch from p.finished_at - p.created_at) * 1000 as ended_ms
       from polls p left join results r on r.poll_id = p.id where p.id = $1`,
    [pollId],
  );
  const votes = await stores.query<{ error: string | null; calls: number; billed_u: string; reserve_u: number }>(
    `select b.error, b.calls, b.billed_u, (p.spec -> 'seats' -> b.seat::integer ->> 'reserve_u')::integer as reserve_u
       from votes b join polls p on p.id = b.poll_id
      where b.poll_id = $1 and ($2 or b.seat = 0) order by b.seat`,
    [pollId, place === 'all five'],
  );
  const row: Omit<ScriptRow, 'wrong'> = {
    script: script.name,
    place,
    errors: [...new Set(votes.map((vote) => vote.error ?? 'vote'))],
    calls: votes.map((vote) => vote.calls),
    status: poll?.status ?? 'still running',
    reason: poll?.reason ?? null,
    endedMs: poll?.ended_ms == null ? Number.POSITIVE_INFINITY : Math.round(Number(poll.ended_ms)),
    billedU: Number(poll?.billed_u ?? 0),
  };
  const overbilled = votes.some((vote) => Number(vote.billed_u) > vote.reserve_u);
  return { ...row, wrong: wrongIn(row, script, overbilled) };
}

function wrongIn(row: Omit<ScriptRow, 'wrong'>, { error }: FailureScript, overbilled: boolean): string[] {
  const wrong: string[] = [];
  const says = error ?? 'vote';
  if (row.errors.some((found) => found !== says)) wrong.push(`the vote should say ${says}`);
  if (row.errors.length === 0 && row.place !== 'one of five') wrong.push('the vote is missing');
  const status =
    row.place === 'one of five' || error === null ? 'success' : row.place === 'decisive' ? 'partial' : 'failed';
  if (row.status !== status) wrong.push(`the poll should be ${status}`);
  if (!(row.endedMs <= DEADLINE_MS + SLACK_MS)) wrong.push('the poll missed its deadline');
  if (row.status === 'failed' && row.billedU !== 0) wrong.push('a failed poll was billed');
  if (overbilled) wrong.push('a vote was billed more than its reserve');
  return wrong;
}

export const scriptsHold = (rows: readonly ScriptRow[]): boolean => rows.every((row) => row.wrong.length === 0);

export function scriptLines(rows: readonly ScriptRow[]): string[] {
  return [
    `Models that misbehave: polls with a deadline of ${seconds(DEADLINE_MS, 0)}; first byte within 1.5 s, vote within 4 s`,
    '',
    ...table(
      ['script', 'who', 'vote', 'calls', 'poll', 'reason', 'ended in', 'billed', ''],
      rows.map((row) => [
        row.script,
        row.place,
        row.errors.join(', ') || 'not waited for',
        spread(row.calls),
        row.status,
        row.reason ?? '-',
        seconds(row.endedMs, 2),
        `${row.billedU} u`,
        row.wrong.length === 0 ? '' : `<-- ${row.wrong.join('; ')}`,
      ]),
      [0, 1, 2, 4, 5, 8],
    ),
  ];
}

function spread(numbers: readonly number[]): string {
  if (numbers.length === 0) return '-';
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  return low === high ? String(low) : `${low} to ${high}`;
}
