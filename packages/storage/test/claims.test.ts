import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import {
  acceptPoll,
  cancelPoll,
  checkLedger,
  claimOverdue,
  claimPoll,
  finishPoll,
  pollClaimer,
  pollFinisher,
  renewLeases,
  type Storage,
} from '../src/index.ts';
import { acceptance, deadlocks, finished, funded, observed, open, response, together, USD } from './fixtures.ts';

// slow: 3 s

async function accepted(storage: Storage, accountId: string, count: number): Promise<string[]> {
  const requests = Array.from({ length: count }, () => acceptance(accountId));
  for (const request of requests) await acceptPoll(storage, request);
  return requests.map(({ poll }) => poll.id);
}

const LAPSED = `update polls set lease_until = now() - interval '1 second' where status = 'running' and lease_epoch > 0`;

t.test('polls that are claimed at once are claimed in one transaction, each with an answer of its own', async (t) => {
  const { storage, query } = await open(t);
  const ids = await accepted(storage, await funded(storage, 20n * USD), 8);
  const [fresh, other, again, lapsed, held, over, suspect, later] = ids as [string, ...string[]];
  await claimPoll(storage, lapsed!, 'dead');
  await query(LAPSED);
  await query('update polls set claims = 3 where id = $1', [suspect]);
  await query('update polls set schema_version = 2 where id = $1', [later]);
  await claimPoll(storage, held!, 'another');
  await finishPoll(storage, finished((await claimPoll(storage, over!, 'another'))!));
  const claim = pollClaimer(storage);
  const asked = [fresh, held!, again!, suspect!, over!, lapsed!, again!, later!, 'ps_unknown', other!];
  const claims = await Promise.all(asked.map((id) => claim(id, 'worker')));
  t.match(
    claims.map((each) => each && { id: each.id, epoch: each.epoch, claims: each.claims }),
    [
      { id: fresh, epoch: 1, claims: 1 },
      null,
      { id: again, epoch: 1, claims: 1 },
      { id: suspect, epoch: 1, claims: 4 },
      null,
      { id: lapsed, epoch: 2, claims: 2 },
      null,
      null,
      null,
      { id: other, epoch: 1, claims: 1 },
    ],
  );
  const { requestId, spec, isCanceled, remainingMs } = claims[0]!;
  t.match({ requestId, isCanceled }, { requestId: null, isCanceled: false });
  t.match(spec, acceptance(null).poll.spec);
  t.ok(remainingMs > 0 && remainingMs <= 60_000);
  const together = [fresh, again, lapsed, other];
  t.match(
    await query('select count(distinct xmin::text)::int as transactions from polls where id = any($1)', [together]),
    [{ transactions: 1 }],
  );
  t.equal(
    (
      await renewLeases(
        storage,
        'worker',
        claims.filter((each) => each !== null),
      )
    ).length,
    5,
    'all of them are its own',
  );
});

t.test('of several workers that claim the same polls together, exactly one gets each', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 10 });
  const ids = await accepted(storage, await funded(storage, 40n * USD), 30);
  const workers = ['one', 'two', 'three', 'four'].map((worker, i) => {
    const claim = pollClaimer(storage);
    const order = i % 2 === 0 ? ids : ids.toReversed();
    return together(order.length, order.length, (place) => claim(order[place]!, worker));
  });
  const claims = (await Promise.all(workers)).flat().filter((claim) => claim !== null);
  t.same(claims.map(({ id }) => id).toSorted(), ids.toSorted());
  t.match(await query('select max(lease_epoch) as epoch, count(*)::int as polls from polls where claims = 1'), [
    { epoch: 1, polls: 30 },
  ]);
});

t.test('a poll that no worker has had is claimed in one statement', async (t) => {
  const { storage } = await open(t);
  const [id] = await accepted(storage, await funded(storage, USD), 1);
  const { sent, storage: noting } = observed(storage);
  t.match(await claimPoll(noting, id!, 'worker'), { id, epoch: 1 });
  t.match(sent, [{ text: /claim_reserved_poll/ }]);
  t.equal(sent.length, 1);
});

t.test('claims go 16 in a call, two calls at once, and each poll to the worker that asked for it', async (t) => {
  const { storage, query } = await open(t);
  const ids = await accepted(storage, await funded(storage, 60n * USD), 42);
  const { sent, seen, storage: noting } = observed(storage);
  const claim = pollClaimer(noting);
  const [other, ...mine] = ids as [string, ...string[]];
  const claims = [...mine.map((id) => claim(id, 'worker')), claim(other, 'other')];
  t.equal((await Promise.all(claims)).filter((each) => each !== null).length, 42);
  t.equal(seen.inFirstTurn, 2, 'of one worker');
  t.same(
    sent.map(({ values: [asked] }) => (Array.isArray(asked) ? asked.length : asked)),
    [16, 16, other, 9],
  );
  t.same(await query(`select id from polls where lease_owner = 'other'`), [{ id: other }]);
});

t.test('one that cannot be claimed leaves the others claimed', async (t) => {
  const { storage } = await open(t);
  const [first, last] = await accepted(storage, await funded(storage, 20n * USD), 2);
  const claim = pollClaimer(storage);
  const claims = await Promise.allSettled([first!, 'ps_\0', last!].map((id) => claim(id, 'worker')));
  t.match(claims, [
    { status: 'fulfilled', value: { id: first, epoch: 1 } },
    { status: 'rejected', reason: { name: 'StorageRefused' } },
    { status: 'fulfilled', value: { id: last, epoch: 1 } },
  ]);
});

t.test('claims wait for no row while they hold others: what is locked is claimed by itself', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 20n * USD);
  const [free, canceled, deleted, locked] = (await accepted(storage, accountId, 4)) as [string, ...string[]];
  await cancelPoll(storage, accountId, deleted!);
  await query('begin');
  await query('select * from cancel_poll($1, $2)', [canceled, accountId]);
  await query('select from polls where id = $1 for update', [locked]);
  const claim = pollClaimer(storage);
  const [ofLocked, ofCanceled, ofDeleted, ofFree] = [locked!, canceled!, deleted!, free].map((id) => claim(id, 'w'));
  t.match(await ofFree, { id: free, epoch: 1 }, 'nothing of the others is waited for');
  t.equal(await ofDeleted, null);
  // A claim that held this row while it waited for the others would wait for its own end here.
  await query('update polls set run_until = now() where id = $1', [free]);
  await query('commit');
  t.equal(await ofCanceled, null, 'canceled before a worker had it');
  t.match(await ofLocked, { id: locked, epoch: 1 });
  t.same(await checkLedger(storage), []);
});

t.test('claims that wait for locked polls do not keep claims of other polls waiting', async (t) => {
  const { storage, query } = await open(t);
  const [one, other, free] = (await accepted(storage, await funded(storage, 20n * USD), 3)) as [string, ...string[]];
  await query('begin');
  await query('select from polls where id = any($1) for update', [[one, other]]);
  const claim = pollClaimer(storage);
  const waits = async () => {
    const [row] = await query<{ waiting: number }>(
      'select count(distinct pid)::int as waiting from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid))',
    );
    return row!.waiting;
  };
  const ofOne = claim(one, 'worker');
  await eventually('the first claim waits', async () => (await waits()) === 1);
  const ofOther = claim(other!, 'worker');
  await eventually('so does the second', async () => (await waits()) === 2);
  t.match(await claim(free!, 'worker'), { id: free }, 'while both are locked');
  t.equal(await waits(), 2);
  await query('commit');
  t.match(await Promise.all([ofOne, ofOther]), [{ id: one }, { id: other }]);
});

t.test('claims that were sent together and lost are known to be lost', async (t) => {
  const { storage } = await open(t);
  const ids = await accepted(storage, await funded(storage, 20n * USD), 2);
  const lost = new Error('the connection broke');
  const lossy: Storage = {
    ...storage,
    async call<Row>(text: string, values: readonly unknown[]) {
      const rows = await storage.call<Row>(text, values);
      if (text.includes('claim_several')) throw lost;
      return rows;
    },
  };
  const heard: unknown[] = [];
  const claim = pollClaimer(lossy, undefined, (error) => heard.push(error));
  const claims = await Promise.allSettled(ids.map((id) => claim(id, 'worker')));
  t.same(
    claims.map((each) => each.status === 'rejected' && each.reason === lost),
    [true, true],
    'they are claimed, and who asked does not have them',
  );
  t.same(heard, [lost]);
});

t.test('claims, renewals and ends of the same polls, in opposite orders, run into no deadlock', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 12 });
  const accounts = await Promise.all([1, 2, 3].map(() => funded(storage, 60n * USD)));
  for (let round = 0; round < 6; round++) {
    const polls = [];
    for (const accountId of accounts)
      for (const id of await accepted(storage, accountId, 3)) {
        const claim = await claimPoll(storage, id, 'paused');
        polls.push({ ...finished(claim!), payer: accountId });
      }
    await query(LAPSED);
    const [finish, claim] = [pollFinisher(storage), pollClaimer(storage)];
    const ends = polls.map(async (poll) => finish(poll));
    const renewal = renewLeases(storage, 'paused', polls.toReversed());
    const claims = polls.toReversed().map(({ id }) => claim(id, 'next'));
    await Promise.all([renewal, ...claims, ...ends]);
    const next = (await Promise.all(claims)).flatMap((each) => (each ? finished(each) : []));
    for (const poll of next) t.match(await finish(poll), { outcome: 'stored' });
  }
  t.match(await query(`select count(*)::int as n from polls where status = 'running'`), [{ n: 0 }]);
  t.same(await checkLedger(storage), []);
  await storage[Symbol.asyncDispose]();
  t.equal(await deadlocks(query), 0);
});

t.test('a poll that waited for forty days, as when everything was stopped, can be claimed and ended', async (t) => {
  const { storage, query } = await open(t);
  const ids = await accepted(storage, await funded(storage, 20n * USD), 2);
  await query(`update polls set created_at = now() - interval '40 days', deadline_at = now() - interval '39 days'`);
  const timing = { gather_ms: 0, total_ms: 40 * 86_400_000 };
  for (const [i, claim] of [claimPoll, claimOverdue].entries()) {
    const claimed = await claim(storage, ids[i]!, 'worker');
    t.match(claimed, { ageMs: 2 ** 31 - 1, remainingMs: 0 });
    const ended = await finishPoll(storage, finished(claimed!, { response: response({ timing }) }));
    t.match(ended, { outcome: 'stored', response: { timing } });
  }
  t.same(await checkLedger(storage), []);
});
