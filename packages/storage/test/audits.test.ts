import t from 'tap';
import type { HeardAudit } from '../src/heard-audit.ts';
import {
  AUDIT_POOL,
  type AuditTerms,
  acceptPoll,
  balanceOf,
  checkLedger,
  claimAudit,
  claimPoll,
  closeAccount,
  emptyClosedAccounts,
  finishAudit,
  finishPoll,
  noteRosterVersion,
  pruneExpired,
  type RosterVersion,
  readAudits,
  readProviderSpend,
} from '../src/index.ts';
import { type Fixture, finished, funded, newPoll, open, USD, vote } from './fixtures.ts';

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

t.test('where the rest cannot matter the row is written with the result', async (t) => {
  const fixture = await open(t);
  const lock = await endedPoll(fixture, { reason: 'mathematical_lock', askedOrder: 'cheapest' });
  const all = await endedPoll(fixture, {
    models: ['sim/m0', 'sim/m1', 'sim/m2'],
    votes: [0, 1, null],
    said: [null, null, null],
    reason: 'roster_exhausted',
    winner: null,
  });
  t.match(await audits(fixture), [
    { ...ROW, pollId: lock.pollId, askedOrder: 'cheapest', reason: 'mathematical_lock', winner: 0 },
    { ...ROW, pollId: all.pollId, seats: [1, 2, 0], votes: [0, 1, null], stoppedAt: 3, winner: null },
  ]);
  t.same(await claimAudit(fixture.storage, TERMS), { kind: 'none' });

  await endedPoll(fixture, { reason: 'mathematical_lock' });
  t.equal(
    (await claimAudit(fixture.storage, TERMS)).kind,
    'claimed',
    'a lock in another order than the record is about',
  );
});

t.test('a poll that was not drawn, or of an unknown roster version, is no audit', async (t) => {
  const fixture = await open(t);
  await endedPoll(fixture, {}, null);
  await endedPoll(fixture, {}, 'v2');
  t.same(await claimAudit(fixture.storage, TERMS), { kind: 'none' });
  t.same(await fixture.query('select * from audits'), []);
});

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

t.test(
  'the cap of a day is never exceeded; an audit that does not fit lets a cheaper one pass, and waits',
  async (t) => {
    const fixture = await open(t);
    const { storage, query } = fixture;
    for (const maxU of [2_000, 2_000, 900]) await endedPoll(fixture, { maxU });
    const terms = { ...TERMS, dayCapU: 3_000n };
    const kinds = [];
    for (let i = 0; i < 4; i++) kinds.push((await claimAudit(storage, terms)).kind);
    t.same(kinds, ['claimed', 'capped', 'claimed', 'none']);
    t.match(await balanceOf(storage, AUDIT_POOL), { postedU: 3_000n, heldU: 2_900n });

    await query('update balances set topped_up_on = topped_up_on - 1');
    await query('update audit_jobs set lease_until = now() where lease_epoch = 0');
    t.same((await claimAudit(storage, terms)).kind, 'capped', 'a new day adds nothing to what is held');
    await query(
      "update audit_jobs set created_at = now() - interval '25 hours', lease_until = now() where lease_epoch = 0",
    );
    t.same((await claimAudit(storage, terms)).kind, 'expired');
    t.same(await checkLedger(storage), []);
  },
);

t.test('audits count as provider spend, and wait at its ceiling', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const { pollId } = await endedPoll(fixture);
  await endedPoll(fixture);
  const ceiling = { hourU: 3_000n, dayU: USD };
  t.equal((await claimAudit(storage, { ...TERMS, ceiling })).kind, 'claimed');
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
