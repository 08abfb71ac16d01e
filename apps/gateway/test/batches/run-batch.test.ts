import { newBatchId } from '@eloquentpoll/polls';
import {
  addBatchRows,
  balanceOf,
  cancelBatch,
  checkLedger,
  claimBatches,
  findBatch,
  freezeAccount,
  openBatch,
  readBatchLines,
  readProviderSpend,
  runningPollsOfBatch,
  type Storage,
  setControl,
  startBatch,
} from '@eloquentpoll/storage';
import { withinOne } from '@eloquentpoll/testkit/calendar';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t, { type Test } from 'tap';
import { keepBatchesRunning } from '../../src/batches/run/keep-batches-running.ts';
import { runClaimedBatch } from '../../src/batches/run/run-claimed-batch.ts';
import type { Context } from '../../src/context.ts';
import { openContext } from '../../src/context.ts';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 8 s

/** Hundreds of polls end in their time, however busy the machine; this only ends what hangs. */
const GUARD_MS = 90_000;

const ORDER = {
  question: 'Which of these is the best choice?',
  options: ['A', 'B'],
  panel_name: 'fast' as const,
  confidence_threshold: 0.95,
  max_cost_u: 10_000,
  min_votes: 3,
  search: false,
};

async function uploaded(storage: Storage, accountId: string, rows: number, reserveU = BigInt(rows) * 10_000n) {
  const id = newBatchId();
  await openBatch(storage, { id, accountId, maxOpen: 10 });
  const added = Array.from({ length: rows }, (_, i) => ({
    ...{ line: i + 1, customId: `row ${i + 1}`, gold: null },
    order: { ...ORDER, question: `${ORDER.question} ${i}` },
  }));
  await addBatchRows(storage, id, added);
  const terms = { maxCostU: null, metadata: {}, skipped: { count: 0, first: [] } };
  const started = await startBatch(storage, { id, accountId, reserveU, ...terms });
  if (started.kind !== 'started') throw new Error(started.kind);
  return id;
}

const runnerOf = (t: Test, context: Context) => {
  const runner = keepBatchesRunning(context, 200);
  t.teardown(() => runner[Symbol.asyncDispose]());
  return runner;
};

const pollsOf = async (storage: Storage, batchId: string) =>
  (await readBatchLines(storage, batchId, { afterLine: 0, limit: 10_000, isOver: false })).flatMap(({ pollId }) =>
    pollId === null ? [] : [pollId],
  );

t.test('rows that wait, and flex polls, leave the ceiling of provider spend to standard polls', async (t) => {
  // A fast poll may cost about 0.008 USD: twenty fit.
  await withinOne('hour');
  const question = { question: ORDER.question, options: ORDER.options, preset: 'fast' };
  const { app, context, keyWith } = await build(t, { providerSpend: { hourU: 160_000n, dayU: null, freeShare: 0.8 } });
  const [batches, other] = [await keyWith(10), await keyWith(10)];
  const send = (headers: Record<string, string>, more = {}) =>
    app.inject({ method: 'POST', url: '/api/polls', headers, payload: { ...question, ...more } });
  const batch = await uploaded(context.storage, batches.accountId, 100);
  runnerOf(t, context);
  const running = async () => (await findBatch(context.storage, batches.accountId, batch))!.running;
  await eventually('all rows are accepted', async () => (await running()) === 100);
  for (let n = 0; n < 40; n++)
    t.equal((await send(batches.bearer, { service_tier: 'flex' })).statusCode, 202, 'flex polls wait');
  t.equal((await send(other.bearer)).statusCode, 202);
  const { hourU } = await readProviderSpend(context.storage);
  t.ok(hourU > 0n && hourU < 16_000n, 'only that one is set aside');
});

t.test('a row that can never fit under the ceiling of provider spend fails, and does not wait for a day', async (t) => {
  const { context, keyWith } = await build(t, { providerSpend: { hourU: 2_000n, dayU: null, freeShare: 0.8 } });
  const { storage } = context;
  const { accountId } = await keyWith(10);
  const batch = await uploaded(storage, accountId, 3);
  runnerOf(t, context);
  await eventually('the batch ends', async () => (await findBatch(storage, accountId, batch))!.status !== 'running');
  const lines = await readBatchLines(storage, batch, { afterLine: 0, limit: 10, isOver: true });
  t.same(new Set(lines.map(({ error }) => error)), new Set(['provider_budget_reached']));
  t.match(await balanceOf(storage, accountId), { heldU: 0n, reservedU: 0n });
});

t.test('accounts take turns in the flex lane, however many batches they have', async (t) => {
  const { context, keyWith } = await build(t);
  const { storage, bus } = context;
  const [many, one] = [(await keyWith(10)).accountId, (await keyWith(10)).accountId];
  runnerOf(t, context);
  const owners = new Map<string, string>();
  let rows = 0;
  for (const [owner, accountId, count] of [
    ['A', many, 1],
    ['A', many, 1],
    ['B', one, 2],
  ] as const) {
    const id = await uploaded(storage, accountId, count);
    rows += count;
    await eventually('its polls wait', async () => (await bus.queueWaiting('flex')) === rows);
    for (const pollId of await runningPollsOfBatch(storage, id, 10)) owners.set(pollId, owner);
  }
  const order: (string | undefined)[] = [];
  const consumer = bus.consumePolls({
    lane: 'flex',
    concurrency: 1,
    run: async (pollId) => void order.push(owners.get(pollId)),
  });
  t.teardown(() => consumer.drain(100));
  await eventually('all were taken', () => order.length === 4);
  t.same(order, ['A', 'B', 'A', 'B']);
});

t.test('polls of batches leave the flex polls that an account may have to it', async (t) => {
  const { app, context, keyWith } = await build(t, { maxRunningFlexPolls: 2 });
  const { accountId, bearer } = await keyWith(10);
  const batch = await uploaded(context.storage, accountId, 3);
  runnerOf(t, context);
  await eventually('its polls wait', async () => (await findBatch(context.storage, accountId, batch))!.running === 3);
  const send = async () => {
    const payload = { question: ORDER.question, options: ORDER.options, preset: 'fast', service_tier: 'flex' };
    return (await app.inject({ method: 'POST', url: '/api/polls', headers: bearer, payload })).statusCode;
  };
  t.same([await send(), await send(), await send()], [202, 202, 429]);
});

t.test('a batch of 700 rows goes to two gateways, one after the other; each row is asked once', async (t) => {
  const { context, keyWith, asOwner } = await build(t);
  const { storage } = context;
  const { accountId } = await keyWith(100);
  const worker = await standInWorker(t, context, { lane: 'flex' });
  const id = await uploaded(storage, accountId, 700);
  const first = runnerOf(t, context);
  await eventually('the first gateway runs it', async () => (await findBatch(storage, accountId, id))!.succeeded > 20);
  const other = await openContext(context.config, { log: context.log });
  t.teardown(() => other[Symbol.asyncDispose]());
  const second = runnerOf(t, other);
  await eventually(
    'the second one has it',
    async () => {
      if (second.size === 1 || first.size === 0) return true;
      // As if the first one had hung for longer than its lease.
      await asOwner(`update batches set runner_until = now() - interval '1 second'`);
      return false;
    },
    GUARD_MS,
  );
  await eventually('it ends', async () => (await findBatch(storage, accountId, id))!.status === 'completed', GUARD_MS);
  const batch = (await findBatch(storage, accountId, id))!;
  t.match(batch, { total: 700, running: 0, succeeded: 700, notRun: 0, reservedU: 0n });
  const polls = await pollsOf(storage, id);
  t.equal(new Set(polls).size, 700);
  // A run is noted after its end was announced.
  await eventually('every run is noted', () => worker.ran.length >= 700);
  t.equal(worker.ran.length, 700, 'no poll ran that is not of a row');
  t.same(worker.ran.toSorted(), polls.toSorted());
  t.same(await checkLedger(storage), []);
});

t.test(
  'while polls are stopped none is begun; what the reservation does not cover waits for what is given back',
  async (t) => {
    const { context, keyWith, log } = await build(t);
    const { storage } = context;
    const { accountId } = await keyWith(10);
    await setControl(storage, 'pollsStopped', true);
    // Two polls at a time.
    const id = await uploaded(storage, accountId, 40, 25_000n);
    await standInWorker(t, context, { lane: 'flex' });
    const runner = runnerOf(t, context);
    await eventually('a gateway has it', () => runner.size === 1);
    await eventually('it waits', () => log.some((line) => line.includes('batch.waits')));
    t.equal((await findBatch(storage, accountId, id))!.running, 0);
    await setControl(storage, 'pollsStopped', false);
    await eventually('it ends', async () => (await findBatch(storage, accountId, id))!.endedAt !== null, GUARD_MS);
    const batch = (await findBatch(storage, accountId, id))!;
    t.equal(batch.notRunReason, 'uncovered');
    t.equal(batch.succeeded + batch.notRun, 40);
    const leftU = 25_000n - batch.costU;
    t.ok(leftU >= 0n && leftU < 10_000n, `${batch.succeeded} polls, and ${leftU} that would have covered another one`);
    t.equal((await balanceOf(storage, accountId))!.availableU, 10_000_000n - batch.costU);
    t.same(await checkLedger(storage), []);
  },
);

t.test(
  'cancellation and a frozen account end a batch: polls that no worker has at once, and its rows are not run',
  async (t) => {
    const { context, keyWith } = await build(t);
    const { storage } = context;
    const [one, other] = [await keyWith(10), await keyWith(10)];
    const ids = [await uploaded(storage, one.accountId, 700), await uploaded(storage, other.accountId, 700)] as const;
    runnerOf(t, context);
    const stands = async (i: 0 | 1) => (await findBatch(storage, [one, other][i]!.accountId, ids[i]))!;
    await eventually(
      'both run',
      async () => (await stands(0)).running === 500 && (await stands(1)).running === 500,
      GUARD_MS,
    );
    t.equal(await cancelBatch(storage, one.accountId, ids[0]), 'canceling');
    await freezeAccount(storage, other.accountId);
    await eventually('the first ends', async () => (await stands(0)).status === 'canceled', GUARD_MS);
    t.match(await stands(0), { canceled: 500, notRun: 200, notRunReason: 'canceled', costU: 0n, reservedU: 0n });
    await standInWorker(t, context, { lane: 'flex' });
    await standInWorker(t, context);
    await eventually('the other ends', async () => (await stands(1)).status === 'canceled', GUARD_MS);
    t.match(await stands(1), { total: 700, running: 0, reservedU: 0n, notRunReason: 'canceled' });
    t.same(await checkLedger(storage), []);
  },
);

/** The same, counting the statements that have a text in them. */
function countStatements(storage: Storage, text: string): { storage: Storage; count: () => number } {
  let count = 0;
  const db = storage.db.withPlugin({
    transformQuery: ({ node }) => {
      if (node.kind === 'RawNode' && node.sqlFragments.some((part) => part.includes(text))) count += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  return { storage: { ...storage, db }, count: () => count };
}

t.test('rows that the reservation does not cover are not tried again before something was given back', async (t) => {
  const audits = { rate: 1, laterRate: 1, rateUntil: 500, gate: 300, refreshMs: 60_000 };
  const { context, keyWith, asOwner } = await build(t, { audits });
  const { accountId } = await keyWith(10);
  const id = await uploaded(context.storage, accountId, 500, 20_000n);
  const [batch] = await claimBatches(context.storage, 'this test', 60_000, 1);
  const { storage, count } = countStatements(context.storage, 'accept_batch_polls');
  const stop = new AbortController();
  const looks: number[] = [];
  async function pause(): Promise<void> {
    looks.push(count());
    // As if one of the polls had given back all of its hold.
    if (looks.length === 12)
      await asOwner(`with given as (update batches set reserved_u = 10000 where id = '${id}' returning account_id)
        update balances b set reserved_u = 10000 from given where b.account_id = given.account_id`);
    if (looks.length === 24) stop.abort();
  }
  t.equal(await runClaimedBatch({ ...context, storage }, batch!, { pause, signal: stop.signal }), 'released');
  t.same(looks, [...Array<number>(12).fill(1), ...Array<number>(12).fill(2)]);
  const { running } = (await findBatch(context.storage, accountId, id))!;
  t.equal(running, 3);
  t.equal(context.metrics.counter('eloquentpoll_audits_drawn_total', 'fast').n, running);
});

t.test("batches of one account take every place, and another account's batch has its turn all the same", async (t) => {
  const { context, keyWith } = await build(t);
  const { storage } = context;
  const [many, one] = [await keyWith(10), await keyWith(10)];
  // Of two rows, of which no worker ends any.
  const ofMany = await Promise.all(Array.from({ length: 4 }, () => uploaded(storage, many.accountId, 2)));
  const runner = keepBatchesRunning(context, 50, { maxBatches: 2, turnMs: 0 });
  t.teardown(() => runner[Symbol.asyncDispose]());
  await eventually('every place is taken', () => runner.size === 2);
  const id = await uploaded(storage, one.accountId, 2);
  const begun = async (accountId: string, batch: string) => (await findBatch(storage, accountId, batch))!.running === 2;
  await eventually('the other one begins', () => begun(one.accountId, id), GUARD_MS);
  for (const batch of ofMany) await eventually('and so do they', () => begun(many.accountId, batch), GUARD_MS);
  t.same(await checkLedger(storage), []);
});
