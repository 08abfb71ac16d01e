import { EMPTY_BOOK } from '@eloquentpoll/evidence';
import t from 'tap';
import { type HeardAudit, heardJson } from '../src/heard-audit.ts';
import {
  AUDIT_POOL,
  type AuditTerms,
  acceptPoll,
  balanceOf,
  checkLedger,
  claimAudit,
  claimPoll,
  closeAccount,
  countAudits,
  deletePoll,
  emptyClosedAccounts,
  finishAudit,
  finishPoll,
  inTransaction,
  learnAudits,
  noteRosterVersion,
  pruneExpired,
  type RosterVersion,
  readAuditMonths,
  readAudits,
  readProviderSpend,
  restartTrackRecord,
} from '../src/index.ts';
import { type Fixture, finished, funded, newPoll, open, USD, vote, within } from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';

const ROSTER: RosterVersion = {
  version: 'v1',
  panelName: 'broad',
  order: 'cheapest',
  search: false,
  simulated: true,
  // Cheapest first, which is not the order in which the poll has its seats.
  models: [2, 0, 1].map((n) => ({ modelId: `sim/m${n}`, family: `f${n}` })),
};
const TERMS: AuditTerms = { worker: 'w', leaseMs: 60_000, maxAttempts: 2, dayCapU: USD };
const HEARD: HeardAudit = {
  askedOrder: 'shuffled',
  threshold: 0.95,
  optionCount: 2,
  models: ['sim/m0', 'sim/m1'],
  votes: [0, null],
  said: [0.75, 0.75],
  reason: 'confidence',
  winner: 0,
  maxU: 2_000,
  panelU: 3_000,
};
const ROW = { pollId: '', rosterVersion: 'v1', askedOrder: 'shuffled', seats: [1, 2], votes: [0, null], stoppedAt: 2 };
const LAST_VOTE = { models: ['sim/m2'], votes: [0], winner: 0 };

/** A poll that was drawn and has ended with what was heard. */
async function endedPoll({ storage }: Fixture, heard: Partial<HeardAudit> = {}, auditVersion: string | null = 'v1') {
  const accountId = await funded(storage, USD);
  await noteRosterVersion(storage, ROSTER);
  const poll = newPoll(accountId, { auditVersion: auditVersion ?? undefined });
  await acceptPoll(storage, { poll, holdU: USD });
  const claim = (await claimPoll(storage, poll.id, 'w'))!;
  t.equal(claim.auditVersion, auditVersion);
  const votes = [vote(0), vote(1, { option: null, error: 'timeout', billed_u: 0 })];
  await finishPoll(storage, finished(claim, { votes, audit: { ...HEARD, ...heard } }));
  return { pollId: poll.id, accountId };
}

const audits = ({ storage }: Fixture) => readAudits(storage, { rosterVersion: 'v1' });

t.test('a poll that stopped early waits for its other models, and is one row when they were asked', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const { pollId } = await endedPoll(fixture);
  t.same(await audits(fixture), []);
  const claim = await claimAudit(storage, TERMS);
  t.match(claim, {
    kind: 'claimed',
    pollId,
    epoch: 1,
    rosterVersion: 'v1',
    heard: HEARD,
    models: ['sim/m2', 'sim/m0', 'sim/m1'],
  });
  t.same(await claimAudit(storage, TERMS), { kind: 'none' }, 'one worker at a time');
  t.equal((await balanceOf(storage, AUDIT_POOL))?.heldU, 2_000n);
  t.same(await checkLedger(storage), []);

  const done = { pollId, epoch: 1, costU: 300, heard: LAST_VOTE };
  t.equal(await finishAudit(storage, done), 'stored');
  t.equal(await finishAudit(storage, done), 'stored', 'repeated');
  const [row, ...others] = await audits(fixture);
  t.same(others, []);
  t.match(row, { ...ROW, pollId, seats: [1, 2, 0], votes: [0, null, 0], said: [0.75, 0.75], winner: 0, costU: 300n });
  t.match(await balanceOf(storage, AUDIT_POOL), { heldU: 0n, usageU: 300n, availableU: USD - 300n });
  t.same(await checkLedger(storage), []);
});

t.test('where the rest cannot matter the audit needs no call, but it waits for its turn', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const lock = await endedPoll(fixture, { reason: 'mathematical_lock', askedOrder: 'cheapest' });
  const all = await endedPoll(fixture, {
    models: ['sim/m0', 'sim/m1', 'sim/m2'],
    votes: [0, 1, null],
    said: [null, null, null],
    reason: 'roster_exhausted',
    winner: null,
  });
  t.same(await audits(fixture), []);
  t.same(await claimAudit(storage, TERMS), { kind: 'stored' });
  t.same(await claimAudit(storage, TERMS), { kind: 'stored' });
  t.same(await claimAudit(storage, TERMS), { kind: 'none' });
  const rows = await audits(fixture);
  t.match(
    rows.find(({ pollId }) => pollId === lock.pollId),
    { ...ROW, pollId: lock.pollId, askedOrder: 'cheapest', reason: 'mathematical_lock', winner: 0, costU: 0n },
  );
  t.match(
    rows.find(({ pollId }) => pollId === all.pollId),
    { ...ROW, pollId: all.pollId, seats: [1, 2, 0], votes: [0, 1, null], stoppedAt: 3, winner: null },
  );
  t.equal((await balanceOf(storage, AUDIT_POOL))?.usageU, 0n);

  await endedPoll(fixture, { reason: 'mathematical_lock' });
  t.equal((await claimAudit(storage, TERMS)).kind, 'claimed', 'a lock in another order than the record is about');
});

t.test(
  'a poll that was not drawn, of an unknown roster version, or of whose votes nothing is known is no audit',
  async (t) => {
    const fixture = await open(t);
    await endedPoll(fixture, {}, null);
    const { accountId } = await endedPoll(fixture, {}, 'v2');
    const unheard = newPoll(accountId, { auditVersion: 'v1' });
    await acceptPoll(fixture.storage, { poll: unheard, holdU: 10_000n });
    const end = finished((await claimPoll(fixture.storage, unheard.id, 'w'))!);
    t.match(await finishPoll(fixture.storage, end), { outcome: 'stored' }, 'its worker does not say what was heard');
    t.same(await claimAudit(fixture.storage, TERMS), { kind: 'none' });
    t.same(await fixture.query('select * from audits'), []);
  },
);

t.test('a worker that dies leaves the audit to another; what its calls may have cost is paid once', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const { pollId } = await endedPoll(fixture);
  const lapse = () => query("update audit_jobs set lease_until = now() - interval '1 second'");
  await claimAudit(storage, TERMS);
  await lapse();
  t.match(await claimAudit(storage, TERMS), { kind: 'claimed', pollId, epoch: 2 });
  t.match(await balanceOf(storage, AUDIT_POOL), { heldU: 2_000n, usageU: 2_000n });
  t.equal(await finishAudit(storage, { pollId, epoch: 1, costU: 5, heard: LAST_VOTE }), 'fenced');
  await lapse();
  t.same(await claimAudit(storage, TERMS), { kind: 'given_up' });
  t.match(await balanceOf(storage, AUDIT_POOL), { heldU: 0n, usageU: 4_000n });
  t.equal(await finishAudit(storage, { pollId, epoch: 2, costU: 5, heard: LAST_VOTE }), 'fenced');
  t.same(await claimAudit(storage, TERMS), { kind: 'none' });
  t.same(await audits(fixture), []);
  t.same(await checkLedger(storage), []);
});

t.test('an audit that is given back costs what its calls did', async (t) => {
  const fixture = await open(t);
  const { pollId } = await endedPoll(fixture);
  await claimAudit(fixture.storage, TERMS);
  t.equal(await finishAudit(fixture.storage, { pollId, epoch: 1, costU: 70, heard: null }), 'dropped');
  t.match(await balanceOf(fixture.storage, AUDIT_POOL), { heldU: 0n, usageU: 70n });
  t.same(await claimAudit(fixture.storage, TERMS), { kind: 'none' });
});

/** Needs no call. */
const LOCKED: Partial<HeardAudit> = { reason: 'mathematical_lock', askedOrder: 'cheapest' };

const unmade = async ({ storage }: Fixture) =>
  (await readAuditMonths(storage, { simulated: true })).reduce((sum, month) => sum + month.unmade, 0);

t.test('an audit waits until the cap of the day allows its whole panel, whatever it would cost itself', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const terms = { ...TERMS, dayCapU: 3_000n };
  const kind = async () => (await claimAudit(storage, terms)).kind;
  await endedPoll(fixture, { maxU: 2_500 });
  t.equal(await kind(), 'claimed');
  await endedPoll(fixture, { maxU: 400 });
  await endedPoll(fixture, LOCKED);
  t.equal(await kind(), 'capped');
  t.equal(await kind(), 'capped', 'by none of the workers');
  await endedPoll(fixture, { maxU: 400, panelU: 500 });
  t.equal(await kind(), 'claimed', 'an audit of a cheaper panel');
  t.match(await balanceOf(storage, AUDIT_POOL), { postedU: 3_000n, heldU: 2_900n });

  await query('update balances set topped_up_on = topped_up_on - 1');
  t.equal(await kind(), 'capped', 'a new day adds nothing to what is held');
  await query("update audit_jobs set created_at = now() - interval '25 hours' where lease_epoch = 0");
  t.same([await kind(), await kind(), await kind()], ['expired', 'expired', 'none'], 'both kinds alike');
  t.equal(await unmade(fixture), 2);
  t.same(await audits(fixture), []);
  t.same(await checkLedger(storage), []);
});

t.test('with too little money the audits that are made are a random sample of those that were drawn', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const { pollId } = await endedPoll(fixture, { panelU: 3_000 });
  await query('delete from audit_jobs');
  // 600 polls: half of them disputed, so that all models were asked; the others stopped early.
  await query(
    `insert into polls select (jsonb_populate_record(p, jsonb_build_object('id', p.id || n, 'result_id', p.result_id || n))).*
       from polls p, generate_series(1, 600) n where p.id = $1`,
    [pollId],
  );
  const heard = { ...heardJson(HEARD), said: [0.75, 0.65], max_u: 300 };
  const whole = { ...heard, models: ['sim/m0', 'sim/m1', 'sim/m2'], votes: [0, 1, 1], said: [0.75, 0.65, null] };
  await query(
    `select note_audit($1 || n, 'v1', case n % 2 when 0 then $2::jsonb else $3::jsonb end) from generate_series(1, 600) n`,
    [pollId, JSON.stringify(heard), JSON.stringify({ ...whole, reason: 'roster_exhausted', winner: 1, max_u: 0 })],
  );
  for (;;) {
    const claim = await claimAudit(storage, { ...TERMS, dayCapU: 30_000n });
    if (claim.kind === 'capped') break;
    if (claim.kind === 'claimed')
      await finishAudit(storage, { pollId: claim.pollId, epoch: claim.epoch, costU: 300, heard: LAST_VOTE });
  }
  await query("update audit_jobs set created_at = now() - interval '25 hours'");
  while ((await claimAudit(storage, TERMS)).kind !== 'none');
  while (await countAudits(storage));
  const [month] = await readAuditMonths(storage, { simulated: true });
  const made = month!.tally.audits;
  t.ok(made > 120 && made < 300, `${made} of 600 were paid for`);
  t.equal(month!.unmade, 600 - made);
  // The leader at .65 won in half of the polls. If disputed polls needed no money, in one of five or fewer.
  const [polls, , cameTrue] = month!.tally.bands[2]!;
  t.equal(polls, made);
  t.ok(Math.abs(cameTrue / polls - 0.5) < 4 * Math.sqrt(0.25 / polls), `${cameTrue} of ${polls}`);
});

t.test('repetitions of a question count once per tenant and roster version', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const drawn = async (accountId: string, auditQuestion: string, auditVersion = 'v1') => {
    const poll = newPoll(accountId, { auditVersion, auditQuestion, tenant: accountId });
    await acceptPoll(storage, { poll, holdU: 1_000n });
    const claim = (await claimPoll(storage, poll.id, 'w'))!;
    const votes = [vote(0), vote(1, { option: null, error: 'timeout', billed_u: 0 })];
    await finishPoll(storage, finished(claim, { votes, audit: { ...HEARD, ...LOCKED } }));
    return { pollId: poll.id, isAudited: claim.auditVersion !== null };
  };
  const [one, other] = [await funded(storage, USD), await funded(storage, USD)];
  await noteRosterVersion(storage, ROSTER);
  await noteRosterVersion(storage, { ...ROSTER, version: 'v2' });
  const results = [];
  for (let n = 0; n < 100; n++) results.push(await drawn(one, 'aa'));
  t.same(results.filter(({ isAudited }) => isAudited).length, 1);
  t.ok(results[0]!.isAudited, 'the first one');
  t.ok((await drawn(other, 'bb')).isAudited, 'the same question has another hash for another tenant');
  t.ok((await drawn(one, 'cc')).isAudited);
  t.ok((await drawn(one, 'aa', 'v2')).isAudited);
  while ((await claimAudit(storage, TERMS)).kind !== 'none');
  t.equal((await audits(fixture)).length, 3);
  const both = [0, 1].map((n) => ({ id: `${n}`, tenant: 'x', audit_version: 'v3', audit_question: 'dd' }));
  t.same(
    await query('select draw_audit(e) as version from jsonb_array_elements($1) e', [JSON.stringify(both)]),
    [{ version: 'v3' }, { version: null }],
    'accepted together',
  );

  await deletePoll(storage, one, results[0]!.pollId);
  t.same(
    await query('select question, tenant from audit_draws where poll_id is null'),
    [{ question: null, tenant: one }],
    'a deleted poll leaves only that one of its account was audited',
  );
  const learnAll = async () => {
    while (await learnAudits(storage, () => EMPTY_BOOK, { window: 1 }));
  };
  await learnAll();
  t.equal((await query("select from audit_draws where roster_version = 'v1'")).length, 3, 'not counted yet');
  await countAudits(storage);
  t.ok(await restartTrackRecord(storage, 'v1'));
  await learnAll();
  t.equal((await audits(fixture)).length, 1, 'two have left the window');
  t.ok((await drawn(one, 'cc')).isAudited || (await drawn(other, 'bb')).isAudited, 'their questions can count again');

  await closeAccount(storage, one);
  await emptyClosedAccounts(storage);
  t.same(await query('select from audit_draws where tenant = $1', [one]), []);
});

t.test('a tenant has at most twice its fair share of the audits, or a twentieth', async (t) => {
  const { query } = await open(t);
  let asked = 0;
  const audited = async (tenant: string, questions: number) => {
    let count = 0;
    for (let n = 0; n < questions; n++) {
      const question = (asked++).toString(16).padStart(8, '0');
      const p = { id: question, tenant, audit_version: 'v1', audit_question: question };
      const [row] = await query<{ version: string | null }>('select draw_audit($1) as version', [JSON.stringify(p)]);
      count += Number(row!.version !== null);
    }
    return count;
  };
  t.equal(await audited('a', 50), 50, 'alone');
  t.equal(await audited('b', 50), 50, 'of two');
  t.equal(await audited('c', 10), 10, 'a third one');
  t.equal(await audited('a', 100), 70, 'of three: 120 of 180');
  for (let n = 0; n < 60; n++) await audited(`tenant ${n}`, 5);
  const [{ all }] = (await query<{ all: number }>('select count(*)::integer as all from audit_draws')) as [
    { all: number },
  ];
  const mine = await audited('loud', 100);
  t.equal(mine, Math.floor((0.05 * all) / 0.95), `${mine} of ${all} more`);
});

t.test('shares are counted in the newest draws, and older ones without an audit are forgotten', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await noteRosterVersion(storage, ROSTER);
  const draws = (tenant: string, count: number, daysAgo: number) =>
    query(
      `insert into audit_draws (roster_version, question, tenant, poll_id, drawn_at)
       select 'v1', decode(md5($1 || n), 'hex'), $1, $1 || n, now() - make_interval(days => $3::integer, secs => n)
         from generate_series(1, $2::integer) n`,
      [tenant, count, daysAgo],
    );
  await draws('loud', 3_000, 9);
  for (const tenant of ['a', 'b', 'c', 'd']) await draws(tenant, 500, 5);
  const p = { id: 'p', tenant: 'loud', audit_version: 'v1', audit_question: 'ee' };
  t.same(await query('select draw_audit($1) as version', [JSON.stringify(p)]), [{ version: 'v1' }]);
  await query("update audit_draws set poll_id = null, question = null where poll_id like 'loud2%'");
  await query("insert into audit_jobs (poll_id, roster_version, heard, max_u) values ('loud1', 'v1', '{}', 1)");
  // Tables grow faster than they are analyzed: by the statistics these are empty.
  const read = await inTransaction(storage, (tx) => rowsReadBy(tx, 'audit_draws', () => pruneExpired(tx, 10_000)));
  t.ok(read >= 3_000 && read < 10 * 5_000, `${read} reads of 5,000 draws`);
  const left = await query<{ tenant: string; n: number }>(
    'select tenant, count(*)::integer as n from audit_draws group by tenant order by tenant',
  );
  t.same(
    left.map(({ tenant, n }) => `${tenant} ${n}`),
    ['a 499', 'b 500', 'c 500', 'd 500', 'loud 2'],
    'the newest 2,000, and one whose audit is to be made',
  );
});

t.test('the next audit is found without a sum of provider spend for each that waits', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await endedPoll(fixture);
  await query(`insert into audit_jobs select (jsonb_populate_record(j, jsonb_build_object('poll_id', j.poll_id || n))).*
    from audit_jobs j, generate_series(1, 500) n`);
  const ceiling = { hourU: 100n * USD, dayU: 100n * USD };
  const read = await inTransaction(storage, (tx) =>
    rowsReadBy(tx, 'provider_spend', () => claimAudit(within(storage, tx.db), { ...TERMS, ceiling })),
  );
  t.ok(read > 0 && read < 200, `${read} rows of provider spend`);
});

t.test('audits count as provider spend, and wait at its ceiling', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  await endedPoll(fixture);
  await endedPoll(fixture);
  const ceiling = { hourU: 3_000n, dayU: USD };
  const claim = await claimAudit(storage, { ...TERMS, ceiling });
  t.equal(claim.kind, 'claimed');
  const pollId = 'pollId' in claim ? claim.pollId : '';
  t.match(await readProviderSpend(storage), { hourU: 2_000n, heldU: 2_000n });
  t.equal((await claimAudit(storage, { ...TERMS, ceiling })).kind, 'capped');
  await finishAudit(storage, { pollId, epoch: 1, costU: 300, heard: LAST_VOTE });
  t.match(await readProviderSpend(storage), { hourU: 300n, heldU: 0n });
});

t.test('a deleted poll is never audited, whenever it was deleted', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const closed = await endedPoll(fixture);
  await closeAccount(storage, closed.accountId);
  t.same(await claimAudit(storage, TERMS), { kind: 'deleted' }, 'before it is emptied');

  const emptied = await endedPoll(fixture);
  await closeAccount(storage, emptied.accountId);
  await emptyClosedAccounts(storage);
  t.same(await claimAudit(storage, TERMS), { kind: 'deleted' }, 'after it was emptied');

  const { accountId, pollId } = await endedPoll(fixture);
  await claimAudit(storage, TERMS);
  await closeAccount(storage, accountId);
  t.equal(
    await finishAudit(storage, { pollId, epoch: 1, costU: 10, heard: LAST_VOTE }),
    'deleted',
    'while it was audited',
  );
  t.same(await query('select * from audits'), []);
  t.same(await checkLedger(storage), []);
});

t.test('jobs that no worker asks for are pruned with their holds', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  await endedPoll(fixture);
  await claimAudit(storage, TERMS);
  await query(
    "update audit_jobs set created_at = now() - interval '3 days', lease_until = now() - interval '1 second'",
  );
  t.ok((await pruneExpired(storage)) >= 1);
  t.match(await balanceOf(storage, AUDIT_POOL), { heldU: 0n, usageU: 2_000n });
  t.same(await query('select * from audit_jobs'), []);
  t.same(await checkLedger(storage), []);
});

t.test('a hold that an audit left behind is found by the ledger check', async (t) => {
  const fixture = await open(t);
  await endedPoll(fixture);
  await claimAudit(fixture.storage, TERMS);
  await fixture.query('delete from audit_jobs');
  t.match(await checkLedger(fixture.storage), [{ rule: 'audit_hold' }]);
});
