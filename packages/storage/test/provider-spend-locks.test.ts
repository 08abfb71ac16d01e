import t from 'tap';
import type { HeardAudit } from '../src/heard-audit.ts';
import {
  acceptPoll,
  checkLedger,
  claimAudit,
  claimPoll,
  finishPoll,
  noteRosterVersion,
  pruneExpired,
} from '../src/index.ts';
import { acceptance, deadlocks, type Fixture, finished, funded, newPoll, open, USD, vote } from './fixtures.ts';
import { isWaitedFor, type Session, session, waitsFor } from './sessions.ts';

// Polls of different payers share the rows of provider spend, and lock several of them near the ceiling: in one order.

const ROWS = 16;
const SHARE_U = 62_500;
const CEILING = `${SHARE_U * ROWS}, ${SHARE_U * ROWS}`;
const TAKE = `select * from take_spend(50000, ${CEILING})`;
/** In an hour and a day that no test lasts to see, so that what is counted there stays. */
const FILL = `update provider_spend
  set hour = date_trunc('hour', now(), 'UTC') + interval '2 days', hour_u = 20000, day = (now() at time zone 'utc')::date + 2, day_u = 20000
  where shard = `;

/** The next number that this session draws is of this row. */
async function draw({ query }: Session, shard: number): Promise<void> {
  for (let seed = 0; seed < 1; seed += 0.001) {
    await query('select setseed($1)', [seed]);
    const [drawn] = await query<{ n: number }>(`select floor(random() * ${ROWS})::int as n`);
    if (drawn!.n !== shard) continue;
    await query('select setseed($1)', [seed]);
    return;
  }
  throw new Error(`no seed draws ${shard}`);
}

/** Rows that a transaction has locked. */
const locked = async ({ query }: Fixture): Promise<number[]> => {
  const rows = await query<{ shard: number }>(`
    select shard from provider_spend where shard not in (select shard from provider_spend for update skip locked) order by shard`);
  return rows.map(({ shard }) => shard);
};

t.test('who finds that a row no longer fits has no lock of it while all are locked', async (t) => {
  const fixture = await open(t);
  const sessions = await Promise.all(Array.from({ length: 5 }, () => session(t, fixture)));
  const [guard, first, second, fills5, fills9] = sessions as [Session, Session, Session, Session, Session];
  await guard.query('begin');
  await guard.query('select from provider_spend where shard = 0 for update');
  for (const [taker, fills, shard] of [
    [first, fills5, 5],
    [second, fills9, 9],
  ] as const) {
    await fills.query('begin');
    await fills.query(`${FILL} ${shard}`);
    await draw(taker, shard);
  }
  const taking = first.query<{ shard: number }>(TAKE);
  await waitsFor(t, fixture, first, [fills5]);
  await fills5.query('commit');
  await waitsFor(t, fixture, first, [guard]);
  t.same(await locked(fixture), [0, 9], 'nothing but what others have');

  const takingToo = second.query<{ shard: number }>(TAKE);
  await waitsFor(t, fixture, second, [fills9]);
  await fills9.query('commit');
  await waitsFor(t, fixture, second, [guard, first]);
  t.same(await locked(fixture), [0]);

  await guard.query('commit');
  t.match(await Promise.all([taking, takingToo]), [[{ shard: 5 }], [{ shard: 9 }]]);
  t.match(await fixture.query('select sum(hour_u)::int as hour, sum(day_u)::int as day from provider_spend'), [
    { hour: 140_000, day: 140_000 },
  ]);
  await Promise.all(sessions.map(({ end }) => end()));
  await fixture.storage[Symbol.asyncDispose]();
  t.equal(await deadlocks(fixture.query), 0);
});

const CEILING_U = { hourU: USD, dayU: USD };
const claim = ({ storage }: Fixture) =>
  claimAudit(storage, { worker: 'w', leaseMs: 60_000, maxAttempts: 3, dayCapU: USD, ceiling: CEILING_U });

/** So many audits that a worker has claimed, with rows of provider spend. */
async function claimedAudits(fixture: Fixture, count: number): Promise<void> {
  const { storage } = fixture;
  const models = [0, 1, 2].map((n) => ({ modelId: `sim/m${n}`, family: `f${n}` }));
  const roster = {
    version: 'v1',
    panelName: 'broad',
    order: 'shuffled',
    search: false,
    simulated: true,
    models,
  } as const;
  await noteRosterVersion(storage, roster);
  const accountId = await funded(storage, BigInt(count) * USD);
  const audit: HeardAudit = {
    askedOrder: 'shuffled',
    threshold: 0.95,
    optionCount: 2,
    models: ['sim/m0'],
    votes: [0],
    said: [0.9],
    reason: 'confidence',
    winner: 0,
    maxU: 2_000,
    panelU: 3_000,
  };
  for (let n = 0; n < count; n++) {
    const poll = newPoll(accountId, { auditVersion: 'v1' });
    await acceptPoll(storage, acceptance(null, { poll }));
    await finishPoll(storage, finished((await claimPoll(storage, poll.id, 'w'))!, { votes: [vote(0)], audit }));
    await claim(fixture);
  }
}

t.test('an audit that is claimed again locks the row of its earlier claim in that order, too', async (t) => {
  const fixture = await open(t);
  const { query } = fixture;
  await claimedAudits(fixture, 1);
  await query("update audit_jobs set lease_until = now() - interval '1 second', spend_shard = 5");

  const guard = await session(t, fixture);
  await guard.query('begin');
  await guard.query('select from provider_spend where shard = 0 for update');
  const claiming = claim(fixture);
  await isWaitedFor(t, fixture, guard);
  t.same(await locked(fixture), [0]);
  await guard.query('commit');
  t.match(await claiming, { kind: 'claimed', epoch: 2 });
});

t.test('so do audits that are given up together', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await claimedAudits(fixture, 2);
  await query(`
    update audit_jobs set created_at = now() - interval '3 days', lease_until = now() - interval '1 second',
           spend_shard = case when poll_id = (select min(poll_id) from audit_jobs) then 9 else 3 end`);

  const guard = await session(t, fixture);
  await guard.query('begin');
  await guard.query('select from provider_spend where shard = 0 for update');
  const pruning = pruneExpired(storage);
  await isWaitedFor(t, fixture, guard);
  t.same(await locked(fixture), [0]);
  await guard.query('commit');
  t.equal(await pruning, 2);
  t.same(await query('select poll_id from audit_jobs'), []);
  t.same(await checkLedger(storage), []);
});
