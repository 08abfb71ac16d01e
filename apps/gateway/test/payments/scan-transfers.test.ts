import { randomBytes } from 'node:crypto';
import {
  balanceOf,
  bookTransfer,
  checkLedger,
  createAccount,
  findIdentity,
  openMisfits,
  readMoneyFigures,
  transferOfMisfit,
} from '@eloquentpoll/storage';
import type { FakeTransfer } from '@eloquentpoll/testkit/fakes/chain';
import { base64, FAKE_PAY_TO, sign, v1 } from '@eloquentpoll/testkit/fakes/payer';
import { Wallet } from 'ethers';
import t, { type Test } from 'tap';
import { scanTransfers } from '../../src/payments/usdc/scan-transfers.ts';
import { cashier } from '../fixtures/deposits.ts';

// slow: 4 s

async function scanned(t: Test) {
  const shop = await cashier(t);
  const { context, deposits, chain, facilitator, deposit } = shop;
  const { storage } = context;
  const due = () =>
    storage.db
      .updateTable('money_scans')
      .set({ due_at: new Date(0) })
      .execute();
  const scan = async () => {
    await due();
    await scanTransfers(context, deposits, new AbortController().signal);
  };
  const row = () => storage.db.selectFrom('money_scans').selectAll().executeTakeFirstOrThrow();
  const cents = async (address: string) => {
    const known = await findIdentity(storage, { kind: 'wallet', address: Buffer.from(address.slice(2), 'hex') });
    return known ? Number((await balanceOf(storage, known.accountId))!.postedU / 10_000n) : null;
  };
  /** A payment that was submitted, whose settlement was not answered for; it moves on the chain when `settle` is called. */
  async function unsettled(usd: number) {
    const wallet = Wallet.createRandom();
    const signed = await sign(wallet, usd);
    facilitator.state.failure = 'no word from the sequencer';
    await deposit(usd, { 'x-payment': base64(v1(signed)) });
    facilitator.state.failure = null;
    const settle = () => chain.settle({ ...signed.authorization, value: BigInt(signed.authorization.value) });
    return { address: wallet.address, settle };
  }
  const giveUp = () =>
    storage.db
      .updateTable('deposits')
      .set({ state: 'failed', closed_at: new Date() })
      .where('state', '<>', 'credited')
      .execute();
  return { ...shop, storage, scan, row, cents, unsettled, giveUp };
}

const stranger = (usd: number): FakeTransfer => ({
  from: Wallet.createRandom().address,
  to: FAKE_PAY_TO,
  value: BigInt(usd * 1_000_000),
  nonce: `0x${randomBytes(32).toString('hex')}`,
});

t.test('a deposit that was given up and is on the chain is credited by the scan, once', async (t) => {
  const { scan, chain, cents, unsettled, giveUp, log, row } = await scanned(t);
  await scan();
  const { address, settle } = await unsettled(500);
  settle();
  await giveUp();
  await Promise.all([scan(), scan()]);
  t.equal(await cents(address), 50_000);
  t.ok(log.some((line) => line.includes('deposit.found_on_chain')));
  chain.mine(3);
  await scan();
  t.equal(await cents(address), 50_000);
  t.equal((await row()).position, BigInt(chain.state.block) + 1n);
});

t.test('deposits of before the first scan are compared too', async (t) => {
  const { scan, cents, unsettled, giveUp } = await scanned(t);
  const { address, settle } = await unsettled(5);
  settle();
  await giveUp();
  await scan();
  t.equal(await cents(address), 500);
});

t.test('a transfer without a deposit is a misfit, one without value is not', async (t) => {
  const { scan, chain, storage, log } = await scanned(t);
  await scan();
  const paid = chain.settle(stranger(7));
  const plain = chain.transaction([chain.transferEvent(stranger(3)), chain.transferEvent(stranger(0))]);
  await scan();
  t.match(await openMisfits(storage, 10), [
    { source: 'chain', reason: 'no_deposit', amountU: 7_000_000n, details: { tx_hash: paid } },
    { source: 'chain', reason: 'no_authorization', amountU: 3_000_000n, details: { tx_hash: plain } },
  ]);
  t.equal(log.filter((line) => line.includes('deposit.transfer_unmatched')).length, 2);
  t.same(await checkLedger(storage), []);
});

t.test('credited deposits, several in one transaction, are matched', async (t) => {
  const { scan, deposit, storage, chain } = await scanned(t);
  await scan();
  for (let i = 0; i < 3; i++) await deposit(5, { 'x-payment': base64(v1(await sign(Wallet.createRandom(), 5))) });
  chain.mine(2_000);
  await scan();
  t.same(await openMisfits(storage, 10), []);
});

t.test('a transfer that cannot be compared holds up no other, and proves nothing until it is', async (t) => {
  const { scan, chain, cents, unsettled, giveUp, row, log, storage, asOwner } = await scanned(t);
  await scan();
  const { position, proved_position: proved } = await row();
  chain.transaction([chain.transferEvent(stranger(7))]);
  chain.mine(1_200);
  const { address, settle } = await unsettled(5);
  settle();
  await giveUp();
  await asOwner(`create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$`);
  await asOwner('create trigger broken before insert on misfits for each row execute function fail()');
  for (let round = 1; round <= 2; round++) {
    await t.rejects(scan(), { message: '1 transfers could not be compared' });
    t.equal(await cents(address), 500, 'it lies behind');
    t.match(await row(), { position, proved_position: proved });
    t.equal(log.filter((line) => line.includes('deposit.match_failed')).length, round);
  }
  await asOwner('drop trigger broken on misfits');
  await scan();
  t.match(await openMisfits(storage, 10), [{ reason: 'no_authorization', amountU: 7_000_000n }]);
  t.equal((await row()).proved_position, BigInt(chain.state.block) + 1n);
});

const inAnHour = () => Math.floor(Date.now() / 1_000) + 3_600;

t.test('a credited deposit that the chain has dropped is a misfit, until the chain has it again', async (t) => {
  const { scan, deposit, storage, chain, cents, log } = await scanned(t);
  await scan();
  const wallet = Wallet.createRandom();
  const signed = await sign(wallet, 5);
  chain.state.unfinal = 10;
  const paid = (await deposit(5, { 'x-payment': base64(v1(signed)) })).json();
  chain.drop(paid.tx_hash);
  chain.mine(20);
  await scan();
  t.same(await openMisfits(storage, 10), [], 'just now: it may come again');
  chain.state.finalAt = inAnHour();
  for (let round = 0; round < 2; round++) {
    await scan();
    const misfits = await openMisfits(storage, 10);
    t.equal(misfits.length, 1);
    t.match(misfits, [
      {
        ...{ source: 'chain', reason: 'lost_transfer', reference: `deposit:${paid.deposit_id}`, amountU: -5_000_000n },
        details: { account_id: paid.user_id, tx_hash: paid.tx_hash },
      },
    ]);
    t.match(await readMoneyFigures(storage), { misfits: { chain: 0 }, lostDeposits: 1 });
  }
  t.equal(log.filter((line) => line.includes('deposit.transfer_lost')).length, 1);
  t.equal(await cents(wallet.address), 500, 'what becomes of it is for an operator to say');
  chain.settle({ ...signed.authorization, value: 5_000_000n });
  chain.mine(10);
  await scan();
  t.same(await openMisfits(storage, 10), []);
  t.match(await readMoneyFigures(storage), { lostDeposits: 0 });
  t.equal(await cents(wallet.address), 500);
  t.same(await checkLedger(storage), []);
});

t.test('a credited deposit that no scan has noted as met is looked for on the chain', async (t) => {
  const { scan, deposit, storage, chain } = await scanned(t);
  await scan();
  const met = async () => {
    const rows = await storage.db.selectFrom('deposits').select('final_at').orderBy('created_at').execute();
    return rows.map(({ final_at: at }) => at !== null);
  };
  const pay = async () => deposit(5, { 'x-payment': base64(v1(await sign(Wallet.createRandom(), 5))) });
  await pay();
  await scan();
  t.same(await met(), [true]);
  // As a process of an older release leaves it, whose scan has passed.
  await storage.db.updateTable('deposits').set({ final_at: null }).execute();
  chain.state.unfinal = 50;
  await pay();
  chain.mine(60);
  await pay();
  chain.state.finalAt = inAnHour();
  await scan();
  t.same(await met(), [true, true, false], 'the last one is in no final block yet');
  t.same(await openMisfits(storage, 10), []);
});

t.test('blocks that are not final are left to the next round', async (t) => {
  const { scan, chain, cents, unsettled, giveUp } = await scanned(t);
  await scan();
  const { address, settle } = await unsettled(5);
  chain.state.unfinal = 10;
  settle();
  await giveUp();
  await scan();
  t.equal(await cents(address), null);
  chain.mine(10);
  await scan();
  t.equal(await cents(address), 500);
});

t.test(
  'a node that is away for five hours, or limits ranges, loses nothing: the scan goes on where it was',
  async (t) => {
    const { scan, chain, cents, unsettled, giveUp, row } = await scanned(t);
    await scan();
    const { address, settle } = await unsettled(500);
    chain.state.down = true;
    const { position } = await row();
    await t.rejects(scan());
    t.equal((await row()).position, position);
    chain.state.down = false;
    settle();
    chain.mine(9_000);
    await giveUp();
    chain.state.maxRange = 100;
    await t.rejects(scan(), /refused eth_getLogs/);
    t.equal((await row()).position, position);
    chain.state.maxRange = 500;
    await scan();
    t.equal(await cents(address), 50_000);
    t.equal((await row()).position, BigInt(chain.state.block) + 1n);
  },
);

t.test('a round that is ended goes on at its last range', async (t) => {
  const { context, deposits, scan, chain, row, storage } = await scanned(t);
  await scan();
  const before = (await row()).position;
  chain.mine(2_000);
  const stop = new AbortController();
  const between: typeof deposits.transfers.between = async (first, last) => {
    if (first > before) stop.abort();
    return deposits.transfers.between(first, last);
  };
  await storage.db
    .updateTable('money_scans')
    .set({ due_at: new Date(0) })
    .execute();
  await scanTransfers(context, { ...deposits, transfers: { ...deposits.transfers, between } }, stop.signal);
  t.equal((await row()).position, before + 1_000n);
  t.equal((await row()).proved_position, before);
  await scan();
  t.equal((await row()).proved_position, BigInt(chain.state.block) + 1n);
});

t.test('a node that leaves events out does not add up, and is asked again until it does', async (t) => {
  const { scan, chain, cents, unsettled, giveUp, row, log } = await scanned(t);
  await scan();
  const { address, settle } = await unsettled(500);
  const hidden = settle()!;
  await giveUp();
  chain.state.hidden.add(hidden);
  chain.mine(1_200);
  const { proved_position: proved, reached_at: reachedAt } = await row();
  await scan();
  t.equal(await cents(address), null);
  t.match(await row(), { position: proved, proved_position: proved, reached_at: reachedAt });
  t.ok(log.some((line) => line.includes('deposit.scan_incomplete') && line.includes('"missing_u":"500000000"')));
  chain.state.hidden.clear();
  await scan();
  t.equal(await cents(address), 50_000);
  t.not((await row()).proved_position, proved);
});

t.test('a node that is behind proves nothing: the age of the proof grows', async (t) => {
  const { scan, chain, row, log } = await scanned(t);
  await scan();
  const { reached_at: reachedAt, position } = await row();
  chain.state.block -= 100;
  await scan();
  t.match(await row(), { reached_at: reachedAt, position });
  t.ok(log.some((line) => line.includes('deposit.node_behind')));
  chain.state.block += 100;
  chain.state.finalAt = Math.floor(Date.now() / 1_000) + 60;
  await scan();
  t.ok((await row()).reached_at! > reachedAt!);
});

t.test('what we paid out is part of the balance', async (t) => {
  const { scan, chain, row, log } = await scanned(t);
  await scan();
  chain.transaction([chain.transferEvent({ from: FAKE_PAY_TO, to: Wallet.createRandom().address, value: 9_000_000n })]);
  await scan();
  t.equal((await row()).proved_position, BigInt(chain.state.block) + 1n);
  t.notOk(log.some((line) => line.includes('scan_incomplete')));
});

t.test('a new payee is scanned from now on, whatever other payees were paid or operators booked', async (t) => {
  const { context, deposits, scan, chain, storage, unsettled } = await scanned(t);
  await unsettled(5);
  chain.mine(9_000);
  chain.transaction([chain.transferEvent(stranger(3))]);
  await scan();
  const [misfit] = await openMisfits(storage, 1);
  await bookTransfer(storage, transferOfMisfit(misfit!), await createAccount(storage));
  const other = { ...deposits, settings: { ...deposits.settings, payTo: `0x${'cc'.repeat(20)}` as const } };
  await scanTransfers(context, other, new AbortController().signal);
  const rows = await storage.db.selectFrom('money_scans').select(['name', 'position']).execute();
  const mine = rows.find(({ name }) => name.endsWith(other.settings.payTo));
  t.equal(mine?.position, BigInt(chain.state.block) + 1n);
  t.same(await checkLedger(storage), []);
});
