import { createHash } from 'node:crypto';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { COLOURS, type Printed, start, vote } from './start.ts';

// The log says who asked whom and how it ended, and never what was asked.

t.test('a call is logged with poll, seat, model, attempt, time and outcome', async (t) => {
  const running = await start(t);
  const headers = { 'x-poll-id': 'ps_one', 'x-seat': '3', 'x-attempt': '2', 'x-asked-at': '1700000000000' };
  await running.client.chat.completions.create(vote('sim/oak-1'), { headers });
  const [call] = await running.calls();
  t.match(call, {
    n: 0,
    poll: 'ps_one',
    seat: 3,
    model: 'sim/oak-1',
    attempt: 2,
    asked_at: 1_700_000_000_000,
    scripted: null,
    outcome: 'vote',
    label: /^(QJ|ZR|HN)$/,
    duration_ms: Number,
  });
  t.ok(Math.abs(Date.parse(call!.at) - Date.now()) < 60_000);
  const text = JSON.stringify((await running.control('GET', 'calls')).body);
  t.notMatch(text, /calmest|Red|Blue/, 'no question and no option');
});

t.test('an answer is logged with the digest of its option, however the paper was printed', async (t) => {
  const running = await start(t);
  const digests = new Map(
    COLOURS.map(([, text]) => [createHash('sha256').update(text).digest('base64url').slice(0, 16), text]),
  );
  const turned: Printed = COLOURS.map(([label], i) => [label, COLOURS.at(i - 1)![1]]);
  for (const options of [COLOURS, turned])
    await running.client.chat.completions.create(vote('sim/oak-1', 'Which colour is the calmest?', options));
  const [first, second] = await running.calls();
  const chosen = digests.get(first!.option_digest ?? '');
  t.equal(chosen, COLOURS.find(([label]) => label === first!.label)?.[1]);
  t.equal(chosen, turned.find(([label]) => label === second!.label)?.[1]);
  t.not(first!.label, second!.label);
  t.equal(first!.option_digest, second!.option_digest);
});

t.test('of an answer that is no vote there is no option', async (t) => {
  const running = await start(t);
  for (const kind of ['refusal', 'two_tool_calls', 'length', 'missing_usage'] as const) {
    await running.behave('sim/elm-1', { failures: [{ kind, rate: 1 }] });
    await running.client.chat.completions.create(vote('sim/elm-1'));
  }
  t.same(
    (await running.calls()).map((call) => call.option_digest !== null),
    [false, false, false, true],
  );
});

t.test('calls can be filtered, counted and cleared', async (t) => {
  const running = await start(t);
  await running.behave('sim/elm-1', { failures: [{ kind: 'refusal', rate: 1 }] });
  for (const poll of ['ps_one', 'ps_two'])
    for (const [seat, model] of ['sim/oak-1', 'sim/elm-1'].entries())
      await running.client.chat.completions.create(vote(model), {
        headers: { 'x-poll-id': poll, 'x-seat': String(seat) },
      });
  await running.client.chat.completions.create(vote('gpt-x')).catch(() => null);
  t.match((await running.control('GET', 'calls?limit=1')).body, {
    total: 5,
    matched: 5,
    in_flight: 0,
    by_outcome: { vote: 2, refusal: 2, rejected: 1 },
    by_model: { 'sim/oak-1': 2, 'sim/elm-1': 2, 'gpt-x': 1 },
    calls: [{ n: 0 }],
  });
  t.equal((await running.calls('?poll=ps_one')).length, 2);
  t.equal((await running.calls('?poll=ps_one&model=sim/elm-1')).length, 1);
  t.equal((await running.calls('?seat=1')).length, 2);
  t.equal((await running.calls('?outcome=vote')).length, 2);
  t.same(
    (await running.calls('?after=2')).map((call) => call.n),
    [3, 4],
  );
  await running.control('DELETE', 'calls');
  t.match((await running.control('GET', 'calls')).body, { total: 0, calls: { length: 0 }, in_flight: 0 });
});

t.test('the log keeps the last calls only', async (t) => {
  const running = await start(t, { callLogSize: 3 });
  for (let n = 0; n < 5; n += 1) await running.client.chat.completions.create(vote('sim/oak-1'));
  t.same(
    (await running.calls()).map((call) => call.n),
    [2, 3, 4],
  );
  t.match((await running.control('GET', 'calls')).body, { total: 5, kept: 3 });
});

t.test('calls beyond what the simulator can hold are turned away', async (t) => {
  const running = await start(t, { maxInFlight: 1 });
  await running.behave('sim/oak-1', { failures: [{ kind: 'hang_before_first_byte', rate: 1 }] });
  const leave = new AbortController();
  const hanging = running.client.chat.completions
    .create(vote('sim/oak-1'), { signal: leave.signal })
    .catch((error: Error) => error.name);
  await eventually('a call is in flight', async () => (await running.calls('?outcome=pending')).length === 1);
  await t.rejects(running.client.chat.completions.create(vote('sim/oak-2')), { status: 503, code: 'overloaded' });
  leave.abort();
  t.ok(await hanging);
  await eventually('the call is over', async () => (await running.calls('?outcome=gone')).length === 1);
  t.ok(await running.client.chat.completions.create(vote('sim/oak-2')), 'and there is capacity again');
});
