import { WEBHOOK_DATA } from '@eloquentpoll/contracts';
import { newBatchId, newPollId, newResultId } from '@eloquentpoll/polls';
import { randomBelow } from '@eloquentpoll/testkit/seed';
import { sql } from 'kysely';
import t, { type Test } from 'tap';
import {
  acceptBatchPolls,
  acceptPoll,
  addBatchRows,
  type BatchStart,
  balanceOf,
  cancelBatch,
  cancelPoll,
  claimBatches,
  claimPoll,
  closeAccount,
  countUnattendedBatches,
  deleteBatch,
  deletePoll,
  emptyClosedAccounts,
  emptyExpiredPolls,
  endBatch,
  ensureAccountEndpoint,
  failBatchRows,
  findBatch,
  findBatchKey,
  findResult,
  finishPoll,
  freezeAccount,
  inTransaction,
  listBatches,
  listPolls,
  type NewBatchPoll,
  openBatch,
  pollAccepter,
  pruneExpired,
  readBatchLines,
  readFleetFigures,
  readGoldRows,
  renewBatch,
  reverseCredit,
  runningPollsOfBatch,
  type Storage,
  spreadWebhookEvents,
  startBatch,
  waitingRows,
} from '../src/index.ts';
import {
  acceptance,
  type Fixture,
  finished,
  funded,
  newPoll,
  open,
  spec,
  together,
  USD,
  unique,
  within,
} from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';
import { isWaitedFor, session } from './sessions.ts';
import { wholeCheck } from './whole-check.ts';

// slow: 4 s

const ORDER = {
  question: spec.question,
  options: spec.options,
  panel_name: 'broad' as const,
  confidence_threshold: 0.95,
  max_cost_u: 1_000_000,
  min_votes: 3,
  search: false,
};

async function uploaded(storage: Storage, accountId: string, rows: number, more: Partial<BatchStart> = {}) {
  const id = newBatchId();
  t.equal(await openBatch(storage, { id, accountId, maxOpen: 100 }), 'opened');
  const added = Array.from({ length: rows }, (_, i) => ({
    line: i + 1,
    customId: `row ${i + 1}`,
    order: ORDER,
    gold: i === 0 ? 'A' : null,
  }));
  t.same(await addBatchRows(storage, id, added), []);
  return startBatch(storage, {
    id,
    accountId,
    reserveU: BigInt(rows) * USD,
    maxCostU: null,
    metadata: {},
    skipped: { count: 0, first: [] },
    ...more,
  });
}

async function running(storage: Storage, accountId: string, rows: number, more: Partial<BatchStart> = {}) {
  const started = await uploaded(storage, accountId, rows, more);
  if (started.kind !== 'started') throw new Error(`not started: ${started.kind}`);
  const [claimed] = await claimBatches(storage, 'runner', 60_000, 1);
  return claimed!;
}

const pollFor = (line: number, more: Partial<NewBatchPoll> = {}): NewBatchPoll => ({
  line,
  id: newPollId(),
  resultId: newResultId(),
  spec: { ...spec, service_tier: 'flex' },
  holdU: USD,
  providerMaxU: 5_000,
  ...more,
});

const accept = (storage: Storage, { id, epoch }: { id: string; epoch: number }, polls: NewBatchPoll[]) =>
  acceptBatchPolls(storage, { batchId: id, epoch, entryPoint: 'batches', polls });

/** Claims and finishes a poll; what its votes are billed is 801 micro-USD. */
async function finish(storage: Storage, id: string): Promise<string> {
  const claim = await claimPoll(storage, id, 'worker');
  if (!claim) return 'not claimed';
  return (await finishPoll(storage, finished({ id, epoch: claim.epoch }))).outcome;
}

async function money(storage: Storage, accountId: string) {
  const { availableU, reservedU, heldU } = (await balanceOf(storage, accountId))!;
  return { availableU, reservedU, heldU };
}

async function noViolation(fixture: Fixture, test: Test): Promise<void> {
  test.same(await wholeCheck(fixture.storage), []);
}

t.test('each poll of a batch draws its hold from the reservation, and gives back what it does not use', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const batch = await running(storage, accountId, 4);
  t.same(await money(storage, accountId), { availableU: 6n * USD, reservedU: 4n * USD, heldU: 0n });
  const polls = [1, 2, 3].map((line) => pollFor(line, { metadata: { of: String(line) } }));
  const answers = await accept(storage, batch, polls);
  t.same(
    answers,
    polls.map(({ line, id }) => ({ line, outcome: 'accepted', pollId: id })),
  );
  t.same(await accept(storage, batch, polls), answers, 'a repeat after a lost answer');
  t.same(
    (await accept(storage, batch, [pollFor(2)])).map((answer) => 'pollId' in answer && answer.pollId),
    [polls[1]!.id],
    'a row has one poll',
  );
  t.same(await money(storage, accountId), { availableU: 6n * USD, reservedU: USD, heldU: 3n * USD });
  t.same(await query('select lane, batch_line, tenant from polls order by batch_line'), [
    { lane: 'flex', batch_line: 1, tenant: accountId },
    { lane: 'flex', batch_line: 2, tenant: accountId },
    { lane: 'flex', batch_line: 3, tenant: accountId },
  ]);
  t.equal((await query('select from poll_labels')).length, 3);
  await noViolation(fixture, t);

  t.equal(await finish(storage, polls[0]!.id), 'stored');
  t.same(await cancelPoll(storage, accountId, polls[1]!.id), { outcome: 'ended_now' });
  t.same(await money(storage, accountId), { availableU: 6n * USD, reservedU: 3n * USD - 801n, heldU: USD });
  t.equal(await endBatch(storage, batch, null), 'running');
  t.equal(await finish(storage, polls[2]!.id), 'stored');
  t.same(await waitingRows(storage, batch.id, 0, 10), [{ line: 4, order: ORDER }]);
  t.equal(await endBatch(storage, batch, null), 'waiting');
  t.ok(await failBatchRows(storage, batch, [4, 3], 'model_not_found'));
  await noViolation(fixture, t);
  t.equal(await endBatch(storage, batch, null), 'ended_now');
  t.equal(await endBatch(storage, batch, null), 'ended');
  t.same(await money(storage, accountId), { availableU: 10n * USD - 1_602n, reservedU: 0n, heldU: 0n });
  t.match(await findBatch(storage, accountId, batch.id), {
    status: 'completed',
    total: 4,
    running: 0,
    succeeded: 2,
    canceled: 1,
    failed: 1,
    notRun: 0,
    costU: 1_602n,
    reservedU: 0n,
    hasGold: true,
    endedAt: Date,
  });
  const lines = await readBatchLines(storage, batch.id, { afterLine: 0, limit: 10, isOver: true });
  t.match(lines, [
    { line: 1, customId: 'row 1', gold: 'A', outcome: 'success', detail: { winning_option: 'A' } },
    { line: 2, outcome: 'canceled', pollId: polls[1]!.id, detail: null },
    { line: 3, outcome: 'success' },
    { line: 4, outcome: 'failed', pollId: null, error: 'model_not_found' },
  ]);
  await noViolation(fixture, t);
});

t.test('a batch is idle from when its last poll was accepted or ended, and not while it is held back', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const idle = async () => {
    const { gateway, worker } = (await readFleetFigures(storage)).batchIdleS;
    return [Math.round(gateway / 600), Math.round(worker / 600)];
  };
  t.same(await idle(), [0, 0]);
  const batch = await running(storage, accountId, 3);
  const later = () => query(`update batches set moved_at = moved_at - interval '10 minutes'`);
  await later();
  t.same(await idle(), [1, 0], 'no gateway makes polls of its rows');
  await renewBatch(storage, batch, 60_000);
  t.same(await idle(), [1, 0]);
  await renewBatch(storage, batch, 60_000, true);
  t.same(await idle(), [0, 0], 'polls are stopped');
  await later();
  await accept(storage, batch, [pollFor(1), pollFor(2)]);
  t.same(await idle(), [0, 0]);
  await later();
  t.same(await idle(), [0, 1], 'no worker ends its polls');
  const [first] = await runningPollsOfBatch(storage, batch.id, 10);
  t.equal(await claimPoll(storage, first!, 'worker', 60_000, { hourU: 4_999n, dayU: 4_999n }), null);
  t.same(await idle(), [0, 0], 'they wait for the ceiling of provider spend');
  await later();
  await finish(storage, first!);
  t.same(await idle(), [0, 0]);
});

t.test('an account may have flex polls beside those of its batches, which wait before them', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 10n * USD);
  for (const batch of [await running(storage, accountId, 3), await running(storage, accountId, 3)]) {
    const rows = [1, 2, 3].map((line) => pollFor(line));
    await accept(storage, batch, rows);
  }
  const ask = pollAccepter(storage, (_, call) => call());
  const flex = { ...spec, service_tier: 'flex' as const };
  const asked = () =>
    ask(acceptance(accountId, { poll: newPoll(accountId, { tenant: accountId, spec: flex }), limits: { running: 2 } }));
  const both = await Promise.all([asked(), asked()]);
  t.match(both, [
    { kind: 'accepted', rank: 6 },
    { kind: 'accepted', rank: 7 },
  ]);
  t.match(
    await query('select count(distinct xmin::text)::int as n from polls where batch_id is null'),
    [{ n: 1 }],
    'together',
  );
  t.match(await asked(), { kind: 'too_many', running: 2 });

  const other = await funded(storage, 10n * USD);
  const askedByOther = (running: number) => {
    const poll = newPoll(other, { tenant: other, spec: flex });
    return acceptPoll(storage, acceptance(other, { poll, limits: { running } }));
  };
  for (let n = 0; n < 3; n++) t.match(await askedByOther(9), { kind: 'accepted', rank: n });
  t.match(await askedByOther(2), { kind: 'too_many', running: 2 }, 'batches of others do not count');
});

t.test('accepting some rows, and ending one, reads no others of their batch', async (t) => {
  const { storage, query } = await open(t, { maxConnections: 1 });
  const accountId = await funded(storage, 2_000n * USD);
  const rows = 600;
  // By these statistics a batch has one row.
  const small = await running(storage, accountId, 1);
  for (let i = 0; i < 30; i++) await running(storage, accountId, 1);
  await query('analyze batch_rows');
  const batch = await running(storage, accountId, rows);
  async function entriesRead() {
    await sql`select pg_stat_force_next_flush()`.execute(storage.db);
    const [row] = await query<{ entries: number }>(
      "select sum(idx_tup_read)::int as entries from pg_stat_user_indexes where relname = 'batch_rows'",
    );
    return row!.entries;
  }
  t.equal((await accept(storage, small, [pollFor(1)])).length, 1);
  const before = await entriesRead();
  const answers = await accept(storage, batch, [pollFor(301), pollFor(302), pollFor(303)]);
  t.same(
    answers.map(({ line, outcome }) => [line, outcome]),
    [301, 302, 303].map((line) => [line, 'accepted']),
  );
  const accepted = await entriesRead();
  t.ok(accepted - before < rows, `${accepted - before} entries for three rows of ${rows}`);
  const [first] = await runningPollsOfBatch(storage, batch.id, 10);
  t.equal(await finish(storage, first!), 'stored');
  const ended = await entriesRead();
  t.ok(ended - accepted < 100, `${ended - accepted} entries for the end of one row of ${rows}`);

  const uploading = newBatchId();
  t.equal(await openBatch(storage, { id: uploading, accountId, maxOpen: 100 }), 'opened');
  const named = (line: number, name = line) => ({ line, customId: `row ${name}`, order: ORDER, gold: null });
  const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => named(from + n));
  t.same(await addBatchRows(storage, uploading, lines(1, 2_001)), []);
  const read = await inTransaction(storage, (tx) =>
    rowsReadBy(tx, 'batch_rows', async () => {
      const more = [...lines(2_001, 2_100), named(2_100, 7)];
      t.match(await addBatchRows(within(storage, tx.db), uploading, more), [{ line: 2_100, knownLine: 7 }]);
    }),
  );
  t.ok(read > 0 && read < 1_000, `${read} rows for 100 of 2,100, one of which repeats a name`);
});

t.test('a maximum cost, a reversal and a freeze each stop further rows, and cost nothing', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 10n * USD);
  const webhookUrl = 'https://hooks.example/';
  const batch = await running(storage, accountId, 5, { reserveU: 2n * USD, maxCostU: 2n * USD, webhookUrl });
  const polls = (lines: number[]) => lines.map((line) => pollFor(line));
  const outcomes = async (lines: number[]) =>
    (await accept(storage, batch, polls(lines))).map(({ outcome }) => outcome);
  t.same(await outcomes([1]), ['accepted']);
  t.same(await outcomes([2, 3, 4]), ['accepted', 'uncovered', 'uncovered']);
  for (const id of await runningPollsOfBatch(storage, batch.id, 10)) await finish(storage, id);
  t.same(await outcomes([3, 4]), ['accepted', 'uncovered'], 'what the first did not use pays for the next');
  await query('update controls set polls_stopped = true');
  t.same(await outcomes([4]), ['stopped']);
  await query('update controls set polls_stopped = false');
  await reverseCredit(storage, { accountId, amountU: 20n * USD, source: 'operator', idem: unique('reversal:') });
  t.same(await outcomes([4]), ['uncovered'], 'a reservation is worth nothing once its money was taken back');
  t.ok(await freezeAccount(storage, accountId));
  t.same(await outcomes([4]), ['frozen']);
  for (const id of await runningPollsOfBatch(storage, batch.id, 10)) await finish(storage, id);
  t.equal(await endBatch(storage, batch, 'uncovered'), 'ended_now');
  t.match(await findBatch(storage, accountId, batch.id), { status: 'completed', notRun: 2, notRunReason: 'uncovered' });
  const [event] = await query<{ data: Record<string, unknown> }>(
    'select data from webhook_events where account_id = $1',
    [accountId],
  );
  const { status_url, results_url, ...published } = WEBHOOK_DATA['batch.completed'].properties;
  t.same(Object.keys(event!.data).toSorted(), Object.keys(published).toSorted());
  t.match(event!.data, { not_run_reason: 'uncovered', counts: { total: 5, success: 3, canceled: 0, not_run: 2 } });
  t.equal((await balanceOf(storage, accountId))!.reservedU, 0n);
  await noViolation(fixture, t);
});

t.test(
  'a key stands for one body; an upload without money, with a used key or broken off leaves nothing',
  async (t) => {
    const fixture = await open(t);
    const { storage, query } = fixture;
    const accountId = await funded(storage, 3n * USD);
    const idempotency = { key: 'k', fingerprint: 'one' };
    const first = await uploaded(storage, accountId, 2, { idempotency });
    t.equal(first.kind, 'started');
    t.same(await uploaded(storage, accountId, 2, { idempotency }), { ...first, kind: 'joined' });
    t.same(await uploaded(storage, accountId, 1, { idempotency: { key: 'k', fingerprint: 'two' } }), {
      kind: 'reused',
    });
    t.same(await uploaded(storage, accountId, 2), { kind: 'insufficient', availableU: USD, settlingU: 0n });
    const atOnce = await together(4, 4, () =>
      uploaded(storage, accountId, 1, { idempotency: { key: 'k2', fingerprint: 'x' } }),
    );
    t.same(atOnce.map(({ kind }) => kind).toSorted(), ['joined', 'joined', 'joined', 'started']);
    t.equal(new Set(atOnce.map((each) => 'batchId' in each && each.batchId)).size, 1);
    t.same(await money(storage, accountId), { availableU: 0n, reservedU: 3n * USD, heldU: 0n });

    const id = newBatchId();
    t.equal(await openBatch(storage, { id, accountId, maxOpen: 3 }), 'opened');
    t.equal(await openBatch(storage, { id: newBatchId(), accountId, maxOpen: 3 }), 'too_many');
    const row = (line: number, customId: string) => ({ line, customId, order: ORDER, gold: null });
    await addBatchRows(storage, id, [row(1, 'a'), row(2, 'b')]);
    const repeated = [{ line: 3, customId: 'b', knownLine: 2 }];
    for (let i = 0; i < 2; i++) t.same(await addBatchRows(storage, id, [row(3, 'b'), row(4, 'c')]), repeated);
    t.same(
      await addBatchRows(storage, id, [row(5, 'd'), row(6, 'd')]),
      [{ line: 6, customId: 'd', knownLine: 5 }],
      'in one chunk',
    );
    t.equal(await findBatch(storage, accountId, id), null, 'an upload is not shown');
    await pruneExpired(storage);
    t.same(await addBatchRows(storage, id, [row(7, 'e')]), [], 'nor pruned while it goes on');
    await query("update batches set loading_until = now() - interval '1 second' where id = $1", [id]);
    await pruneExpired(storage);
    t.same(await query('select status, count(*)::integer from batches group by status'), [
      { status: 'running', count: 2 },
    ]);
    t.same(await query('select count(*)::integer from batch_rows'), [{ count: 3 }]);
    await t.rejects(addBatchRows(storage, id, [row(9, 'z')]), { code: 'EP009' });
    const gone = { id, accountId, reserveU: 0n, maxCostU: null, metadata: {}, skipped: { count: 0, first: [] } };
    t.same(await startBatch(storage, gone), { kind: 'gone' });
    await noViolation(fixture, t);
  },
);

t.test('one runner has a batch; the one before is fenced', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 5n * USD);
  const batch = await running(storage, accountId, 2);
  t.same(await claimBatches(storage, 'other', 60_000, 5), []);
  const standing = { status: 'running', waiting: 2, running: 0, reservedU: 2n * USD, isExpired: false };
  t.match(await renewBatch(storage, batch, 60_000), standing);
  await query('update batches set runner_until = now()');
  const [next] = await claimBatches(storage, 'other', 60_000, 5);
  t.match(next, { id: batch.id, epoch: batch.epoch + 1 });
  t.equal(await renewBatch(storage, batch, 60_000), null);
  t.match(await accept(storage, batch, [pollFor(1)]), [{ outcome: 'fenced' }]);
  t.equal(await failBatchRows(storage, batch, [1], 'x'), false);
  t.equal(await endBatch(storage, batch, 'expired'), 'fenced');
  await query("update batches set expires_at = now() - interval '1 second'");
  t.match(await renewBatch(storage, next!, 60_000), { isExpired: true }, "by the server's clock, not a gateway's");
  t.match(await accept(storage, next!, [pollFor(1)]), [{ outcome: 'expired' }]);
  t.equal(await endBatch(storage, next!, 'expired'), 'ended_now');
  t.match(await findBatch(storage, accountId, batch.id), { status: 'expired', notRun: 2 });
  t.match(await accept(storage, next!, [pollFor(1)]), [{ outcome: 'over' }]);
});

t.test(
  'batches are claimed first of accounts that have the fewest with a runner, then the longest unattended',
  async (t) => {
    const { storage, query } = await open(t);
    const names = new Map<string, string>();
    async function add(accountId: string, name: string, waitsS: number): Promise<void> {
      const started = await uploaded(storage, accountId, 1);
      if (started.kind !== 'started') throw new Error(started.kind);
      names.set(started.batchId, name);
      await query("update batches set runner_until = now() - $2 * interval '1 second' where id = $1", [
        started.batchId,
        waitsS,
      ]);
    }
    const claimed = async (limit: number) =>
      (await claimBatches(storage, 'runner', 60_000, limit)).map(({ id }) => names.get(id)).toSorted();
    const [many, few, none] = [
      await funded(storage, 9n * USD),
      await funded(storage, 9n * USD),
      await funded(storage, USD),
    ];
    for (const [i, waitsS] of [90, 80, 70].entries()) await add(many, `many ${i}`, waitsS);
    t.same(await claimed(2), ['many 0', 'many 1']);
    for (const [i, waitsS] of [50, 40, 30].entries()) await add(few, `few ${i}`, waitsS);
    await add(none, 'none', 10);
    t.equal(await countUnattendedBatches(storage, 50), 5);
    t.equal(await countUnattendedBatches(storage, 3), 3);
    t.same(await claimed(2), ['few 0', 'none'], 'they have none, and the one of them that waits longest is the first');
    t.same(await claimed(1), ['few 1']);
    t.same(await claimed(1), ['many 2'], 'the third of either: it has waited for longer');
    t.same(await claimed(5), ['few 2']);
    t.equal(await countUnattendedBatches(storage, 50), 0);
  },
);

t.test('accepting, finishing, canceling and ending at once lose no money and run no row twice', async (t) => {
  const fixture = await open(t, { maxConnections: 12 });
  const { storage, query } = fixture;
  const accountId = await funded(storage, 1_000n * USD);
  for (let round = 0; round < 6; round++) {
    const batch = await running(storage, accountId, 60);
    const lines = Array.from({ length: 60 }, (_, i) => i + 1);
    const work: (() => Promise<unknown>)[] = [
      ...Array.from(
        { length: 12 },
        (_, i) => () =>
          accept(
            storage,
            batch,
            lines.slice(i * 5, i * 5 + 8).map((line) => pollFor(line)),
          ),
      ),
      ...Array.from({ length: 20 }, () => async () => {
        const ids = await runningPollsOfBatch(storage, batch.id, 20);
        const id = ids[randomBelow(Math.max(1, ids.length))];
        if (id) await (randomBelow(2) === 0 ? finish(storage, id) : cancelPoll(storage, accountId, id));
      }),
      () => (round % 2 ? cancelBatch(storage, accountId, batch.id) : Promise.resolve()),
      ...Array.from({ length: 3 }, () => () => endBatch(storage, batch, 'uncovered')),
    ].toSorted(() => randomBelow(2) - 0.5);
    await together(work.length, 10, (i) => work[i]!());
    for (const id of await runningPollsOfBatch(storage, batch.id, 100)) {
      if ((await finish(storage, id)) === 'not claimed') await cancelPoll(storage, accountId, id);
    }
    await endBatch(storage, batch, 'uncovered');
    t.equal(
      (await findBatch(storage, accountId, batch.id))!.status,
      round % 2 && (await wasCanceled(batch.id)) ? 'canceled' : 'completed',
    );
  }
  async function wasCanceled(id: string): Promise<boolean> {
    return (await query('select from batches where id = $1 and cancel_requested_at is not null', [id])).length > 0;
  }
  t.match(await money(storage, accountId), { reservedU: 0n, heldU: 0n });
  t.same(await query('select from polls group by batch_id, batch_line having count(*) > 1'), []);
  await noViolation(fixture, t);
});

t.test(
  'polls of a deleted batch cannot be read any more, and nothing of them is left when they are pruned',
  async (t) => {
    const { storage, query } = await open(t);
    const accountId = await funded(storage, 50n * USD);
    const batch = await running(storage, accountId, 2);
    const polls = [pollFor(1), pollFor(2)];
    await accept(storage, batch, polls);
    for (const { id } of polls) t.equal(await finish(storage, id), 'stored');
    const alone = await deletePoll(storage, accountId, polls[1]!.resultId);
    t.match(alone, { outcome: 'deleted', pollId: polls[1]!.id });
    t.match(await readBatchLines(storage, batch.id, { afterLine: 0, limit: 9, isOver: true }), [
      { customId: 'row 1', gold: 'A', detail: { status: 'success' } },
      { customId: polls[1]!.id, gold: null, detail: null, outcome: 'success' },
    ]);
    t.match(await readGoldRows(storage, batch.id, { afterLine: 0, limit: 9 }), [
      { gold: 'A', isDeleted: false, rowHash: Number, poll: {} },
      { gold: null, isDeleted: true, poll: null },
    ]);
    t.equal(await endBatch(storage, batch, null), 'ended_now');
    t.ok(await findResult(storage, polls[0]!.resultId));
    t.equal(await deleteBatch(storage, accountId, batch.id), 'deleted');
    t.equal(await findResult(storage, polls[0]!.resultId), null);
    t.match(await listPolls(storage, accountId, {}, { limit: 5 }), { lines: { length: 0 } });
    t.same(await emptyExpiredPolls(storage), [polls[0]!.id]);
    t.same(await emptyExpiredPolls(storage), []);
    t.same(
      await query("select 1 from polls where spec ? 'question' or account_id is not null or expires_at is not null"),
      [],
    );
    t.match(await balanceOf(storage, accountId), { usageU: 1_602n });
    t.same(await wholeCheck(storage), []);
  },
);

t.test('rows with the same question, options and right answer have the same hash, whatever their preset', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 50n * USD);
  const batch = await running(storage, accountId, 4);
  await accept(
    storage,
    batch,
    [1, 2, 3, 4].map((line) => pollFor(line)),
  );
  await query(`update polls set spec = spec || '{"panel_name": "fast"}' where batch_line = 2`);
  await query(`update polls set spec = spec || '{"question": "Another?"}' where batch_line = 3`);
  await query(`update batch_rows set gold = case line when 4 then 'B' else 'A' end`);
  const hashes = (await readGoldRows(storage, batch.id, { afterLine: 0, limit: 9 })).map(({ rowHash }) => rowHash!);
  t.equal(hashes[0], hashes[1]);
  t.equal(new Set(hashes).size, 3);
  t.ok(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 48));
});

t.test('batches are listed by cursor, deleted once they have ended, and go with their account', async (t) => {
  const fixture = await open(t);
  const { storage, query } = fixture;
  const accountId = await funded(storage, 50n * USD);
  const batches = [];
  for (let i = 0; i < 4; i++) batches.unshift(await running(storage, accountId, 1));
  const ids = batches.map(({ id }) => id);
  const list = async (terms: Parameters<typeof listBatches>[2]) => {
    const page = await listBatches(storage, accountId, terms);
    return page && { ids: page.batches.map(({ id }) => ids.indexOf(id)), hasMore: page.hasMore };
  };
  t.same(await list({ limit: 3 }), { ids: [0, 1, 2], hasMore: true });
  t.same(await list({ limit: 3, from: { batchId: ids[2]!, direction: 'older' } }), { ids: [3], hasMore: false });
  t.same(await list({ limit: 2, from: { batchId: ids[3]!, direction: 'newer' } }), { ids: [1, 2], hasMore: true });
  t.equal(await list({ limit: 2, from: { batchId: newBatchId(), direction: 'newer' } }), null);
  t.equal(await deleteBatch(storage, accountId, ids[0]!), 'open');
  t.equal(await cancelBatch(storage, accountId, ids[0]!), 'canceling');
  t.equal(await endBatch(storage, batches[0]!, 'canceled'), 'ended_now');
  t.same(await list({ limit: 3, status: 'canceled' }), { ids: [0], hasMore: false });
  const other = await funded(storage, 0n);
  for (const act of [cancelBatch, deleteBatch]) t.equal(await act(storage, other, ids[0]!), null);
  t.equal(await deleteBatch(storage, accountId, ids[0]!), 'deleted');
  t.equal(await findBatch(storage, accountId, ids[0]!), null);
  await pruneExpired(storage);
  t.same(await query('select count(*)::integer from batch_rows'), [{ count: 3 }]);

  const kept = await running(storage, accountId, 1, { keepS: 3_600 });
  await query("update batches set keep_until = now() - interval '1 second' where id = $1", [kept.id]);
  await pruneExpired(storage);
  t.equal((await findBatch(storage, accountId, kept.id))!.status, 'running', 'one that runs stays');
  await endBatch(storage, kept, 'expired');
  await pruneExpired(storage);
  t.equal(await findBatch(storage, accountId, kept.id), null);
  t.same(await query('select count(*)::integer from batch_rows'), [{ count: 3 }]);

  t.ok(await closeAccount(storage, accountId));
  await emptyClosedAccounts(storage);
  t.same(await query('select emptied_at from accounts where id = $1', [accountId]), [{ emptied_at: null }]);
  for (const batch of batches.slice(1)) {
    t.match(await accept(storage, batch, [pollFor(1)]), [{ outcome: 'canceled' }]);
    t.equal(await endBatch(storage, batch, null), 'ended_now');
  }
  await emptyClosedAccounts(storage);
  await pruneExpired(storage);
  t.same(await query('select from batches'), []);
  t.same(await query('select from batch_rows'), []);
  t.match(await query('select emptied_at from accounts where id = $1', [accountId]), [{ emptied_at: Date }]);
  await noViolation(fixture, t);
});

t.test('a key stands for its batch for as long as that is kept', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 10n * USD);
  const upload = () => uploaded(storage, accountId, 1, { idempotency: { key: 'k', fingerprint: 'f' }, keepS: 3_600 });
  const first = await upload();
  if (first.kind !== 'started') throw new Error(first.kind);
  const { batchId } = first;
  await query("update batches set created_at = created_at - interval '2 days'");
  t.same(await findBatchKey(storage, accountId, 'k'), { batchId, fingerprint: 'f' });
  t.same(await upload(), { kind: 'joined', batchId });
  const [batch] = await claimBatches(storage, 'runner', 60_000, 1);
  t.equal(await endBatch(storage, batch!, 'expired'), 'ended_now');
  t.same(await upload(), { kind: 'joined', batchId });
  await query("update batches set keep_until = now() - interval '1 second' where id = $1", [batchId]);
  await pruneExpired(storage);
  t.equal(await findBatchKey(storage, accountId, 'k'), null);
  const next = await upload();
  t.equal(next.kind, 'started');
  t.not('batchId' in next && next.batchId, batchId);
});

t.test('the event of a batch goes with it, sent or not, and of a closed account none is noted or kept', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, 50n * USD);
  await ensureAccountEndpoint(storage, accountId, { id: `we_${'0'.repeat(32)}`, secret: 'sealed' });
  const more = { webhookUrl: 'https://hooks.example/', metadata: { customer: 'acme' }, keepS: 3_600 };
  async function ended(): Promise<string> {
    const batch = await running(storage, accountId, 1, more);
    t.equal(await endBatch(storage, batch, 'expired'), 'ended_now');
    return batch.id;
  }
  const events = () => query("select type, data ->> 'batch_id' as batch from webhook_events order by id");
  const deliveries = async () => (await query('select from webhook_deliveries')).length;
  const sent = await ended();
  const ofRow = [{ type: 'poll.completed', batch: sent }];
  await query(
    `select note_webhook_event($1, 'poll.completed', jsonb_build_object('session_id', 'ps_1', 'batch_id', $2::text), $3)`,
    [accountId, sent, more.webhookUrl],
  );
  t.equal(await spreadWebhookEvents(storage, 10), 2);
  const [waiting, old, kept] = [await ended(), await ended(), await ended()];
  const [ofOld, ofKept] = [old, kept].map((batch) => ({ type: 'batch.completed', batch }));
  t.equal(await deleteBatch(storage, accountId, sent), 'deleted');
  t.equal(await deleteBatch(storage, accountId, waiting), 'deleted');
  t.same(await events(), [...ofRow, ofOld, ofKept], 'that of a row goes with its poll');
  t.equal(await deliveries(), 1);
  await query("update batches set keep_until = now() - interval '1 second' where id = $1", [old]);
  await pruneExpired(storage);
  t.same(await events(), [...ofRow, ofKept]);

  const last = await running(storage, accountId, 1, more);
  t.ok(await closeAccount(storage, accountId));
  await emptyClosedAccounts(storage);
  t.same(await events(), []);
  t.equal(await endBatch(storage, last, null), 'ended_now');
  t.same(await events(), []);
  await query("insert into webhook_events (account_id, type, data) values ($1, 'batch.completed', '{}')", [accountId]);
  await emptyClosedAccounts(storage);
  t.same(await events(), [], 'nor what was noted at the moment of the closure');
});

t.test('the end of a batch waits for its account before it holds the balance', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  const accountId = await funded(storage, USD);
  const batch = await running(storage, accountId, 1, { webhookUrl: 'https://hooks.example/' });
  const other = await session(t, fixture);
  await other.query('begin');
  await other.query('select from accounts where id = $1 for update', [accountId]);
  const ended = endBatch(storage, batch, 'expired');
  await isWaitedFor(t, fixture, other);
  await other.query('select from balances where account_id = $1 for update nowait', [accountId]);
  await other.query('commit');
  t.equal(await ended, 'ended_now');
});
