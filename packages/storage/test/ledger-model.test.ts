import fc from '@eloquentpoll/testkit/fast-check';
import { seed } from '@eloquentpoll/testkit/seed';
import t from 'tap';
import {
  balanceOf,
  capture,
  checkLedger,
  createAccount,
  creditAccount,
  hold,
  reverseCredit,
  type Storage,
  voidHold,
} from '../src/index.ts';
import { open, unique } from './fixtures.ts';

// slow: 5 s

// The ledger against a model that fits on one screen: first command by command, where every answer is predicted; then
// many hands at once on few accounts, where the books must equal the sum of the answers that the hands got. Twenty
// thousand operations in every run of the tests, a million with ATTACKS=full; TEST_SEED repeats them.

const full = process.env.ATTACKS === 'full';

type Command =
  | { do: 'credit' | 'hold' | 'reversal'; account: number; amountU: bigint }
  | { do: 'capture'; pick: number; share: number }
  | { do: 'void'; pick: number }
  | { do: 'repeat'; pick: number };

const amountU = fc.bigInt({ min: 1n, max: 5_000_000n });
const littleU = fc.bigInt({ min: 1n, max: 500_000n });
/** Counts back from the newest, so that hands meet at the same few. */
const pick = fc.nat(30);
const chosen = <T>(list: readonly T[], back: number): T | undefined => list[Math.max(0, list.length - 1 - back)];
const command = (accounts: number): fc.Arbitrary<Command> => {
  const account = fc.nat(accounts - 1);
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant('credit' as const), account, amountU }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('hold' as const), account, amountU }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reversal' as const), account, amountU: littleU }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('capture' as const), pick, share: fc.nat(100) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('void' as const), pick }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('repeat' as const), pick }) },
  );
};

interface Held {
  idem: string;
  account: number;
  amountU: bigint;
}

interface Books {
  creditedU: bigint;
  reversedU: bigint;
  capturedU: bigint;
  heldU: bigint;
}

const availableU = (books: Books) => books.creditedU - books.reversedU - books.capturedU - books.heldU;

/** What happened so far, by the answers that were given. */
class Model {
  readonly accounts: { id: string; books: Books }[];
  readonly holds: Held[] = [];
  readonly resolved = new Map<string, number>();
  readonly credits: { account: number; amountU: bigint; idem: string }[] = [];

  constructor(ids: string[]) {
    this.accounts = ids.map((id) => ({ id, books: { creditedU: 0n, reversedU: 0n, capturedU: 0n, heldU: 0n } }));
  }

  noteCredit(account: number, amountU: bigint, idem: string) {
    this.accounts[account]!.books.creditedU += amountU;
    this.credits.push({ account, amountU, idem });
  }

  noteHold(held: Held) {
    this.accounts[held.account]!.books.heldU += held.amountU;
    this.holds.push(held);
  }

  noteResolved(held: Held, capturedU: bigint) {
    const { books } = this.accounts[held.account]!;
    books.heldU -= held.amountU;
    books.capturedU += capturedU;
    this.resolved.set(held.idem, (this.resolved.get(held.idem) ?? 0) + 1);
  }
}

/** Performs one command and notes what was answered. `expected` is null where other hands decide the answer. */
async function perform(storage: Storage, model: Model, command: Command, exact: boolean): Promise<string | null> {
  const differs = (what: string, answered: boolean, expected: boolean) =>
    exact && answered !== expected ? `${what} answered ${answered}` : null;
  switch (command.do) {
    case 'credit': {
      const idem = unique('credit:');
      const { id } = model.accounts[command.account]!;
      const done = await creditAccount(storage, {
        accountId: id,
        amountU: command.amountU,
        source: 'operator',
        idem,
      });
      if (done) model.noteCredit(command.account, command.amountU, idem);
      return done ? null : 'a new credit was taken for a repeated one';
    }
    case 'repeat': {
      const credit = chosen(model.credits, command.pick);
      if (!credit) return null;
      const { id } = model.accounts[credit.account]!;
      const done = await creditAccount(storage, {
        accountId: id,
        amountU: credit.amountU,
        source: 'operator',
        idem: credit.idem,
      });
      return done ? 'a repeated credit moved money again' : null;
    }
    case 'reversal': {
      const { id, books } = model.accounts[command.account]!;
      const done = await reverseCredit(storage, {
        accountId: id,
        amountU: command.amountU,
        source: 'operator',
        idem: unique('reversal:'),
      });
      books.reversedU += command.amountU;
      return done ? null : 'a new reversal was taken for a repeated one';
    }
    case 'hold': {
      const held = { idem: unique('hold:'), account: command.account, amountU: command.amountU };
      const { id, books } = model.accounts[command.account]!;
      const enough = availableU(books) >= command.amountU;
      const done = await hold(storage, { accountId: id, amountU: command.amountU, idem: held.idem });
      if (done) model.noteHold(held);
      return differs('hold', done, enough);
    }
    case 'capture':
    case 'void': {
      const held = chosen(model.holds, command.pick);
      if (!held) return null;
      const share = command.do === 'void' ? 0n : (held.amountU * BigInt(command.share)) / 100n;
      const open = !model.resolved.has(held.idem);
      const done = await (command.do === 'void' ? voidHold(storage, held.idem) : capture(storage, held.idem, share));
      if (done) model.noteResolved(held, share);
      return differs(command.do, done, open);
    }
  }
}

async function audit(storage: Storage, model: Model): Promise<string[]> {
  const wrong: string[] = [];
  for (const { id, books } of model.accounts) {
    const balance = await balanceOf(storage, id);
    if (balance?.heldU !== books.heldU) wrong.push(`held ${balance?.heldU}, answers say ${books.heldU}`);
    if (balance?.usageU !== books.capturedU) wrong.push(`used ${balance?.usageU}, answers say ${books.capturedU}`);
    if (balance?.availableU !== availableU(books))
      wrong.push(`available ${balance?.availableU}, answers say ${availableU(books)}`);
    if (books.reversedU === 0n && (balance?.availableU ?? -1n) < 0n) wrong.push('available is negative');
  }
  for (const [idem, times] of model.resolved) if (times > 1) wrong.push(`${idem} was resolved ${times} times`);
  for (const violation of await checkLedger(storage)) wrong.push(JSON.stringify(violation));
  return wrong;
}

const fresh = async (storage: Storage, count: number) =>
  new Model(await Promise.all(Array.from({ length: count }, () => createAccount(storage))));

t.test('each command answers what the model says', async (t) => {
  const { storage } = await open(t);
  t.comment(`seed ${seed}`);
  await fc.assert(
    fc.asyncProperty(fc.array(command(2), { maxLength: 120, size: 'max' }), async (commands) => {
      const model = await fresh(storage, 2);
      const wrong: string[] = [];
      for (const each of commands) {
        const difference = await perform(storage, model, each, true);
        if (difference) wrong.push(`${each.do}: ${difference}`);
      }
      wrong.push(...(await audit(storage, model)));
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    }),
    { seed, numRuns: 40 },
  );
  t.pass('in every run');
});

t.test('many hands on few accounts leave no drift and no negative balance', async (t) => {
  const HANDS = 8;
  const RUNS = full ? 20 : 4;
  const EACH = full ? 6_250 : 640;
  const { storage } = await open(t, { maxConnections: HANDS });
  t.comment(`seed ${seed}`);
  let performed = 0;
  const hand = fc.array(command(3), { minLength: EACH, maxLength: EACH });
  for (let run = 0; run < RUNS; run++) {
    const hands = fc.sample(hand, { seed: seed + run, numRuns: HANDS });
    const model = await fresh(storage, 3);
    const wrong: string[] = [];
    await Promise.all(
      hands.map(async (commands) => {
        for (const each of commands) {
          // Account 0 never has a reversal: it must never be seen below zero, by anybody at any time.
          if (each.do === 'reversal' && each.account === 0) each.account = 1;
          const difference = await perform(storage, model, each, false);
          if (difference) wrong.push(difference);
          performed++;
          if (performed % 16 === 0) {
            const balance = await balanceOf(storage, model.accounts[0]!.id);
            if (balance === null || balance.availableU < 0n) wrong.push(`available ${balance?.availableU}`);
          }
        }
      }),
    );
    t.same([...wrong, ...(await audit(storage, model))], []);
    t.ok(model.resolved.size > 500, 'holds were resolved');
  }
  t.equal(performed, RUNS * HANDS * EACH, 'operations');
  t.comment(`${performed} operations`);
});
