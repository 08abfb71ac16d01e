import t from 'tap';
import { openAsker, type Spent } from '../src/ask.ts';
import { providerMaxU, voteMaxU } from '../src/call-costs.ts';
import { seatsFor } from '../src/seats.ts';
import { type Behaviour, json, misbehavingServer, says, silence, votes } from './misbehaving-server.ts';
import { modelEntry, testPanels } from './test-panels.ts';
import { MODEL, voteRequest } from './vote-request.ts';

// What the calls of a vote are counted with, however they end. A call of these tests costs at most 1,000 and usually 100.

const CALL = { maxU: 1_000, typicalU: 100 };
const request = (more = {}) => voteRequest({ call: CALL, reserveU: 2_500, ...more });
const said = (cost: number) => ({ usage: { prompt_tokens: 400, completion_tokens: 20, cost: cost / 1_000_000 } });
/** Of OpenRouter, with a key of ours at the vendor. */
const ownKey = (cost: number, upstream: number | null | undefined) => ({
  usage: {
    prompt_tokens: 400,
    completion_tokens: 20,
    cost: cost / 1_000_000,
    is_byok: true,
    ...(upstream !== undefined && {
      cost_details: { upstream_inference_cost: upstream === null ? null : upstream / 1_000_000 },
    }),
  },
});
const UNCOUNTED = { usage: undefined };
/** 400 and 20 tokens at 1 and 2 USD a million. */
const COUNTED = 440;

const cost = (estimated_u: number, max_u: number, fault_u: number) => ({ estimated_u, max_u, fault_u });

const CASES: [string, Parameters<Awaited<ReturnType<typeof misbehavingServer>>['behave']>[1][], object][] = [
  [
    'a vote, with the cost that its provider says',
    [votes(0, said(300))],
    { provider_cost_u: 300, cost: cost(300, 300, 0) },
  ],
  [
    'a vote, by its tokens',
    [votes()],
    { provider_cost_u: null, cost: cost(COUNTED, COUNTED, 0), tokens: { prompt: 400, completion: 20 } },
  ],
  [
    'a vote whose provider counts what no call can come to',
    [votes(0, { usage: { prompt_tokens: 400, completion_tokens: 20, total_tokens: 100_000_000 } })],
    { error: null, cost: cost(100, 1_000, 0), tokens: undefined },
  ],
  [
    'a vote on a prompt that had no tokens, says its provider',
    [votes(0, { usage: { prompt_tokens: 0, completion_tokens: 0, cost: 0 } })],
    { error: null, billed_u: /^[1-9]/, provider_cost_u: null, cost: cost(100, 1_000, 0), tokens: undefined },
  ],
  [
    'a vote by our own key behind OpenRouter: its fee and the bill of the vendor',
    [votes(0, ownKey(0, 700))],
    { provider_cost_u: 700, cost: cost(700, 700, 0) },
  ],
  ['with a fee', [votes(0, ownKey(35, 700))], { provider_cost_u: 735, cost: cost(735, 735, 0) }],
  [
    'where it leaves out the bill, by the tokens',
    [votes(0, ownKey(35, undefined))],
    { provider_cost_u: null, cost: cost(COUNTED, COUNTED, 0) },
  ],
  ['or has none', [votes(0, ownKey(0, null))], { provider_cost_u: null, cost: cost(COUNTED, COUNTED, 0) }],
  [
    'a cost of 0 for tokens that are paid for',
    [votes(0, said(0))],
    { provider_cost_u: null, cost: cost(COUNTED, COUNTED, 0) },
  ],
  [
    'a cost of 0 for tokens that were not counted',
    [votes(0, { usage: { cost: 0 } })],
    { provider_cost_u: null, cost: cost(100, 1_000, 0) },
  ],
  [
    'a cost that no call can have: its tokens count',
    [votes(0, said(36_000_000))],
    { error: null, provider_cost_u: null, cost: cost(COUNTED, COUNTED, 0) },
  ],
  ['a vote of which nothing is known', [votes(0, UNCOUNTED)], { cost: cost(100, 1_000, 0), tokens: undefined }],
  [
    'a repaired vote: its first call is the doing of the question',
    [says({ content: 'x' }, said(200)), votes(0, said(300))],
    { error: null, calls: 2, cost: cost(500, 500, 200), provider_cost_u: 500, tokens: { prompt: 800, completion: 40 } },
  ],
  [
    'a malformed answer that cost more than half of what a call can is not repaired',
    [says({ content: 'x' }, said(501)), votes()],
    { error: 'malformed', calls: 1, cost: cost(501, 501, 501) },
  ],
  [
    'nor one of unknown cost',
    [says({ content: 'x' }, UNCOUNTED), votes()],
    { error: 'malformed', calls: 1, cost: cost(100, 1_000, 1_000) },
  ],
  ['a refusal', [says({ refusal: 'no' }, said(70))], { error: 'refusal', cost: cost(70, 70, 70) }],
  [
    'a filter that turns away what the model wrote, which says nothing of its cost',
    [json({ error: { message: 'Output blocked by content filtering policy' } }, 400)],
    { error: 'refusal', cost: cost(100, 1_000, 1_000), tokens: undefined },
  ],
  [
    '429, 500 and no connection cost nothing',
    [json({}, 429), json({}, 500)],
    { error: 'provider_error', cost: cost(0, 0, 0) },
  ],
  [
    'a retry after one of them',
    [json({}, 503), votes(0, said(300))],
    { calls: 2, cost: cost(300, 300, 0), tokens: { prompt: 400 } },
  ],
  [
    'a provider dearer than its price list is charged to no account beyond the reserve',
    [says({ refusal: 'no' }, said(3_900))],
    { cost: cost(3_900, 3_900, 2_500) },
  ],
];

for (const [name, behaviours, expected] of CASES)
  t.test(name, async (t) => {
    const server = await misbehavingServer(t);
    await using asker = openAsker({ panels: testPanels(t, { one: server.url }), random: () => 0 });
    server.behave(MODEL, ...behaviours);
    const vote = await asker.ask(request());
    t.match(vote, expected);
    t.ok(vote.billed_u + vote.cost!.fault_u <= 2_500, 'at most the reserve');
  });

t.test('the fee of paying a provider is in what its calls cost, whether it says so or its tokens do', async (t) => {
  const server = await misbehavingServer(t);
  const panels = testPanels(t, { one: server.url }, [], { fee_share: '0.05' });
  await using asker = openAsker({ panels });
  server.behave(MODEL, votes(0, said(300)), votes());
  t.match(await asker.ask(request()), { provider_cost_u: 315, cost: cost(315, 315, 0), billed_u: 462 });
  t.match(await asker.ask(request()), { provider_cost_u: null, cost: cost(462, 462, 0), billed_u: 462 });
});

const FILTERED = json({ error: { code: 'content_filter' } }, 400);

t.test('a question that a filter turns away by a status costs at most its prompt', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  server.behave(MODEL, FILTERED);
  const vote = await asker.ask(voteRequest());
  // At one dollar a million prompt tokens.
  const bytes = Buffer.byteLength(JSON.stringify(server.calls[0]!.body));
  t.ok(bytes < 5_000, `${bytes} bytes, where a call costs 50,000`);
  t.match(vote, { error: 'refusal', calls: 1, cost: cost(Math.ceil(bytes / 4), bytes, bytes), tokens: undefined });
  t.match(await asker.ask(request({ call: { maxU: 100, typicalU: 10 } })), { cost: cost(100, 100, 100) }, 'or a call');
});

t.test('where a vendor charges for filtered questions like for others, as much as any call', async (t) => {
  const server = await misbehavingServer(t);
  await using azure = openAsker({ panels: testPanels(t, { one: server.url }, [], { dialect: 'azure' }) });
  server.behave(MODEL, FILTERED);
  t.match(await azure.ask(request()), { error: 'refusal', cost: cost(100, 1_000, 1_000) });
  await using xai = openAsker({ panels: testPanels(t, { one: server.url }, [], { dialect: 'xai' }) });
  server.behave(MODEL, FILTERED);
  const vote = await xai.ask(request());
  t.match(vote, { error: 'refusal', cost: { estimated_u: 50_100, max_u: 51_000 } }, 'and its fee');
  t.ok(vote.cost!.fault_u <= 2_500, `${vote.cost!.fault_u}: the caller pays at most the reserve`);
});

t.test('the fee for a refused question is set aside at the ceiling and not in the hold', async (t) => {
  const server = await misbehavingServer(t);
  const text = { question: 'Which?', options: ['A', 'B'], search: false, style: 'choice' as const };
  const seatsAt = (dialect: string) =>
    seatsFor(testPanels(t, { one: server.url }, [], { dialect }).panel('fast'), text);
  const [xai, azure] = [seatsAt('xai'), seatsAt('azure')];
  t.equal(providerMaxU({ seats: xai }), providerMaxU({ seats: azure }) + xai.length * 50_000);
  t.same(
    xai.map(({ reserve_u }) => reserve_u),
    azure.map(({ reserve_u }) => reserve_u),
  );

  const panels = testPanels(t, { one: server.url }, [], { dialect: 'xai' });
  await using asker = openAsker({ panels, random: () => 0 });
  // The dearest way: a repaired answer, then a refusal.
  const [seat] = xai;
  const call = { maxU: seat!.call_max_u!, typicalU: seat!.call_typical_u! };
  server.behave(MODEL, says({ content: 'x' }, said(Math.floor(call.maxU / 2))), FILTERED);
  const vote = await asker.ask(request({ call, reserveU: seat!.reserve_u }));
  t.match(vote, { error: 'refusal', calls: 2 });
  t.equal(vote.cost!.max_u, providerMaxU({ seats: [seat!] }), 'no vote costs more than is set aside');
});

t.test('where a vendor charges nothing for an error, a filtered question costs nothing', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }, [], { dialect: 'openrouter' }) });
  server.behave(MODEL, FILTERED);
  t.match(await asker.ask(request()), { error: 'refusal', calls: 1, cost: cost(0, 0, 0) });
});

t.test('a status that says that the model took too long: it may have worked, so it counts as any call', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }), random: () => 0 });
  for (const status of [408, 504, 524]) {
    server.behave(MODEL, json({}, status), votes());
    const late = { error: 'timeout', calls: 1, cost: cost(100, 1_000, 0), tokens: undefined };
    t.match(await asker.ask(request()), late, `${status}`);
  }
  await using routed = openAsker({ panels: testPanels(t, { one: server.url }, [], { dialect: 'openrouter' }) });
  server.behave(MODEL, json({}, 504), votes());
  t.match(
    await routed.ask(request()),
    { error: 'timeout', calls: 1, cost: cost(0, 0, 0) },
    'errors cost nothing there',
  );
});

t.test('a connection that is cut while the model works may have cost a call, and is not repeated', async (t) => {
  const server = await misbehavingServer(t);
  let now = 0;
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }), random: () => 0, now: () => now });
  const cutAfter =
    (ms: number): Behaviour =>
    (_, res) => {
      now += ms;
      res.socket!.resetAndDestroy();
    };
  server.behave(MODEL, cutAfter(300), votes());
  t.match(await asker.ask(request()), { error: 'provider_error', calls: 1, cost: cost(100, 1_000, 0) });
  server.behave(MODEL, cutAfter(99), votes(0, said(300)));
  t.match(await asker.ask(request()), { error: null, calls: 2, cost: cost(300, 300, 0) }, 'one that was just closing');
});

t.test('a cost of 0 is believed of a model that is free', async (t) => {
  const server = await misbehavingServer(t);
  const free = modelEntry(MODEL, { price: { input: '0', output: '0' } });
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }, [free]) });
  server.behave(MODEL, votes(0, said(0)));
  t.match(await asker.ask(request()), { provider_cost_u: 0, cost: cost(0, 0, 0) });
});

t.test('a call that waits for one of our connections is none, and is not held against its model', async (t) => {
  const server = await misbehavingServer(t);
  let now = 0;
  const entry = modelEntry(MODEL, { p50_ms: 1, p90_ms: 1, concurrency: 20 });
  const panels = testPanels(t, { one: server.url }, [entry], { timeouts: {}, connections: 1 });
  await using asker = openAsker({ panels, now: () => now });
  server.behave(MODEL, silence, votes());
  const first = new AbortController();
  const hangs = asker.ask(request(), { signal: first.signal });
  await server.called(1);
  const stop = new AbortController();
  const seen: Spent[] = [];
  const options = { signal: stop.signal, onSpent: (spent: Spent) => seen.push(spent) };
  const waiting = Array.from({ length: 10 }, (_, seat) =>
    asker.ask(request({ seat, accountId: `a-${seat}` }), options),
  );
  const late = asker.ask(request({ deadlineMs: 20 }));
  t.match(await late, { error: 'timeout', calls: 0, cost: cost(0, 0, 0) });
  now += 10_000;
  stop.abort();
  for (const vote of await Promise.all(waiting))
    t.match(vote, { error: 'aborted', calls: 0, cost: cost(0, 0, 0), tokens: { prompt: 0 } });
  t.same(seen, [], 'nor is it counted where its poll stops');
  first.abort();
  t.match(await hangs, { calls: 1, cost: cost(100, 1_000, 0) });
  t.match(await asker.ask(request()), { error: null, calls: 1 }, 'its breaker is closed');
  t.equal(server.calls.length, 2, 'none of them was sent later');
});

t.test('a call that is aborted may have cost what a call can', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }, [modelEntry(MODEL)], { timeouts: {} }) });
  server.behave(MODEL, silence);
  const stop = new AbortController();
  const seen: Spent[] = [];
  const onSpent = (spent: Spent) => seen.push({ ...spent, cost: { ...spent.cost } });
  const asked = asker.ask(request(), { signal: stop.signal, onSpent });
  await server.called(1);
  t.match(seen.at(-1), { calls: 1, cost: cost(100, 1_000, 0) }, 'known as soon as it is sent');
  stop.abort();
  t.match(await asked, { error: 'aborted', cost: cost(100, 1_000, 0) });
  t.equal(voteMaxU(CALL.maxU), 1_500);
});

t.test('a poll can cost what the votes can that its limit lets it ask, each of them alone', (t) => {
  const seat = (reserve_u: number, call_max_u?: number) => ({
    ...{ model_id: 'a/1', family: 'a', failure_rate: 0, p90_ms: 1, reserve_u },
    ...(call_max_u !== undefined && { call_max_u }),
  });
  const seats = [seat(1_700, 1_000), seat(3_400, 2_000), seat(500)];
  t.equal(
    providerMaxU({ seats, max_cost_u: 3_400 }),
    1_500 + 3_000 + 500,
    'calls that failed leave it whole for the next',
  );
  t.equal(providerMaxU({ seats, max_cost_u: 3_399 }), 1_500 + 500);
  t.equal(providerMaxU({ seats, max_cost_u: 499 }), 0);
  t.equal(providerMaxU({ seats }), 5_000);
  t.end();
});
