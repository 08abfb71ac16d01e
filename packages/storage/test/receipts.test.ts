import { createHash, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import t from 'tap';
import { finishPoll } from '../src/finish-poll.ts';
import {
  acceptPoll,
  claimPoll,
  findReceiptProof,
  inTransaction,
  readReceiptDays,
  type Storage,
  type StoredProof,
  type StoredReceiptDay,
} from '../src/index.ts';
import { findReceiptSource } from '../src/receipts.ts';
import { sealReceipts } from '../src/seal-receipts.ts';
import { acceptance, type Fixture, finished, funded, open, response, USD, vote } from './fixtures.ts';
import { rowsReadBy } from './query-plan.ts';

// slow: 7 s

const sha256 = (...parts: Uint8Array[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};
const NODE = Buffer.of(1);

/** RFC 6962, 2.1, word by word. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 1) return leaves[0]!;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return sha256(NODE, rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)));
}

/** RFC 9162, 2.1.3.2. */
function leadsToRoot(leaf: Buffer, { index, receipts, path, root }: StoredProof): boolean {
  if (index >= receipts) return false;
  let [fn, sn, node] = [index, receipts - 1, leaf];
  for (const sibling of path) {
    if (sn === 0) return false;
    if (fn & 1 || fn === sn) {
      node = sha256(NODE, sibling, node);
      while (!(fn & 1) && fn !== 0) [fn, sn] = [fn >> 1, sn >> 1];
    } else node = sha256(NODE, node, sibling);
    [fn, sn] = [fn >> 1, sn >> 1];
  }
  return sn === 0 && node.equals(root);
}

const newLeaves = (count: number) => Array.from({ length: count }, () => randomBytes(32));

async function plant({ query }: Fixture, day: string, leaves: readonly Buffer[]): Promise<void> {
  await query('insert into receipt_leaves (day, leaf) select $1, unnest($2::bytea[])', [day, leaves]);
}

async function sealedNow(storage: Storage, maxLeaves?: number): Promise<StoredReceiptDay[]> {
  const days: StoredReceiptDay[] = [];
  // However slow the machine is.
  const timeouts = { withinMs: 120_000, lockTermMs: 180_000 };
  const outcome = await sealReceipts(storage, (day) => days.push(day), {
    ...timeouts,
    ...(maxLeaves && { maxLeaves }),
  });
  t.equal(outcome, 'done');
  return days;
}

t.test('a day that is over becomes a Merkle tree of its receipts, whatever their number', async (t) => {
  const fixture = await open(t);
  const { storage } = fixture;
  let previous: Buffer | null = null;
  // One, a page, pages of which the last is one or many, and enough for a third level.
  for (const [i, count] of [1, 2, 3, 255, 256, 257, 512, 700].entries()) {
    const day = `2026-01-${String(i + 1).padStart(2, '0')}`;
    const leaves = newLeaves(count);
    await plant(fixture, day, leaves);
    const [sealed, ...more] = await sealedNow(storage, 512);
    t.match(sealed, { day, receipts: count });
    t.same(more, []);
    const sorted = leaves.toSorted(Buffer.compare);
    t.same(sealed!.root, rootOf(sorted), `${count} receipts`);
    const size = Buffer.alloc(8);
    size.writeBigUInt64BE(BigInt(count));
    t.same(
      sealed!.seal,
      sha256(previous ?? Buffer.alloc(0), Buffer.from(day), size, sealed!.root),
      'chained to the day before',
    );
    for (const at of [0, 1, 254, 255, 256, 511, count - 1].filter((at) => at < count)) {
      const proof = await findReceiptProof(storage, sorted[at]!, day);
      t.match(proof, { day, index: at, receipts: count });
      t.same(proof!.previousSeal, previous);
      t.ok(leadsToRoot(sorted[at]!, proof!), `${at} of ${count}`);
      t.notOk(leadsToRoot(sorted[at]!, { ...proof!, index: at + 1 }));
    }
    t.equal(await findReceiptProof(storage, randomBytes(32), day), null);
    previous = sealed!.seal;
  }
  t.same(await sealedNow(storage), [], 'nothing is left');
  t.same(
    (await readReceiptDays(storage, { limit: 2 })).map(({ day }) => day),
    ['2026-01-08', '2026-01-07'],
  );
  t.same(
    (await readReceiptDays(storage, { limit: 1, before: '2026-01-07' })).map(({ day }) => day),
    ['2026-01-06'],
  );
});

t.test('a day whose sealing outlasts the lock is reported all the same', async (t) => {
  const fixture = await open(t);
  await plant(fixture, '2026-01-05', newLeaves(2_000));
  const days: string[] = [];
  // The lock is lost after a millisecond without a statement, as it is when the work takes longer than its term.
  const sealing = sealReceipts(fixture.storage, ({ day }) => days.push(day), { maxLeaves: 256, lockTermMs: 1 });
  await sealing.catch(() => undefined);
  t.same(days, ['2026-01-05']);
});

t.test('sealing leaves what it has no time for to the next round', async (t) => {
  const fixture = await open(t);
  await plant(fixture, '2026-01-05', newLeaves(513));
  await plant(fixture, '2026-01-06', newLeaves(1));
  const seen: string[] = [];
  const round = () => sealReceipts(fixture.storage, ({ day }) => seen.push(day), { maxLeaves: 256, withinMs: 0 });
  for (let rounds = 0; rounds < 20; rounds++) {
    const outcome = await round();
    seen.push(outcome);
    if (outcome === 'done') break;
  }
  // Three pages of leaves, one above, a seal; then a day of one receipt.
  t.same(seen, ['more', 'more', 'more', 'more', '2026-01-05', 'more', '2026-01-06', 'more', 'done']);
});

t.test('the day to be sealed is found without reading its receipts', async (t) => {
  const fixture = await open(t);
  await plant(fixture, '2026-01-05', newLeaves(5_000));
  const read = await inTransaction(fixture.storage, (tx) =>
    rowsReadBy(tx, 'receipt_leaves', async () => {
      const { rows } = await sql`select day_to_seal()::text as day`.execute(tx.db);
      t.match(rows, [{ day: '2026-01-05' }]);
    }),
  );
  t.ok(read <= 1, `${read} of 5,000 read`);
});

t.test('a step reads no more receipts than it files, also by the statistics of another day', async (t) => {
  const fixture = await open(t);
  await plant(fixture, '2026-01-06', newLeaves(500));
  await fixture.query('analyze receipt_leaves');
  await plant(fixture, '2026-01-05', newLeaves(5_000));
  const read = await inTransaction(fixture.storage, (tx) =>
    rowsReadBy(tx, 'receipt_leaves', async () => {
      const { rows } = await sql`select seal_receipts(2048) as step`.execute(tx.db);
      t.same(rows, [{ step: 'page' }]);
    }),
  );
  t.ok(read >= 2_048 && read <= 3 * 2_048 + 10, `${read} reads for 2,048 of 5,000`);
});

t.test('66,000 receipts have a third level of pages', async (t) => {
  const fixture = await open(t);
  const leaves = newLeaves(256 * 256 + 3);
  await plant(fixture, '2026-02-01', leaves);
  const [sealed] = await sealedNow(fixture.storage);
  const sorted = leaves.toSorted(Buffer.compare);
  t.same(sealed!.root, rootOf(sorted));
  for (const at of [0, 40_000, 65_535, 65_536, 65_538]) {
    const proof = await findReceiptProof(fixture.storage, sorted[at]!, '2026-02-01');
    t.ok(proof && leadsToRoot(sorted[at]!, proof), String(at));
  }
});

t.test('a day of 600 pages is sealed in steps of 256 pages at most, and nothing is filed in between', async (t) => {
  const fixture = await open(t);
  const { query } = fixture;
  const PAGES = 600;
  const leaves = newLeaves(PAGES * 256).toSorted(Buffer.compare);
  const pages = Array.from({ length: PAGES }, (_, page) => Buffer.concat(leaves.slice(page * 256, (page + 1) * 256)));
  await query(
    `insert into receipt_pages (day, level, page, first, hashes)
     select '2026-02-02', 0, at - 1, substring(hashes for 32), hashes from unnest($1::bytea[]) with ordinality p (hashes, at)`,
    [pages],
  );
  const above = async () =>
    (await query<{ n: number }>('select count(*)::int as n from receipt_pages where level > 0'))[0]!.n;
  const steps: [unknown, number][] = [];
  const late = Buffer.alloc(32, 255);
  for (;;) {
    const [row] = await query<{ step: string | null }>('select seal_receipts(512) as step');
    if (row!.step === null) break;
    steps.push([row!.step, await above()]);
    if (steps.length === 1) await plant(fixture, '2026-02-02', [late]);
  }
  t.same(steps, [
    ['page', 1],
    ['page', 2],
    ['page', 3],
    ['page', 4],
    ['day', 4],
    ['day', 4],
  ]);
  const [day] = await readReceiptDays(fixture.storage, { limit: 1, day: '2026-02-02' });
  t.equal(day!.receipts, leaves.length);
  t.same(day!.root, rootOf(leaves));
  for (const at of [0, 65_535, 65_536, leaves.length - 1]) {
    const proof = await findReceiptProof(fixture.storage, leaves[at]!, '2026-02-02');
    t.ok(proof && leadsToRoot(leaves[at]!, proof), String(at));
  }
  t.match(await findReceiptProof(fixture.storage, late, '2026-02-02'), { day: '2026-02-03', receipts: 1 });
});

t.test(
  'a receipt that comes after its day was sealed counts to the next, and sealed days cannot be rewritten',
  async (t) => {
    const fixture = await open(t);
    const { storage, query } = fixture;
    const [early, late, next] = newLeaves(3) as [Buffer, Buffer, Buffer];
    await plant(fixture, '2026-03-01', [early]);
    await sealedNow(storage);
    await plant(fixture, '2026-03-01', [late]);
    await plant(fixture, '2026-03-02', [next]);
    t.match(await sealedNow(storage), [{ day: '2026-03-02', receipts: 2 }]);
    t.match(await findReceiptProof(storage, late, '2026-03-01'), { day: '2026-03-02' });

    const today = new Date().toISOString().slice(0, 10);
    await plant(fixture, today, newLeaves(1));
    t.same(await sealedNow(storage), [], 'today is not over');
    for (const damage of [
      'update receipt_days set root = root',
      'delete from receipt_pages',
      'update receipt_pages set page = 7',
    ])
      await t.rejects(query(damage), { message: /append-only/ }, damage);
  },
);

t.test('a receipt that was left of a sealed day, and was added again since, does not stop sealing', async (t) => {
  const fixture = await open(t);
  const [early, late, other] = newLeaves(3) as [Buffer, Buffer, Buffer];
  await plant(fixture, '2026-04-01', [early]);
  await plant(fixture, '2026-04-02', [other]);
  await sealedNow(fixture.storage);
  // A move between cells copies a result again, on the next day.
  await plant(fixture, '2026-04-01', [late]);
  await plant(fixture, '2026-04-02', [late]);
  await plant(fixture, '2026-04-03', [late]);
  t.match(await sealedNow(fixture.storage), [{ day: '2026-04-03', receipts: 1 }]);
  t.match(await findReceiptProof(fixture.storage, late, '2026-04-01'), { day: '2026-04-03' });
});

t.test('a poll that ends leaves the hash of its receipt, and what the receipt is made from', async (t) => {
  const { storage, query } = await open(t);
  const accountId = await funded(storage, USD);
  const [receiptLeaf] = newLeaves(1);
  const { poll } = acceptance(accountId);
  await acceptPoll(storage, { poll, holdU: 3_000n });
  const claim = (await claimPoll(storage, poll.id, 'w'))!;
  const cost = { estimated_u: 700, max_u: 900, fault_u: 600 };
  const votes = [vote(0), vote(1), vote(2, { option: null, error: 'refusal', billed_u: 0, cost })];
  const stored = response({ poll_id: poll.resultId, votes: votes.map(({ model_id }) => ({ model_id })) as never });
  await finishPoll(
    storage,
    finished({ id: poll.id, epoch: claim.epoch }, { votes, response: stored, receiptLeaf: receiptLeaf! }),
  );
  t.same(await query('select leaf from receipt_leaves'), [{ leaf: receiptLeaf }]);
  const source = await findReceiptSource(storage, poll.resultId);
  t.same(source?.leaf, receiptLeaf);
  t.same(source?.faultsU, [0, 0, 600]);
  t.match(source, { spec: poll.spec, accountId, acceptedAt: claim.createdAt });
  t.equal(await findReceiptSource(storage, 'EP-2026-01-02-0000000000000000'), null);
});
