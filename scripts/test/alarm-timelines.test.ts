import t from 'tap';
import { checkTimeline, type ExpectedAlarm, fires, over, quiet, target } from './infra/alarm-timeline.ts';

// slow: 15 s

// What alarms say while time passes, as Prometheus itself evaluates them: incidents in which they have to fire, and
// normal days on which they must not.

const gateway = target('gateway', 'gateway-1');
const worker = target('worker', 'worker-1');

t.test('what promtool expects and does not get is a failure', async (t) => {
  const series = { [`eloquentpoll_ledger_violations{${worker}}`]: '1x20' };
  const check = (...expected: ExpectedAlarm[]) => checkTimeline(series, expected);
  t.equal(await check(fires('2m', 'LedgerViolated')), null);
  t.match(await check(quiet('2m', 'LedgerViolated')), /LedgerViolated/);
});

t.test('a checkout that was mismatched before the first scrape of its gateway pages, for an hour', async (t) => {
  const seen = (outcome: string, values: string) => ({
    [`eloquentpoll_checkouts_total{${gateway},outcome="${outcome}"}`]: values,
    [`process_start_time_seconds{${gateway}}`]: '0x600',
    [`eloquentpoll_build_info{${gateway},service="gateway",version="2.0.0",commit="x"}`]: '1x600',
  });
  await over(
    t,
    'gateways compare as soon as they start',
    seen('recreated', '1x600'),
    fires('2m', 'CheckoutMismatched'),
    fires('59m', 'CheckoutMismatched'),
    quiet('61m', 'CheckoutMismatched'),
  );
  await over(
    t,
    'later',
    seen('mismatched', '0x400 1x200'),
    quiet('99m', 'CheckoutMismatched'),
    fires('102m', 'CheckoutMismatched'),
  );
  await over(t, 'what is normal', seen('credited', '7x600'), quiet('2m', 'CheckoutMismatched'));
});

t.test('processes that are ready and cannot read the figures of a store page', async (t) => {
  const figures = (store: string, money: string, queue: string) => ({
    [`eloquentpoll_ready{${worker}}`]: '1x80',
    [`eloquentpoll_ledger_violations{${worker}}`]: store,
    [`eloquentpoll_money_misfits{${worker},source="chain"}`]: money,
    [`eloquentpoll_queue_oldest_seconds{${worker},lane="standard"}`]: queue,
  });
  const [sound, lost] = ['0x80', '0x20 stale'];
  await over(t, 'all are there', figures(sound, sound, sound), quiet('20m', 'FiguresMissing'));
  for (const series of [figures(lost, sound, sound), figures(sound, lost, sound), figures(sound, sound, lost)])
    await over(t, 'one is not', series, quiet('9m', 'FiguresMissing'), fires('13m', 'FiguresMissing'));
  await over(
    t,
    'one of two processes still shows them',
    { ...figures(lost, lost, lost), ...withPod(figures(sound, sound, sound), 'worker-1', 'worker-2') },
    quiet('20m', 'FiguresMissing'),
  );
  await over(
    t,
    'nothing is ready: other alarms page',
    { ...figures(lost, lost, lost), [`eloquentpoll_ready{${worker}}`]: '1x20 0x60' },
    quiet('20m', 'FiguresMissing'),
    fires('20m', 'NoWorkerReady', { job: 'worker' }),
  );
});

const withPod = (series: Record<string, string>, from: string, to: string): Record<string, string> =>
  Object.fromEntries(Object.entries(series).map(([name, values]) => [name.replaceAll(from, to), values]));

t.test('server errors page when they are many, not when the operator chose them or one comes at night', async (t) => {
  const answers = (well: string, bad: string, code: string) => ({
    [`eloquentpoll_http_requests_total{${gateway},operation="createPoll",status="200"}`]: well,
    [`eloquentpoll_http_requests_total{${gateway},operation="createPoll",status="503"}`]: bad,
    [`eloquentpoll_http_errors_total{${gateway},code="${code}"}`]: bad,
  });
  await over(t, 'an outage', answers('0+10x80', '0+1x80', 'service_unavailable'), fires('15m', 'ServerErrors'));
  for (const code of ['not_configured', 'registry_not_configured', 'polls_stopped', 'provider_budget_reached'])
    await over(t, code, answers('0+10x80', '0+9x80', code), quiet('15m', 'ServerErrors'));
  await over(
    t,
    'one error',
    answers('0+0.25x400', '0x200 1x200', 'internal_error'),
    quiet('52m', 'ServerErrors'),
    quiet('55m', 'ServerErrors'),
  );
  await over(
    t,
    'both kinds at once',
    {
      ...answers('0+10x80', '0+9x80', 'polls_stopped'),
      [`eloquentpoll_http_requests_total{${gateway},operation="getPoll",status="500"}`]: '0+1x80',
      [`eloquentpoll_http_errors_total{${gateway},code="internal_error"}`]: '0+1x80',
    },
    fires('15m', 'ServerErrors'),
  );
});

t.test('questions that all models refuse do not page as models that fail; an outage does', async (t) => {
  const votes = (outcome: string) =>
    Object.fromEntries(
      ['a', 'b', 'c'].map((model) => [
        `eloquentpoll_votes_total{${worker},model="${model}",outcome="${outcome}"}`,
        '0+3x100',
      ]),
    );
  await over(t, 'refused', votes('refusal'), quiet('20m', 'ModelsFail'));
  await over(t, 'timeouts', votes('timeout'), fires('20m', 'ModelsFail'));
});

t.test('one poll in ten minutes in which models fail does not page; a few of them do', async (t) => {
  const polls = (models: number, failing: number, votes: string) =>
    Object.fromEntries(
      Array.from({ length: models }, (_, i) => [
        `eloquentpoll_votes_total{${worker},model="${i}",outcome="${i < failing ? 'timeout' : 'vote'}"}`,
        votes,
      ]),
    );
  const once = [quiet('16m', 'ModelsFail'), quiet('18m', 'ModelsFail')];
  await over(t, 'three of seven', polls(7, 3, '0x40 1x80'), ...once);
  await over(t, 'all of the largest panel', polls(15, 15, '0x40 1x80'), ...once);
  await over(t, 'one in two minutes', polls(7, 7, '0+0.125x200'), fires('30m', 'ModelsFail'));
});

t.test('a panel whose polls end without any vote pages, even when most models work', async (t) => {
  const ended = (failed: string, reason = 'roster_exhausted') => ({
    [`eloquentpoll_polls_ended_total{${worker},panel="free",status="success",reason="mathematical_lock"}`]: '5x200',
    [`eloquentpoll_polls_ended_total{${worker},panel="free",status="failed",reason="${reason}"}`]: failed,
    [`eloquentpoll_polls_ended_total{${worker},panel="broad",status="success",reason="confidence"}`]: '0+5x200',
  });
  await over(t, 'all fail', ended('0+1x200'), fires('30m', 'PollsFail', { panel: 'free' }));
  await over(t, 'a few', ended('0x100 1x100'), quiet('30m', 'PollsFail'));
  await over(t, 'canceled', ended('0+1x200', 'canceled'), quiet('30m', 'PollsFail'));
  await over(
    t,
    'fewer than half',
    {
      ...ended('0+1x200'),
      [`eloquentpoll_polls_ended_total{${worker},panel="free",status="success",reason="confidence"}`]: '0+2x200',
    },
    quiet('30m', 'PollsFail'),
  );
});

t.test('a refused key is a ticket while its model fails', async (t) => {
  const refused = (failing: string) => ({
    [`eloquentpoll_provider_access_refused_total{${worker},provider="openai",model="m"}`]: '1x100',
    [`eloquentpoll_breaker_open{${worker},model="m"}`]: failing,
  });
  const labels = { model: 'm', provider: 'openai' };
  await over(
    t,
    'until it answers',
    refused('1x60 0x40'),
    fires('14m', 'ProviderRefusesAccess', labels),
    quiet('20m', 'ProviderRefusesAccess'),
  );
});

t.test('a rollout that has stopped halfway, and a gateway that is left alone, are tickets', async (t) => {
  const info = (pod: string, commit: string) =>
    `eloquentpoll_build_info{${target('worker', pod)},service="worker",version="2.0.0",commit="${commit}"}`;
  await over(
    t,
    'halfway',
    { [info('a', 'x')]: '1x600', [info('b', 'y')]: '1x600' },
    quiet('110m', 'ReleasesMixed'),
    fires('125m', 'ReleasesMixed'),
  );
  await over(
    t,
    'a rollout',
    { [info('a', 'x')]: '1x40 stale', [info('b', 'y')]: '_x20 1x600' },
    quiet('140m', 'ReleasesMixed'),
  );
  const ready = (pod: string) => `eloquentpoll_ready{${target('gateway', pod)}}`;
  await over(
    t,
    'one of two',
    { [ready('a')]: '1x100', [ready('b')]: '0x100' },
    fires('20m', 'OneGatewayReady', { job: 'gateway' }),
  );
  await over(t, 'both', { [ready('a')]: '1x100', [ready('b')]: '1x100' }, quiet('20m', 'OneGatewayReady'));
});

t.test('a Redis that is full and answers pings pages; a failover does not', async (t) => {
  const queueing = (refused: string, accepted = '0+5x80') => ({
    [`eloquentpoll_ready_check{${gateway},check="redis"}`]: '1x80',
    [`eloquentpoll_redis_errors_total{${gateway}}`]: '0x80',
    [`eloquentpoll_polls_not_queued_total{${gateway}}`]: refused,
    [`eloquentpoll_polls_accepted_total{${gateway},panel="broad"}`]: accepted,
  });
  const labels = { job: 'gateway' };
  await over(t, 'full', queueing('0x20 0+5x60'), quiet('5m', 'RedisAway'), fires('11m', 'RedisAway', labels));
  await over(t, 'few polls', queueing('0x20 0 1x20 2x20', '0x20 0 1x20 2x20'), fires('8m', 'RedisAway', labels));
  await over(t, 'a failover', queueing('0x20 5x60'), quiet('7m', 'RedisAway'), quiet('9m', 'RedisAway'));
  await over(t, 'no polls', queueing('0x80', '0x80'), quiet('10m', 'RedisAway'));
});

t.test('a part whose settings a deploy has lost pages; one that never had them does not', async (t) => {
  const part = (pod: string, values: string) => ({
    [`eloquentpoll_part_configured{${target('gateway', pod)},part="cards"}`]: values,
  });
  const lost = { ...part('old', '1x40 stale'), ...part('new', '_x40 0x200') };
  await over(t, 'lost', lost, quiet('20m', 'PartLost'), fires('30m', 'PartLost', { part: 'cards' }));
  const half = { ...part('old', '1x240'), ...part('new', '_x40 0x200') };
  await over(t, 'in one of two', half, fires('30m', 'PartLost', { part: 'cards' }));
  await over(t, 'never', part('new', '0x240'), quiet('30m', 'PartLost'));
  await over(t, 'newly', { ...part('old', '0x40 stale'), ...part('new', '_x20 1x200') }, quiet('40m', 'PartLost'));
});

t.test('a flex lane that stands is a ticket within the hour, unless it waits as it should', async (t) => {
  const lane = ({ allowed = '5x400', running = '0x400', spend = '1x400', free = '8x400' } = {}) => ({
    [`eloquentpoll_queue_oldest_seconds{${worker},lane="flex"}`]: '0+15x400',
    [`eloquentpoll_flex_allowed{${worker}}`]: allowed,
    [`eloquentpoll_polls_running{${worker},lane="flex"}`]: running,
    [`eloquentpoll_provider_spend_usd{${worker},window="hour"}`]: spend,
    [`eloquentpoll_provider_spend_ceiling_usd{${gateway},window="hour",polls="all"}`]: '10x400',
    [`eloquentpoll_provider_spend_ceiling_usd{${gateway},window="hour",polls="free"}`]: free,
  });
  await over(t, 'stands', lane(), quiet('35m', 'FlexQueueStands'), fires('45m', 'FlexQueueStands'));
  await over(t, 'standard polls come first', lane({ allowed: '0x400' }), quiet('90m', 'FlexQueueStands'));
  await over(t, 'busy', lane({ running: '5x400' }), quiet('90m', 'FlexQueueStands'));
  await over(t, 'the ceiling', lane({ spend: '8x400' }), quiet('90m', 'FlexQueueStands'));
  const stands = fires('45m', 'FlexQueueStands');
  await over(t, 'only free polls are near their ceiling', lane({ spend: '6.5x400' }), stands);
  await over(t, 'free polls are off', lane({ free: '0x400' }), stands);
});

t.test('a clock that is wrong in either direction is a ticket; a hiccup is none', async (t) => {
  const clock = (values: string) => ({ [`eloquentpoll_clock_ahead_seconds{${worker}}`]: values });
  const labels = { job: 'worker', pod: 'worker-1' };
  for (const seconds of [20, -20]) await over(t, 'wrong', clock(`${seconds}x80`), fires('15m', 'ClockWrong', labels));
  await over(t, 'a hiccup', clock('20x8 0x80'), quiet('15m', 'ClockWrong'));
});

t.test('what is old only until the first worker has started again does not page', async (t) => {
  // A scrape at 10:00, of a service that stood still for hours or was restored.
  const since = (name: string, values: string) => ({ [`${name}{${worker}}`]: values });
  const before = since('eloquentpoll_ledger_checked_timestamp_seconds', '-9000x8 120x80');
  await over(t, 'a restore', before, quiet('1m', 'LedgerUnchecked'), quiet('15m', 'LedgerUnchecked'));
  const never = since('eloquentpoll_ledger_checked_timestamp_seconds', '-9000x80');
  await over(t, 'no check', never, fires('10m', 'LedgerUnchecked'));
  const months = since('eloquentpoll_months_end_timestamp_seconds', '3600x8 9000000x80');
  await over(t, 'months', months, quiet('1m', 'MonthMissingSoon'), quiet('15m', 'MonthMissingSoon'));
  await over(
    t,
    'no month',
    since('eloquentpoll_months_end_timestamp_seconds', '3600x80'),
    fires('10m', 'MonthMissingSoon'),
  );
});

t.test('an archive that fails for an hour pages', async (t) => {
  const archive = { [`eloquentpoll_wal_archive_failing{${worker}}`]: '0x20 1x400' };
  await over(t, 'fails', archive, quiet('60m', 'WalNotArchived'), fires('67m', 'WalNotArchived'));
});

t.test('logins or card events that all fail are a ticket; noise on an installation without them is none', async (t) => {
  const answers = (operation: string, status: string, values: string) => ({
    [`eloquentpoll_http_requests_total{${gateway},operation="${operation}",status="${status}"}`]: values,
  });
  const started = answers('login', '302', '0+1x400');
  const refused = answers('loginCallback', '401', '0+1x400');
  await over(t, 'all fail', { ...started, ...refused }, fires('60m', 'LoginFails'));
  await over(
    t,
    'some succeed',
    { ...started, ...refused, ...answers('loginCallback', '302', '0+1x400') },
    quiet('60m', 'LoginFails'),
  );
  await over(t, 'no logins here', answers('login', '503', '0+1x400'), quiet('60m', 'LoginFails'));

  const bought = { [`eloquentpoll_checkouts_total{${gateway},outcome="opened"}`]: '0+1x400' };
  const unsigned = answers('receiveStripeEvent', '400', '0+1x400');
  await over(t, 'the secret is wrong', { ...bought, ...unsigned }, fires('60m', 'CardEventsRefused'));
  await over(
    t,
    'strangers',
    { ...bought, ...unsigned, ...answers('receiveStripeEvent', '200', '0+1x400') },
    quiet('60m', 'CardEventsRefused'),
  );
  await over(t, 'no customer buys', unsigned, quiet('60m', 'CardEventsRefused'));
});
