import { randomBytes } from 'node:crypto';
import type { LimitReset } from '@eloquentpoll/contracts';
import { newBatchId, newPollId, newResultId } from '@eloquentpoll/polls';
import t from 'tap';
import {
  acceptBatchPolls,
  acceptPoll,
  addBatchRows,
  bury,
  cancelPoll,
  changeKey,
  checkLedger,
  claimBatches,
  claimPoll,
  endBatch,
  findKeyLimit,
  finishPoll,
  insertKey,
  inTransaction,
  type KeyLimitTerms,
  openBatch,
  pruneExpired,
  startBatch,
} from '../src/index.ts';
import { acceptance, finished, funded, newPoll, open, spec, together, USD, vote, within } from './fixtures.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 5 s

const { storage, query } = await open(t, { maxConnections: 8 });

async function limitedKey(terms: Partial<KeyLimitTerms> | null, balanceU = 100n * USD) {
  const accountId = await funded(storage, balanceU);
  const limit = terms ? { limitU: 10_000n, reset: 'never' as const, ...terms } : undefined;
  const { id: keyId } = await insertKey(storage, { accountId, hash: randomBytes(32), prefix: 'ep_k_', limit });
  const accept = async (holdU: bigint, more: Parameters<typeof newPoll>[1] = {}) => {
    const poll = newPoll(accountId, { keyId, tenant: accountId, ...more });
    return { id: poll.id, ...(await acceptPoll(storage, acceptance(accountId, { poll, holdU }))) };
  };
  const change = (limit: Partial<KeyLimitTerms>) =>
    inTransaction(storage, (tx) => changeKey(tx, { accountId, keyId }, { limit }));
  return { accountId, keyId, accept, change, limit: () => findKeyLimit(storage, keyId) };
}

/** Ends a poll for this much. */
async function end(id: string, billedU: number) {
  const claim = await claimPoll(storage, id, 'worker');
  const votes = [vote(0, { billed_u: billedU }), vote(1, { billed_u: 0 }), vote(2, { billed_u: 0 })];
  await finishPoll(storage, finished(claim!, { votes }));
}

t.test(
  'spent and held stay within the limit to the micro-USD, with polls that begin and end side by side',
  async (t) => {
    const LIMIT_U = 50_000n;
    const { accept, limit } = await limitedKey({ limitU: LIMIT_U });
    const seen: bigint[] = [];
    let spentU = 0n;
    let accepted = 0;
    let refused = 0;
    await together(400, 8, async (index) => {
      const { kind, id } = await accept(BigInt(700 + (index % 7)));
      if (kind === 'key_limit') {
        refused++;
        return;
      }
      t.equal(kind, 'accepted');
      accepted++;
      const { spentU: spent, heldU } = (await limit())!;
      seen.push(spent + heldU);
      const billedU = index % 5 === 0 ? 0 : 100 + (index % 3);
      if (index % 5 === 0) {
        const claim = await claimPoll(storage, id, 'worker');
        await bury(storage, { ...claim!, reason: 'test' });
      } else await end(id, billedU);
      spentU += BigInt(billedU);
    });
    t.ok(accepted > 300, `${accepted} accepted, ${refused} refused`);
    t.ok(seen.every((sum) => sum <= LIMIT_U));
    t.match(await limit(), { spentU, heldU: 0n });
    t.same(await checkLedger(storage), []);

    const left = LIMIT_U - spentU;
    t.equal((await accept(left + 1n)).kind, 'key_limit');
    const outcomes = await Promise.all([accept(left), accept(left), accept(left), accept(1n)]);
    const takenU = outcomes.reduce((sum, { kind }, i) => sum + (kind === 'accepted' ? (i < 3 ? left : 1n) : 0n), 0n);
    t.ok(takenU === left || takenU === 1n, 'one of them fits');
    t.match(await limit(), { heldU: takenU });
    t.same(await checkLedger(storage), []);
  },
);

t.test('what is refused for another reason gives the limit back', async (t) => {
  const { accountId, keyId, accept, limit } = await limitedKey({ limitU: 10n * USD }, 1_000n);
  t.equal((await accept(2_000n)).kind, 'insufficient');
  t.match(await limit(), { heldU: 0n });
  const free = newPoll(accountId, { keyId, tenant: accountId, spec: { ...newPoll(null).spec, panel_name: 'free' } });
  await acceptPoll(storage, acceptance(accountId, { poll: free, holdU: 10n, free: { dailyCapU: 1_000n } }));
  t.match(await limit(), { heldU: 0n }, 'the pool pays a free poll');
  const { id } = await accept(500n);
  t.match(await limit(), { heldU: 500n });
  t.equal((await cancelPoll(storage, accountId, id))?.outcome, 'ended_now');
  t.match(await limit(), { heldU: 0n, spentU: 0n });
  const repeated = newPoll(accountId, { keyId, tenant: accountId });
  const same = acceptance(accountId, { poll: repeated, holdU: 300n });
  const answers = await Promise.all([1, 2, 3].map(() => acceptPoll(storage, same).catch(() => null)));
  t.ok(answers.some((answer) => answer?.kind === 'accepted'));
  t.match(await limit(), { heldU: 300n }, 'repeating a poll holds once');
  t.same(await checkLedger(storage), []);
});

t.test('a transaction that does not commit leaves the limit as it was', async (t) => {
  const { accountId, keyId, limit } = await limitedKey({});
  const undone = new Error('undone');
  const attempt = storage.db.transaction().execute(async (db) => {
    const poll = newPoll(accountId, { keyId, tenant: accountId });
    await acceptPoll(within(storage, db), acceptance(accountId, { poll, holdU: 9_000n }));
    t.match(await findKeyLimit({ db }, keyId), { heldU: 9_000n });
    throw undone;
  });
  await t.rejects(attempt, undone);
  t.match(await limit(), { heldU: 0n });
});

/** As if everything about the key had happened this much earlier. */
async function moveBack(keyId: string, interval: string) {
  await query(`update key_limits set period = (period - $2::interval)::date where key_id = $1`, [keyId, interval]);
  await query(`update usage_days set day = (day - $2::interval)::date where key_id = $1`, [keyId, interval]);
}

for (const [reset, interval] of [
  ['daily', '1 day'],
  ['monthly', '1 month'],
] as [LimitReset, string][])
  t.test(`a ${reset} limit begins anew, and running polls keep what they hold`, async (t) => {
    const { keyId, accept, limit } = await limitedKey({ reset });
    const { id: ended } = await accept(8_000n);
    await end(ended, 7_000);
    const { id: running } = await accept(2_500n);
    t.equal((await accept(600n)).kind, 'key_limit');
    t.match(await limit(), { spentU: 7_000n, heldU: 2_500n });
    await moveBack(keyId, interval);
    t.match(await limit(), { spentU: 0n, heldU: 2_500n }, 'nothing has asked since');
    t.equal((await accept(7_501n)).kind, 'key_limit');
    const { kind, id: next } = await accept(7_500n);
    t.equal(kind, 'accepted');
    await end(running, 2_400);
    t.match(await limit(), { spentU: 2_400n, heldU: 7_500n }, 'it counts in the period of its end');
    await end(next, 1);
    const { resetsAt } = (await limit())!;
    const [due] = await query<{ at: Date }>(
      `select (date_trunc('${reset === 'daily' ? 'day' : 'month'}', now() at time zone 'utc') + interval '${interval}') at time zone 'utc' as at`,
    );
    t.same(resetsAt, due!.at);
  });

t.test('a transaction from before midnight counts in the period before', async (t) => {
  const { keyId, accept, limit } = await limitedKey({ reset: 'daily' });
  const { id } = await accept(1_000n);
  await query('update key_limits set period = period + 1 where key_id = $1', [keyId]);
  await end(id, 900);
  const [row] = await query<{ spent_u: string; held_u: string }>('select * from key_limits where key_id = $1', [keyId]);
  t.match(row, { spent_u: '0', held_u: '0' });
  t.match(await limit(), { heldU: 0n });
});

t.test('a limit that is set by a transaction from before midnight counts in the period that has begun', async (t) => {
  const { accountId, keyId, accept, change, limit } = await limitedKey({ reset: 'daily' });
  await end((await accept(1_000n)).id, 900);
  await moveBack(keyId, '-1 day');
  const tomorrow = `select to_char((now() at time zone 'utc')::date + 1, 'YYYY-MM-DD') as day`;
  const period = `select to_char(period, 'YYYY-MM-DD') as day from key_limits where key_id = '${keyId}'`;
  await change({ limitU: 20_000n });
  t.same(await query(period), await query(tomorrow), 'a poll has counted in it');
  t.match(await limit(), { limitU: 20_000n, spentU: 900n });

  // Where the reset changes, too, the row says nothing of the new period: the clock does, here one that is a year ahead.
  await query('begin');
  await query(
    `create function clock_timestamp() returns timestamptz language sql as $$ select now() + interval '1 year' $$`,
  );
  await query('alter function set_key_limit set search_path = public, pg_catalog, pg_temp');
  const next = `select to_char(date_trunc('month', (now() + interval '1 year') at time zone 'utc'), 'YYYY-MM-DD') as day`;
  await query(`select set_key_limit('${accountId}', '${keyId}', 20000, 'monthly')`);
  const found = [await query(period), await query(next)];
  await query('rollback');
  t.same(found[0], found[1]);
});

t.test('a limit that is set while polls run and end counts all of them', async (t) => {
  const { accountId, keyId, accept, change, limit } = await limitedKey(null);
  t.equal(await limit(), null);
  const ids = await together(24, 6, async () => (await accept(1_000n)).id);
  const changes = [10_000n, 20_000n, null, 30_000n];
  await Promise.all([
    together(24, 4, (index) => end(ids[index]!, 300)),
    together(4, 2, (index) => change({ limitU: changes[index]!, reset: index % 2 ? 'daily' : 'monthly' })),
    together(12, 4, async () => void (await accept(10n))),
  ]);
  await change({ limitU: 7_320n, reset: 'never' });
  const found = (await limit())!;
  const [books] = await query<{ spent_u: string; held_u: string }>(
    `select coalesce(sum(t.amount_u) filter (where t.kind = 'post'), 0)::text as spent_u,
            coalesce(sum(t.amount_u) filter (where t.kind = 'hold' and p.status = 'running'), 0)::text as held_u
       from transfers t join polls p on p.id = t.poll_id where p.key_id = $1`,
    [keyId],
  );
  t.same({ spent_u: String(found.spentU), held_u: String(found.heldU) }, books);
  t.equal(found.spentU, 7_200n);
  t.equal((await accept(1n)).kind, found.heldU >= 120n ? 'key_limit' : 'accepted');
  t.ok(await change({ limitU: null }));
  t.equal(await limit(), null);
  t.equal((await accept(1_000_000n)).kind, 'accepted', 'without a limit');
  await t.rejects(change({ reset: 'daily' }), { name: 'NoLimitToReset' });
  const stranger = await funded(storage, 0n);
  const terms = { limit: { limitU: 1n } };
  t.equal(await inTransaction(storage, (tx) => changeKey(tx, { accountId: stranger, keyId }, terms)), null);
  t.equal((await accept(1n)).kind, 'accepted');
  t.ok(accountId);
});

t.test('a batch takes its reservation from the limit once, and gives back what its polls leave', async (t) => {
  const { accountId, keyId, accept, change, limit } = await limitedKey({ limitU: 10_000n });
  const begin = async (reserveU: bigint) => {
    const id = newBatchId();
    t.equal(await openBatch(storage, { id, accountId, keyId, maxOpen: 100 }), 'opened');
    const { panel_name, confidence_threshold, max_cost_u, min_votes, search, question, options } = spec;
    const order = { question, options, panel_name, confidence_threshold, max_cost_u, min_votes, search };
    const rows = [1, 2].map((line) => ({ line, customId: `row ${line}`, order, gold: null }));
    await addBatchRows(storage, id, rows);
    const terms = { maxCostU: null, metadata: {}, skipped: { count: 0, first: [] } };
    return { id, ...(await startBatch(storage, { id, accountId, reserveU, ...terms })) };
  };
  t.equal((await begin(10_001n)).kind, 'key_limit');
  t.match(await limit(), { heldU: 0n });
  const batch = await begin(9_000n);
  t.equal(batch.kind, 'started');
  t.match(await limit(), { heldU: 9_000n });
  t.equal((await accept(1_001n)).kind, 'key_limit');
  const epoch = (await claimBatches(storage, 'runner', 60_000, 100)).find(({ id }) => id === batch.id)!.epoch;
  const polls = [1, 2].map((line) => ({
    line,
    id: newPollId(),
    resultId: newResultId(),
    spec: { ...spec, service_tier: 'flex' as const },
    holdU: 2_000n,
    providerMaxU: 1_000,
  }));
  await acceptBatchPolls(storage, { batchId: batch.id, epoch, entryPoint: 'batches', polls });
  t.match(await limit(), { spentU: 0n, heldU: 9_000n }, 'its polls take nothing more');
  await end(polls[0]!.id, 700);
  t.match(await limit(), { spentU: 700n, heldU: 8_300n });
  await change({ limitU: 12_000n, reset: 'daily' });
  t.match(await limit(), { spentU: 700n, heldU: 8_300n }, 'also when it is counted anew');
  await cancelPoll(storage, accountId, polls[1]!.id);
  t.match(await limit(), { spentU: 700n, heldU: 8_300n });
  t.same(await checkLedger(storage), []);
  t.equal(await endBatch(storage, { id: batch.id, epoch }, null), 'ended_now');
  t.match(await limit(), { spentU: 700n, heldU: 0n });
  t.same(await checkLedger(storage), []);

  const other = await limitedKey(null);
  const unlimited = newBatchId();
  await openBatch(storage, { id: unlimited, accountId: other.accountId, keyId: other.keyId, maxOpen: 5 });
  const terms = { maxCostU: null, metadata: {}, skipped: { count: 0, first: [] } };
  await startBatch(storage, { id: unlimited, accountId: other.accountId, reserveU: 400n, ...terms });
  await other.change({ limitU: 500n });
  t.match(await other.limit(), { heldU: 400n }, 'a limit that is set while a batch runs');
});

t.test('the books agree with all limits in the end', async (t) => {
  t.same(await checkLedger(storage), []);
  const violations = await wholeCheck(storage);
  t.same(
    violations.filter(({ rule }) => rule !== 'usage_cost'),
    [],
    'days were moved',
  );
});

t.test(
  'keys that were revoked cost the check of every minute nothing, and the usage of an account is read once',
  async (t) => {
    const { accountId, keyId, accept } = await limitedKey({ limitU: USD });
    const poll = await accept(10_000n);
    await end(poll.id, 400);
    await query(
      `with k as (insert into api_keys (account_id, hash, prefix, revoked_at)
                select $1::uuid, sha256(convert_to($1::uuid::text || n, 'UTF8')), 'ep_k_', now() - interval '2 hours' from generate_series(1, 20000) n returning id)
     insert into key_limits (key_id, account_id, limit_u, reset, period) select id, $1::uuid, 5, 'never', '-infinity' from k`,
      [accountId],
    );
    await query(
      `insert into usage_days (account_id, day, key_id, preset, surface, polls, completed, failed, canceled, split_or_partial, cost_u, saved_u, ms_counts, cost_counts)
     select $1, '2020-01-01'::date + n, $2, 'broad', 'rest', 1, 1, 0, 0, 0, 0, 0, 0, 0 from generate_series(1, 200) n`,
      [accountId, keyId],
    );
    const rowsRead = async (check: string): Promise<Record<string, number>> => {
      await query('analyze api_keys, key_limits, usage_days');
      await query('begin');
      const reads = async () =>
        query<{ name: string; read: number }>(
          'select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 as read from pg_stat_xact_user_tables',
        );
      const before = new Map((await reads()).map(({ name, read }) => [name, read]));
      t.same(await query(check), []);
      const after = await reads();
      await query('rollback');
      return Object.fromEntries(after.map(({ name, read }) => [name, read - (before.get(name) ?? 0)]));
    };
    const ofMinute = await rowsRead('select * from check_key_limits()');
    t.ok(ofMinute.usage_days! <= 10_000, `${ofMinute.usage_days} rows of usage`);
    t.ok(ofMinute.key_limits! + ofMinute.api_keys! <= 90_000, 'each limit a few times at most');
    const ofAll = await rowsRead('select * from check_limits_of(array(select key_id from key_limits))');
    t.ok(ofAll.usage_days! <= 10_000, `${ofAll.usage_days} rows of usage`);

    await query(
      'update key_limits set spent_u = 3 where key_id = (select id from api_keys where revoked_at is not null limit 1)',
    );
    t.same(await checkLedger(storage), []);
    t.match(await wholeCheck(storage), [{ rule: 'key_limit_spent' }], 'the whole check reads them too');
    while ((await pruneExpired(storage, 5_000)) >= 5_000);
    t.match(await query('select count(*)::integer as kept from key_limits where limit_u = 5'), [{ kept: 20_000 }]);
    t.match(await findKeyLimit(storage, keyId), { spentU: 400n });
  },
);
