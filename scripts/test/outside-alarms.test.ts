import t from 'tap';
import { fires, over, quiet, target } from './infra/alarm-timeline.ts';

// slow: 8 s

// Alarms about what leaves or enters the service (webhooks, deposits, money to reconcile, provider spend, callers who are
// refused), as Prometheus evaluates them while time passes.

const gateway = target('gateway', 'gateway-1');
const worker = target('worker', 'worker-1');

t.test('webhooks of which none gets a response are a ticket; dead receivers beside others are none', async (t) => {
  const attempts = (outcome: string, values: string) => ({
    [`eloquentpoll_webhook_attempts_total{${worker},outcome="${outcome}"}`]: values,
  });
  for (const outcome of ['name_not_resolved', 'connection_failed', 'tls_failed', 'timed_out'])
    await over(
      t,
      outcome,
      { ...attempts(outcome, '0+1x400'), ...attempts('delivered', '5x400') },
      fires('20m', 'WebhooksFail'),
    );
  for (const outcome of ['delivered', 'gone', 'status', 'bad_answer'])
    await over(
      t,
      `some ${outcome}`,
      { ...attempts('connection_failed', '0+1x400'), ...attempts(outcome, '0x20 1x380') },
      quiet('20m', 'WebhooksFail'),
    );
  await over(t, 'a few of a quiet night', attempts('timed_out', '0x20 15x380'), quiet('20m', 'WebhooksFail'));
  await over(t, 'addresses that we refuse', attempts('address_refused', '0+1x400'), quiet('20m', 'WebhooksFail'));
});

t.test('deposits of which none succeeds are a ticket; single payers that fail are none', async (t) => {
  const deposits = (outcome: string, values: string) => ({
    [`eloquentpoll_deposits_total{${gateway},outcome="${outcome}"}`]: values,
  });
  const answers = (status: string, values: string) => ({
    [`eloquentpoll_http_requests_total{${gateway},operation="deposit",status="${status}"}`]: values,
  });
  const part = (values: string) => ({ [`eloquentpoll_part_configured{${gateway},part="usdc"}`]: values });
  const some = '0x40 1x20 2x20 3x20 4x20 5x480';
  const configured = { ...part('1x600'), ...deposits('credited', '7x600') };
  for (const outcome of ['failed', 'pending'])
    await over(t, outcome, { ...configured, ...deposits(outcome, some) }, fires('65m', 'DepositsFail'));
  await over(t, 'no answer', { ...configured, ...answers('502', some) }, fires('65m', 'DepositsFail'));
  await over(
    t,
    'one is credited later',
    { ...configured, ...deposits('pending', some), ...deposits('credited_later', '0x100 1x500') },
    quiet('65m', 'DepositsFail'),
  );
  await over(t, 'two fail', { ...configured, ...deposits('failed', '0x40 2x560') }, quiet('65m', 'DepositsFail'));
  await over(t, 'refused payments', { ...configured, ...answers('402', '0+1x600') }, quiet('65m', 'DepositsFail'));
  await over(t, 'no deposits here', { ...part('0x600'), ...answers('503', '0+1x600') }, quiet('65m', 'DepositsFail'));
});

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

t.test('polls that are refused because they would start too late are a ticket when they are many', async (t) => {
  const polls = (refused: string, started: string) => ({
    [`eloquentpoll_polls_refused_total{${gateway},reason="too_late"}`]: refused,
    [`eloquentpoll_poll_queue_wait_seconds_count{${worker},class="account",awaited="yes"}`]: started,
    [`eloquentpoll_poll_queue_wait_seconds_count{${worker},class="flex",awaited="no"}`]: '0+1000x120',
  });
  const many = fires('25m', 'PollsRefusedLate');
  const few = [quiet('15m', 'PollsRefusedLate'), quiet('25m', 'PollsRefusedLate')];
  await over(t, 'one in six, beside a batch', polls('0x40 0+2x80', '0+10x120'), many);
  await over(t, 'no worker takes any', polls('0x40 0+2x80', '5x120'), many);
  await over(t, 'one in fifty', polls('0+0.2x120', '0+10x120'), ...few);
  await over(t, 'eight', polls('0x40 8x80', '0x120'), ...few);
});
