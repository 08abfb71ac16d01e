import t from 'tap';
import { acceptPoll, balanceOf, checkLedger } from '../src/index.ts';
import { acceptance, funded, newPoll, open, together, USD } from './fixtures.ts';

// Two hundred polls at once on one balance, over and over: as many are accepted as the balance holds, in any order.
// A few races in every run of the tests, ten thousand with ATTACKS=full, or as many as RACES says.

const RACES = Number(process.env.RACES ?? (process.env.ATTACKS === 'full' ? 10_000 : 10));
const AT_ONCE = 200;
/** These polls are not run, and none is overdue when the ledger is checked. */
const DAY_MS = 86_400_000;
const CONNECTIONS = 16;
/** Every race has a balance of its own, so races may overlap: Postgres has more to mix up then. */
const SIDE_BY_SIDE = 2;

t.test(`${RACES} races of ${AT_ONCE} polls for one balance overspend nothing`, async (t) => {
  const { storage, query } = await open(t, { maxConnections: CONNECTIONS });
  const wrong: string[] = [];
  let acceptedInAll = 0;
  await together(RACES, SIDE_BY_SIDE, async (race) => {
    const affordable = 1 + (race % 20);
    // The rest is not enough for one more, by one micro-USD in every second race.
    const restU = race % 2 === 0 ? USD - 1n : 0n;
    const accountId = await funded(storage, BigInt(affordable) * USD + restU);
    const answers = await together(AT_ONCE, AT_ONCE, () =>
      acceptPoll(storage, acceptance(accountId, { poll: newPoll(accountId, { deadlineMs: DAY_MS }) })),
    );
    const accepted = answers.filter(({ kind }) => kind === 'accepted').length;
    const refused = answers.filter(({ kind }) => kind === 'insufficient').length;
    const balance = await balanceOf(storage, accountId);
    acceptedInAll += accepted;
    if (accepted !== affordable || refused !== AT_ONCE - affordable)
      wrong.push(`race ${race}: ${accepted} of ${affordable} accepted, ${refused} refused`);
    if (balance?.availableU !== restU || balance.heldU !== BigInt(affordable) * USD)
      wrong.push(`race ${race}: available ${balance?.availableU}, held ${balance?.heldU}`);
  });
  t.same(wrong, []);
  t.same(await query('select count(*)::int as n from polls'), [{ n: acceptedInAll }], 'what was refused is not stored');
  t.same(await checkLedger(storage), []);
});
