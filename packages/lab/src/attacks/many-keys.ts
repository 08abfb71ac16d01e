import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { pruneExpired } from '@eloquentpoll/storage';
import type { ProgressLine } from '../terminal/progress.ts';
import { percentile } from '../terminal/table.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';

// A million Idempotency-Keys, half of them expired. A lookup must use an index, a poll with a key must be accepted as
// fast as before, and pruning must delete the expired keys, and only these, in short steps.

const STEP = 5_000;
const TRIES = 200;
/** For one step of pruning. Polls are accepted during it, so they do not wait this long. */
const MAX_STEP_MS = 2_000;

interface Plan {
  'Node Type': string;
  'Index Name'?: string;
  Plans?: Plan[];
}

export async function manyKeys(
  target: AttackTarget,
  { keys }: { keys: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const { stores, accountId } = target;
  const before = await acceptMs(target, TRIES);
  progress.show(`many keys: ${keys} are made`);
  await stores.query(
    `insert into idempotency (principal, entry_point, key, fingerprint, poll_id, expires_at)
     select $1, 'poll', 'key-' || n, md5(n::text), 'ps_' || md5(n::text),
            now() + case when n % 2 = 0 then interval '12 hours' else -interval '1 second' end
       from generate_series(1, $2::int) n`,
    [accountId, keys],
  );
  await stores.query('analyze idempotency');
  const used = await lookupIndex(target);
  const during = await acceptMs(target, TRIES);

  const steps: number[] = [];
  let [gone, most] = [0, 0];
  const accepting = acceptMs(target, TRIES);
  for (;;) {
    const began = performance.now();
    const pruned = await pruneExpired(stores.storage, STEP);
    if (pruned === 0) break;
    steps.push(performance.now() - began);
    most = Math.max(most, pruned);
    gone += pruned;
    progress.show(`many keys: ${gone} of ${Math.floor((keys + 1) / 2)} gone`);
  }
  const beside = await accepting;
  const [{ left = 0, over = 0 } = {}] = await stores.query<{ left: number; over: number }>(
    `select count(*) filter (where key like 'key-%')::int as left,
            count(*) filter (where expires_at <= now())::int as over from idempotency`,
  );
  const at = (values: readonly number[], q: number) => Math.round((percentile(values, q) ?? 0) * 10) / 10;
  const longest = at(steps, 1);
  const figures = {
    keys,
    index: used,
    accept_p50_ms: { before: at(before, 0.5), among_all: at(during, 0.5), while_pruned: at(beside, 0.5) },
    accept_p99_ms: { before: at(before, 0.99), among_all: at(during, 0.99), while_pruned: at(beside, 0.99) },
    steps: steps.length,
    most_at_once: most,
    step_p50_ms: at(steps, 0.5),
    longest_step_ms: longest,
    left,
    over,
  };
  return {
    figures,
    counts: { keys, 'keys over that stayed': over },
    holds:
      used === 'idempotency_pkey' &&
      most <= STEP &&
      left === Math.floor(keys / 2) &&
      over === 0 &&
      longest < MAX_STEP_MS &&
      // The margin is for busy machines; a scan of all keys would take hundreds of milliseconds.
      at(during, 0.5) < at(before, 0.5) + 100,
    lines: [
      `${keys} keys: one is found by ${used ?? 'no index'}; a poll with a key is accepted in ${at(during, 0.5)} ms (median; ${at(before, 0.5)} before), p99 ${at(during, 0.99)} (${at(before, 0.99)}), while they are pruned ${at(beside, 0.5)}, p99 ${at(beside, 0.99)}`,
      `${gone} that were over went in ${steps.length} steps of at most ${most}, ${at(steps, 0.5)} ms each (median, longest ${longest}); ${left} that count stayed`,
    ],
  };
}

/** The index that a lookup of a key uses; null if it uses none. */
async function lookupIndex({ stores, accountId }: AttackTarget): Promise<string | null> {
  const [row] = await stores.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `explain (format json) select * from idempotency
      where principal = '${accountId}' and entry_point = 'poll' and key = 'key-77'`,
  );
  const indexOf = (plan: Plan): string | null =>
    plan['Index Name'] ?? plan.Plans?.map(indexOf).find((name) => name !== null) ?? null;
  return row ? indexOf(row['QUERY PLAN'][0]!.Plan) : null;
}

/** How long it takes to accept polls, one after the other, each with a new Idempotency-Key. */
async function acceptMs({ port, key }: AttackTarget, count: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let i = 0; i < count; i++) {
    const began = performance.now();
    await accept(port, key);
    tookMs.push(performance.now() - began);
  }
  return tookMs;
}

function accept(port: number, key: string): Promise<void> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/polls', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode === 202 ? resolve() : reject(new Error(`${answer.statusCode}`))));
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify({ question: 'Which of these is the best choice?', options: ['A', 'B'] }));
  });
}
