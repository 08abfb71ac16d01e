import { claimScan, proveScan } from '@eloquentpoll/storage';
import { fakeStripe } from '@eloquentpoll/testkit/fakes/stripe';
import t from 'tap';
import { movementsScan } from '../../src/payments/card/compare-movements.ts';
import { reconciledAt } from '../../src/payments/reconciled-at.ts';
import { scanTransfers, transfersScan } from '../../src/payments/usdc/scan-transfers.ts';
import { build } from '../fixtures/build.ts';
import { openTestDeposits } from '../fixtures/deposits.ts';

const LONG_AGO = new Date('2026-01-01T00:00:00Z');
const LATELY = new Date('2026-03-01T00:00:00Z');

t.test(
  'a comparison that the settings no longer name says nothing, and one that they name says it when it stands',
  async (t) => {
    const { deposits } = await openTestDeposits(t);
    const { settings: checkout } = await fakeStripe(t);
    const { context } = await build(t, { checkout }, { deposits });
    const { storage } = context;
    async function proved(name: string, reachedAt: Date): Promise<void> {
      const scan = await claimScan(storage, name, async () => 1n);
      await proveScan(storage, scan!, { balanceU: null, reachedAt, everyS: 60 });
    }
    const notBegun = await reconciledAt(context);
    t.match(notBegun, [{ source: 'chain' }, { source: 'card' }]);
    for (const { at } of notBegun) t.ok(at > LATELY && at <= new Date(), 'counts from the start of the process');
    const chain = transfersScan(deposits.settings);
    await proved(transfersScan({ ...deposits.settings, payTo: `0x${'1'.repeat(40)}` }), LONG_AGO);
    await proved(movementsScan({ ...context.config, baseUrl: 'https://before.example' }), LONG_AGO);
    t.same(await reconciledAt(context), notBegun, 'those of other settings');
    await proved(chain, LATELY);
    await proved(movementsScan(context.config), LATELY);
    const now = [
      { source: 'chain', at: LATELY },
      { source: 'card', at: LATELY },
    ];
    t.same(await reconciledAt(context), now);
    await storage.db.updateTable('money_scans').set({ due_at: LONG_AGO }).where('name', '=', chain).execute();
    t.same(await reconciledAt(context), now, 'also where no process took it up for more than a week');
    t.same(await reconciledAt({ ...context, deposits: null }), [{ source: 'card', at: LATELY }], 'deposits are off');
    t.same(await reconciledAt({ ...context, processor: null }), [{ source: 'chain', at: LATELY }], 'cards are off');
  },
);

t.test('a scan that never begins counts from its first attempt, whenever the process was started', async (t) => {
  const { deposits, chain } = await openTestDeposits(t);
  const { context } = await build(t, {}, { deposits });
  const { db } = context.storage;
  const attempt = () => scanTransfers(context, deposits, new AbortController().signal);
  chain.state.down = true;
  await t.rejects(attempt());
  await db.updateTable('money_scans').set({ created_at: LONG_AGO }).execute();
  await t.rejects(attempt());
  t.same(await reconciledAt(context), [{ source: 'chain', at: LONG_AGO }]);
  chain.state.down = false;
  await attempt();
  const [{ at } = { at: LONG_AGO }] = await reconciledAt(context);
  t.ok(at > LATELY, 'it has begun, and was proved');
  const { proved_position: proved } = await db.selectFrom('money_scans').selectAll().executeTakeFirstOrThrow();
  t.equal(proved, BigInt(chain.state.block) + 1n, 'from the newest block on');
});

t.test('a scan that was never proved counts from when it was made', async (t) => {
  const { deposits } = await openTestDeposits(t);
  const { context } = await build(t, {}, { deposits });
  await claimScan(context.storage, transfersScan(deposits.settings), async () => 1n);
  const { created_at } = await context.storage.db
    .selectFrom('money_scans')
    .select('created_at')
    .executeTakeFirstOrThrow();
  t.same(await reconciledAt(context), [{ source: 'chain', at: created_at }]);
});
