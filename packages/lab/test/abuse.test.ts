import { withinOne } from '@eloquentpoll/testkit/calendar';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { ABUSE_SETTINGS, abuseModels } from '../src/attacks/abuse.ts';
import { firing, type SampleSeries } from '../src/attacks/alarm-expression.ts';
import { openAttackTarget } from '../src/attacks/attack-target.ts';
import { progressOn } from '../src/terminal/progress.ts';

// slow: 15 s

// A short night of abuse; `npm run attack -- --only abuse` has the long one.

const SIZES = { polls: 240, accounts: 2, addresses: 40 };

t.test('questions that make models fail cost no more than the settings allow, and harm no other poll', async (t) => {
  // At the ceiling of an hour polls are refused until the next one begins.
  await withinOne('hour');
  const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
  await using target = await openAttackTarget(servers, { ...ABUSE_SETTINGS, FREE_DAILY_CAP_USD: '0.02' });
  const { figures, lines } = await abuseModels(target, SIZES, progressOn(process.stderr));
  for (const line of lines) t.comment(line);
  const { checks, statuses } = figures as { checks: Record<string, boolean>; statuses: Record<string, number> };
  for (const [name, isSo] of Object.entries(checks)) t.ok(isSo, name);
  t.ok((statuses['free 429'] ?? 0) > 0, 'the free pool is spent');
});

const series = (payer: string, costUsd: number, billedUsd: number | null): SampleSeries[] => [
  { name: 'eloquentpoll_provider_cost_usd_total', labels: { model: 'm', payer }, before: 10, after: 10 + costUsd },
  ...(billedUsd === null
    ? []
    : [{ name: 'eloquentpoll_billed_usd_total', labels: { model: 'm', payer }, before: 5, after: 5 + billedUsd }]),
];

t.test('the alarm fires for each payer who is billed less than its polls cost, from the first micro-USD', async (t) => {
  const payers = (all: SampleSeries[]) => firing('SellingBelowCost', all).map(({ labels }) => labels.payer);
  t.same(payers([...series('account', 1, 1.2), ...series('free_pool', 1, 1)]), []);
  t.same(payers([...series('account', 0.02, 0.01), ...series('free_pool', 1, 1)]), ['account']);
  t.same(payers([...series('account', 1, 2), ...series('free_pool', 0.001, 0)]), ['free_pool']);
  t.same(payers(series('account', 0.001, null)), ['account'], 'billed nothing at all');
});
