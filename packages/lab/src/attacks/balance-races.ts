import { newPollId, newResultId } from '@eloquentpoll/polls';
import {
  type Acceptance,
  type Accepted,
  acceptPoll,
  balanceOf,
  checkLedger,
  createAccount,
  creditAccount,
  openStorage,
  pollAccepter,
} from '@eloquentpoll/storage';
import { fixtureSpec } from '../fixture/polls.ts';
import type { Stores } from '../fixture/stores.ts';
import type { ProgressLine } from '../terminal/progress.ts';
import type { AttackOutcome } from './attack-outcome.ts';
import type { AttackTarget } from './attack-target.ts';

// Two hundred simultaneous polls on one balance, again and again: exactly as many as the balance covers must be
// accepted. In every second pair of races they come through two gateways, which accept several polls in one call.

const AT_ONCE = 200;
const USD = 1_000_000n;
/** These polls are never run; with this deadline none is overdue when the ledger is checked. */
const DAY_MS = 86_400_000;
const CONNECTIONS = 16;
/** Each race has its own balance, so races may overlap, which gives Postgres more concurrency. */
const SIDE_BY_SIDE = 2;
const BUSY_MS = 60_000;

export interface RaceFigures {
  readonly races: number;
  /** Of these, races through gateways. */
  readonly grouped: number;
  readonly accepted: number;
  /** Wrong outcomes of races, or wrong balances. */
  readonly wrong: readonly string[];
  /** Polls that are stored but were not accepted, or the reverse. */
  readonly unlikeStored: number;
  readonly violations: number;
}

export async function raceForBalances(
  { databaseUrl, query }: Stores,
  panels: AttackTarget['panels'],
  races: number,
  progress: ProgressLine,
): Promise<RaceFigures> {
  const timeouts = { connectTimeoutMs: BUSY_MS, statementTimeoutMs: BUSY_MS, lockTimeoutMs: BUSY_MS };
  await using storage = openStorage({ databaseUrl, maxConnections: CONNECTIONS, ...timeouts });
  const spec = fixtureSpec(panels, { question: 'Which of these is it?', options: ['A', 'B'], panel: 'fast' });
  const wrong: string[] = [];
  const gateways = Array.from({ length: 2 }, () => pollAccepter(storage, (_payer, call) => call()));
  let [begun, grouped, accepted] = [0, 0, 0];

  async function race(number: number): Promise<void> {
    const isGrouped = number % 4 >= 2;
    if (isGrouped) grouped += 1;
    // A gateway accepts up to 16 polls in one call, and one after the other where the balance does not cover them all.
    const affordable = (isGrouped ? 17 : 1) + (number % 20);
    // In every second race the balance is one micro-USD short of one more poll.
    const restU = number % 2 === 0 ? USD - 1n : 0n;
    const accountId = await createAccount(storage);
    const amountU = BigInt(affordable) * USD + restU;
    await creditAccount(storage, { accountId, amountU, source: 'operator', idem: `race:${accountId}` });
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, n): Promise<Accepted> => {
        const ids = { id: newPollId(), resultId: newResultId(), accountId };
        const poll = { ...ids, spec, deadlineMs: DAY_MS, entryPoint: 'race' };
        if (!isGrouped) return acceptPoll(storage, { poll, holdU: USD });
        const acceptance: Acceptance = {
          poll: { ...poll, tenant: accountId },
          holdU: USD,
          limits: { running: AT_ONCE },
        };
        return gateways[n % gateways.length]!(acceptance);
      }),
    );
    const count = (kind: string) => answers.filter((answer) => answer.kind === kind).length;
    const balance = await balanceOf(storage, accountId);
    accepted += count('accepted');
    if (count('accepted') !== affordable || count('insufficient') !== AT_ONCE - affordable)
      wrong.push(`${count('accepted')} of ${affordable} accepted, ${count('insufficient')} refused`);
    else if (balance?.availableU !== restU || balance.heldU !== amountU - restU)
      wrong.push(`available ${balance?.availableU} of ${restU}, held ${balance?.heldU}`);
  }

  const lane = async () => {
    while (begun < races) {
      await race(begun++);
      progress.show(`races: ${begun} of ${races}, ${accepted} polls accepted`);
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  const [{ stored = 0 } = {}] = await query<{ stored: number }>(
    `select count(*)::int as stored from polls where entry_point = 'race'`,
  );
  return {
    ...{ races, grouped, accepted, wrong },
    unlikeStored: Math.abs(stored - accepted),
    violations: (await checkLedger(storage)).length,
  };
}

export async function balanceRaces(
  { stores, panels }: AttackTarget,
  { races }: { races: number },
  progress: ProgressLine,
): Promise<AttackOutcome> {
  const figures = await raceForBalances(stores, panels, races, progress);
  const { grouped, accepted, wrong, unlikeStored, violations } = figures;
  return {
    figures,
    counts: {
      ...{ races, 'races through gateways': grouped, 'races that overspent': wrong.length },
      'ledger violations': violations + unlikeStored,
    },
    holds: wrong.length + unlikeStored + violations === 0,
    lines: [
      `${races} races of ${AT_ONCE} polls for one balance: ${accepted} polls accepted, ${wrong.length} races wrong`,
      ...wrong.slice(0, 5),
    ],
  };
}
