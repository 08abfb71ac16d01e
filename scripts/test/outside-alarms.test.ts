import t from 'tap';
import { fires, over, quiet, target } from './infra/alarm-timeline.ts';

// slow: 6 s

// Alarms about what leaves or enters the service (webhooks, deposits, money to reconcile, provider spend, callers who are
// refused), as Prometheus evaluates them while time passes.

const gateway = target('gateway', 'gateway-1');
const worker = target('worker', 'worker-1');

t.test('reconciliation that fails is a ticket, however rare a setting makes its rounds', async (t) => {
  const rounds = (round: string, everyS: number, values: string) => ({
    [`eloquentpoll_reconciliation_failures_total{${gateway},round="${round}"}`]: values,
    [`eloquentpoll_reconciliation_interval_seconds{${gateway},round="${round}"}`]: `${everyS}x1600`,
  });
  const hourly = '0x239 1x239 2x239 3x239 4x239 5x239';
  const labels = { round: 'deposits' };
  await over(
    t,
    'every hour, always',
    rounds('deposits', 3_600, hourly),
    quiet('130m', 'ReconciliationFails'),
    fires('200m', 'ReconciliationFails', labels),
  );
  await over(t, 'every hour, once', rounds('deposits', 3_600, '0x239 1x1200'), quiet('200m', 'ReconciliationFails'));
  const always = fires('40m', 'ReconciliationFails', labels);
  await over(t, 'every minute, always', rounds('deposits', 60, '0+0.25x400'), always);
  await over(t, 'every minute, at times', rounds('deposits', 60, '0+0.02x1600'), quiet('390m', 'ReconciliationFails'));
  await over(
    t,
    'once a day',
    rounds('checkouts', 86_400, '0x40 1x600'),
    fires('30m', 'ReconciliationFails', { round: 'checkouts' }),
  );
});

t.test('free polls that are off on purpose are no ticket; those that a ceiling stops are', async (t) => {
  const spend = (spent: string, free: string) => ({
    [`eloquentpoll_provider_spend_usd{${worker},window="hour"}`]: spent,
    [`eloquentpoll_provider_spend_ceiling_usd{${gateway},window="hour",polls="free"}`]: free,
  });
  const labels = { window: 'hour' };
  await over(t, 'a share of 0', spend('1x40', '0x40'), quiet('5m', 'ProviderSpendStopsFreePolls'));
  await over(t, 'below', spend('7x40', '8x40'), quiet('5m', 'ProviderSpendStopsFreePolls'));
  await over(t, 'reached', spend('8x40', '8x40'), fires('5m', 'ProviderSpendStopsFreePolls', labels));
});
