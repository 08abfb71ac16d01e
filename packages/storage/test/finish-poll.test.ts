import { randomBytes } from 'node:crypto';
import t from 'tap';
import {
  acceptPoll,
  balanceOf,
  bury,
  checkLedger,
  claimPoll,
  type FinishedPoll,
  findPoll,
  findResult,
  finishPoll,
  pollFinisher,
  type Storage,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  finished,
  funded,
  observed,
  open,
  response,
  together,
  USD,
  vote,
} from './fixtures.ts';

// slow: 3 s

async function running(storage: Storage, amountU = 5n * USD) {
  const accountId = await funded(storage, amountU);
  const request = acceptance(accountId);
  await acceptPoll(storage, request);
  const claim = await claimPoll(storage, request.poll.id, 'worker');
  return { accountId, poll: request.poll, claim: claim! };
}

/** Everything that a finish may touch, in one value. */
async function fingerprint({ query }: Fixture): Promise<unknown> {
  return query(`select md5(string_agg(line, '|' order by line)) as hash from (
    select polls::text as line from polls union all select results::text from results
    union all select votes::text from votes union all select transfers::text from transfers
    union all select balances::text from balances union all select dead_letters::text from dead_letters) all_rows`);
}

t.test('[§A6-billed-votes-only, §3.2-terminal] a finish stores all and captures what the votes cost', async (t) => {
  const { storage, query } = await open(t);
  const { accountId, poll, claim } = await running(storage);
  t.match(await finishPoll(storage, finished(claim)), { outcome: 'stored' });
  t.match(await findPoll(storage, poll.id), { status: 'completed', finishedAt: Date });
  t.match(await balanceOf(storage, accountId), { postedU: 5n * USD - 801n, heldU: 0n, usageU: 801n });
  t.match(await findResult(storage, poll.resultId), {
    pollId: poll.id,
    accountId,
    status: 'success',
    modelsRequested: 3,
    modelsFailed: 1,
    detail: { outcome: 'A', tally: { A: 2 } },
  });
  t.match(await query('select seat, option, error, billed_u, labels from votes order by seat'), [
    { seat: 0, option: 0, billed_u: '400', labels: ['QJ', 'ZR'] },
    { seat: 1, option: 0, billed_u: '401' },
    { seat: 2, option: null, error: 'timeout', billed_u: '0' },
  ]);
  t.same(await checkLedger(storage), []);
});

t.test('[§A6-no-votes-no-bill] a poll without a vote costs nothing', async (t) => {
  const { storage, query } = await open(t);
  const { accountId, claim } = await running(storage);
  const failure = vote(0, { option: null, error: 'provider_error', billed_u: 0 });
  await finishPoll(storage, finished(claim, { votes: [failure], response: response({ status: 'failed' }) }));
  t.match(await balanceOf(storage, accountId), { availableU: 5n * USD, usageU: 0n });
  t.same(await query(`select kind from transfers where pending_id is not null`), [{ kind: 'void' }]);
  t.same(await checkLedger(storage), []);
});

t.test('a stale epoch writes nothing', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const { poll, claim } = await running(storage);
  await query(`update polls set lease_until = now() - interval '1 second'`);
  const newer = await claimPoll(storage, poll.id, 'another worker');
  t.equal(newer?.epoch, claim.epoch + 1);

  const before = await fingerprint(fixture);
  t.match(await finishPoll(storage, finished(claim)), { outcome: 'fenced' });
  t.equal(await bury(storage, { ...claim, reason: 'zombie' }), 'fenced');
  t.same(await fingerprint(fixture), before, 'while the poll runs elsewhere');

  t.match(await finishPoll(storage, finished(newer!)), { outcome: 'stored' });
  const after = await fingerprint(fixture);
  t.match(await finishPoll(storage, finished(claim)), { outcome: 'fenced' });
  t.match(await finishPoll(storage, finished(newer!)), { outcome: 'stored' }, 'the holder may repeat itself');
  t.same(await fingerprint(fixture), after, 'and once it has ended');
  t.match(await finishPoll(storage, finished({ id: 'ps_unknown', epoch: 0 })), { outcome: 'fenced' });
});

t.test('a response is stored as it was sent, to the byte', async (t) => {
  const { storage, query } = await open(t);
  const { poll, claim } = await running(storage);
  const tally = '{"long option":2,"b":1,"__proto__":0}';
  const sent = response({ tally: JSON.parse(tally), outcome: '\u2028 \ud83d\ude00', confidence: 0.5 });
  await finishPoll(storage, finished(claim, { response: sent }));
  const detail = (await findResult(storage, poll.resultId))?.detail;
  t.equal(JSON.stringify(detail), JSON.stringify(sent));
  t.ok(Object.hasOwn(detail?.tally ?? {}, '__proto__'));
  t.same(await query(`select detail -> 'tally' as tally from results`), [{ tally: JSON.parse(tally) }]);
});

t.test('many finishes at once of many polls of one account: each once, none lost', async (t) => {
  const fixture = await open(t, { maxConnections: 16 });
  const { storage, query } = fixture;
  const accountId = await funded(storage, 100n * USD);
  const claims = await together(40, 8, async () => {
    const request = acceptance(accountId);
    await acceptPoll(storage, request);
    return (await claimPoll(storage, request.poll.id, 'worker'))!;
  });
  const answers = await together(160, 160, (index) => finishPoll(storage, finished(claims[index % 40]!)));
  t.same(new Set(answers.map(({ outcome }) => outcome)), new Set(['stored']));
  t.match(await balanceOf(storage, accountId), { heldU: 0n, usageU: 40n * 801n });
  t.same(await query(`select count(*)::int as n from transfers where kind = 'post'`), [{ n: 40 }]);
  t.same(await checkLedger(storage), []);
});

async function endable(storage: Storage, accountId: string, more: Partial<FinishedPoll> = {}) {
  const request = acceptance(accountId);
  await acceptPoll(storage, request);
  const claim = (await claimPoll(storage, request.poll.id, 'worker'))!;
  return { ...finished(claim), payer: accountId, ...more };
}

t.test('ends go 16 in a call, two calls at once, each in the order of payers and polls', async (t) => {
  const { storage } = await open(t);
  const accounts = await Promise.all([1, 2, 3].map(() => funded(storage, 20n * USD)));
  const polls: FinishedPoll[] = [];
  for (let i = 0; i < 40; i++) polls.push(await endable(storage, accounts[i % 3]!));
  const { sent, seen, storage: noting } = observed(storage);
  const finish = pollFinisher(noting);
  const ends = await Promise.all(polls.toReversed().map((poll) => finish(poll)));
  t.equal(seen.inFirstTurn, 2);
  const calls = sent.map(({ values }) => (JSON.parse(String(values[0])) as { id: string }[]).map(({ id }) => id));
  t.same(
    calls.map((ids) => ids.length),
    [16, 16, 8],
  );
  const payerOf = new Map(polls.map(({ id, payer }) => [id, payer]));
  for (const ids of calls) {
    const places = ids.map((id) => `${payerOf.get(id)} ${id}`);
    t.same(places, places.toSorted(), 'as all transactions lock rows of several accounts');
  }
  t.same(new Set(ends.map(({ outcome }) => outcome)), new Set(['stored']));
});

t.test('a poll with a call that its question made fail, or without a payer, is ended by itself', async (t) => {
  const { storage } = await open(t);
  const accountId = await funded(storage, 20n * USD);
  const cost = { estimated_u: 60, max_u: 60, fault_u: 60 };
  const votes = [vote(0), vote(1, { option: null, error: 'refusal', billed_u: 0, cost })];
  for (const more of [{ votes }, { payer: undefined }]) {
    const polls = [await endable(storage, accountId, more), await endable(storage, accountId, more)];
    const { sent, storage: noting } = observed(storage);
    const finish = pollFinisher(noting);
    await Promise.all(polls.map((poll) => finish(poll)));
    t.equal(sent.length, 2);
    t.notOk(sent.some(({ text }) => text.includes('finish_polls')));
  }
});

t.test('the hash of its receipt and what was saved are stored with a poll that has them', async (t) => {
  const { storage, query } = await open(t);
  const { claim } = await running(storage);
  const receiptLeaf = randomBytes(32);
  await finishPoll(storage, finished(claim, { receiptLeaf, savedU: 1 }));
  await finishPoll(storage, finished((await running(storage)).claim));
  t.same(await query(`select encode(receipt_leaf, 'hex') as leaf from results order by receipt_leaf nulls last`), [
    { leaf: receiptLeaf.toString('hex') },
    { leaf: null },
  ]);
  t.same(await query('select saved_u::int from usage_days order by saved_u'), [{ saved_u: 0 }, { saved_u: 1 }]);
});

t.test('a bill beyond the hold, or for a failed vote, is refused as a whole', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const { claim } = await running(storage);
  const before = await fingerprint(fixture);
  const dear = finished(claim, { votes: [vote(0, { billed_u: 1_000_001 })] });
  await t.rejects(finishPoll(storage, dear), { name: 'StorageRefused', code: 'EP003' });
  const failed = finished(claim, { votes: [vote(0, { option: null, error: 'malformed' })] });
  await t.rejects(finishPoll(storage, failed), { name: 'StorageRefused', constraint: 'votes_only_votes_billed' });
  t.same(await fingerprint(fixture), before);
  t.match(await finishPoll(storage, finished(claim)), { outcome: 'stored' }, 'the poll can still end');
});

t.test('burying a poison poll fails it, releases its hold and leaves a dead letter', async (t) => {
  const { storage, query } = await open(t);
  const { accountId, poll, claim } = await running(storage);
  t.equal(await bury(storage, { id: poll.id, epoch: claim.epoch, reason: 'five attempts' }), 'stored');
  t.match(await findPoll(storage, poll.id), { status: 'failed' });
  t.equal(await findResult(storage, poll.resultId), null);
  t.match(await balanceOf(storage, accountId), { availableU: 5n * USD, heldU: 0n });
  t.match(await query('select * from dead_letters'), [{ poll_id: poll.id, reason: 'five attempts', claims: 1 }]);
  t.same(await checkLedger(storage), []);
});
