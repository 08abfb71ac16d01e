import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { VoteError } from '@eloquentpoll/contracts';
import t from 'tap';
import { openAsker } from '../src/ask.ts';
import { REPAIR } from '../src/prompt-words.ts';
import { type Behaviour, json, misbehavingServer, says, silence, toolCall, votes } from './misbehaving-server.ts';
import { modelEntry, SHORT_TIMEOUTS, TIMEOUTS, testPanels } from './test-panels.ts';
import { MODEL, voteRequest } from './vote-request.ts';

// slow: 3 s

// Every way in which a provider can fail, and the vote error that comes of it.

interface Expectation {
  error: VoteError | null;
  /** Calls the provider saw. */
  calls: number;
  /** How the model is asked. */
  answer?: 'json_schema' | 'tool' | 'line';
  deadlineMs?: number;
  timeouts?: typeof TIMEOUTS;
  /** Place of the option voted for. */
  place?: number;
}

const retryAfter = (value: string, status = 429): Behaviour =>
  json({ error: { message: 'slow down' } }, status, { 'retry-after': value });
const status = (code: number): Behaviour => json({ error: { message: 'no', code } }, code);
const html: Behaviour = (_, res) =>
  void res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
const reset: Behaviour = (_, res) => void res.socket!.resetAndDestroy();
const closes: Behaviour = (_, res) => void res.socket!.destroy();
const halfBody: Behaviour = (_, res) => {
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
  res.write('{"choices":[');
  setImmediate(() => res.socket!.destroy());
};
const hangsInBody: Behaviour = (_, res) => {
  res.writeHead(200, { 'content-type': 'application/json' });
  res.write('{"choices":[');
};
const drips: Behaviour = (_, res) => {
  res.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => res.write(' '), 20);
  res.on('close', () => clearInterval(timer));
};
const truncated: Behaviour = (_, res) =>
  void res.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[{"message":{"content":"{');
const huge: Behaviour = (_, res) =>
  void res
    .writeHead(200, { 'content-type': 'application/json' })
    .end(`{"choices":[],"pad":"${'x'.repeat(2_000_000)}"}`);
const redirects: Behaviour = (_, res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
const tool = (name: string, args: unknown): Behaviour => says({ tool_calls: [toolCall(name, args)] });

const scripts: [string, Behaviour[], Expectation][] = [
  ['a vote', [votes()], { error: null, calls: 1 }],
  ['a vote by tool', [votes(1)], { error: null, calls: 1, answer: 'tool', place: 1 }],
  ['a vote by last line', [votes(2)], { error: null, calls: 1, answer: 'line', place: 2 }],
  ['429 without Retry-After, then a vote', [status(429), votes()], { error: null, calls: 2 }],
  ['429 with Retry-After, then a vote', [retryAfter('0.1'), votes()], { error: null, calls: 2 }],
  [
    '429 with a date in the past, then a vote',
    [retryAfter('Wed, 21 Oct 2015 07:28:00 GMT'), votes()],
    { error: null, calls: 2 },
  ],
  ['429 twice', [status(429)], { error: 'rate_limited', calls: 2 }],
  ['429 that asks for more time than there is', [retryAfter('3600')], { error: 'rate_limited', calls: 1 }],
  ['429 with a Retry-After that is nonsense', [retryAfter('soon')], { error: 'rate_limited', calls: 2 }],
  ['500, then a vote', [status(500), votes()], { error: null, calls: 2 }],
  ['502', [status(502)], { error: 'provider_error', calls: 2 }],
  ['503 with Retry-After', [retryAfter('0.05', 503)], { error: 'provider_error', calls: 2 }],
  ['529', [status(529)], { error: 'provider_error', calls: 2 }],
  ['408', [status(408)], { error: 'timeout', calls: 1 }],
  ['504: the model may have worked', [status(504), votes()], { error: 'timeout', calls: 1 }],
  ['504 inside a reply of 200', [json({ error: { code: 504, message: 'x' } })], { error: 'timeout', calls: 1 }],
  ["Cloudflare's 524", [status(524)], { error: 'timeout', calls: 1 }],
  ['400', [status(400)], { error: 'provider_error', calls: 1 }],
  ['401', [status(401)], { error: 'provider_error', calls: 1 }],
  ['402', [status(402)], { error: 'provider_error', calls: 1 }],
  ['403', [status(403)], { error: 'provider_error', calls: 1 }],
  ['404', [status(404)], { error: 'provider_error', calls: 1 }],
  ['a redirect is not followed', [redirects], { error: 'provider_error', calls: 1 }],
  [
    'an error of 429 inside a reply of 200, then a vote',
    [json({ error: { code: 429, message: 'x' } }), votes()],
    { error: null, calls: 2 },
  ],
  ['an error inside a reply of 200', [json({ error: { message: 'upstream' } })], { error: 'provider_error', calls: 2 }],
  ['a content filter by status', [json({ error: { code: 'content_filter' } }, 400)], { error: 'refusal', calls: 1 }],
  [
    'moderation by status',
    [json({ error: { code: 403, metadata: { reasons: ['violence'] } } }, 403)],
    { error: 'refusal', calls: 1 },
  ],
  ['a reset before the reply, then a vote', [reset, votes()], { error: null, calls: 2 }],
  ['resets', [reset], { error: 'provider_error', calls: 2 }],
  ['closes without a reply', [closes], { error: 'provider_error', calls: 2 }],
  ['no first byte', [silence], { error: 'timeout', calls: 1, timeouts: SHORT_TIMEOUTS }],
  ['half a body, then the end', [halfBody], { error: 'provider_error', calls: 1 }],
  ['half a body, then silence', [hangsInBody], { error: 'timeout', calls: 1, timeouts: SHORT_TIMEOUTS }],
  ['a slow drip under the idle limit', [drips], { error: 'timeout', calls: 1, deadlineMs: 1_000 }],
  ['an HTML body', [html], { error: 'provider_error', calls: 1 }],
  ['truncated JSON around the answer', [truncated], { error: 'provider_error', calls: 1 }],
  ['a reply over the size limit', [huge], { error: 'provider_error', calls: 1 }],
  ['a refusal', [says({ refusal: 'I would rather not.' })], { error: 'refusal', calls: 1 }],
  ['an empty answer, then a vote', [says({ content: '' }), votes()], { error: null, calls: 2 }],
  ['empty answers', [says({ content: '' })], { error: 'malformed', calls: 2 }],
  ['no message', [json({ choices: [] })], { error: 'provider_error', calls: 1 }],
  ['prose', [says({ content: 'The first one.' })], { error: 'malformed', calls: 2 }],
  ['a label outside the enum', [says({ content: '{"choice":"XX"}' })], { error: 'invalid_choice', calls: 2 }],
  ['a label outside the enum, then a vote', [says({ content: '{"choice":"XX"}' }), votes()], { error: null, calls: 2 }],
  ['another tool', [tool('search', { choice: 'QJ' })], { error: 'malformed', calls: 2, answer: 'tool' }],
  ['another tool, then a vote', [tool('search', { choice: 'QJ' }), votes()], { error: null, calls: 2, answer: 'tool' }],
  [
    'two tool calls',
    [says({ tool_calls: [toolCall('vote', { choice: 'QJ' }), toolCall('vote', { choice: 'ZR' })] })],
    { error: 'malformed', calls: 2, answer: 'tool' },
  ],
  ['no last line', [says({ content: 'I prefer the first.' })], { error: 'malformed', calls: 2, answer: 'line' }],
  ['malformed, then a 500, then a vote', [says({ content: 'x' }), status(500), votes()], { error: null, calls: 3 }],
  ['no usage', [votes(0, { usage: undefined })], { error: null, calls: 1 }],
];

for (const [name, behaviours, expected] of scripts) {
  t.test(`${name} -> ${expected.error ?? 'vote'}`, async (t) => {
    const server = await misbehavingServer(t);
    const models = [modelEntry(MODEL, { answer: expected.answer ?? 'json_schema' })];
    const panels = testPanels(t, { one: server.url }, models, { timeouts: expected.timeouts ?? TIMEOUTS });
    // A clock that stands still: whatever ends soon does so at once.
    await using asker = openAsker({ panels, random: () => 0.01, now: () => 0 });
    server.behave(MODEL, ...behaviours);
    const answer = await asker.ask(voteRequest(expected.deadlineMs ? { deadlineMs: expected.deadlineMs } : {}));
    t.equal(answer.error, expected.error);
    t.equal(server.calls.length, expected.calls, 'calls the provider saw');
    t.equal(answer.calls, expected.calls);
    t.equal(answer.model_id, MODEL);
    if (expected.error === null) {
      const last = server.calls.at(-1)!;
      t.equal(
        answer.labels[answer.option!],
        last.labels[expected.place ?? 0],
        'the option behind the label that was shown there',
      );
      t.ok(answer.billed_u > 0 && answer.billed_u <= 50_000);
    } else {
      t.equal(answer.option, null);
      t.equal(answer.billed_u, 0, 'a failed vote costs nothing');
    }
    t.same(
      server.calls.map((call) => call.labels),
      server.calls.map(() => server.calls[0]!.labels),
      'a vote keeps its labels and order',
    );
  });
}

t.test('a connection that never comes about ends after the connect limit, with one retry', async (t) => {
  const sockets = new Set<Socket>();
  // Accepts and never shakes hands: to a TLS client the connection hangs.
  const hanging = createServer((socket) => void sockets.add(socket));
  hanging.listen(0, '127.0.0.1');
  await once(hanging, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    hanging.close();
  });
  const url = `https://127.0.0.1:${(hanging.address() as AddressInfo).port}/v1`;
  const panels = testPanels(t, { one: url }, [], { timeouts: SHORT_TIMEOUTS });
  await using asker = openAsker({ panels, random: () => 0.01 });
  const answer = await asker.ask(voteRequest());
  t.match(answer, { error: 'timeout', calls: 2, option: null });
  t.ok(answer.latency_ms < 5_000, 'well before the vote deadline');
});

t.test('a refused connection is tried twice', async (t) => {
  const closed = createServer();
  closed.listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}/v1`;
  closed.close();
  await once(closed, 'close');
  await using asker = openAsker({ panels: testPanels(t, { one: url }), random: () => 0.01 });
  t.match(await asker.ask(voteRequest()), { error: 'provider_error', calls: 2, option: null, billed_u: 0 });
});

t.test('an answer to a prompt that the server cut is no vote', async (t) => {
  const server = await misbehavingServer(t);
  const local = modelEntry(MODEL, { context_tokens: 4096 });
  const request = { call: { maxU: 1_000_000, typicalU: 500 } };
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }, [local]) });
  const asked = (prompt_tokens: number, characters: number) => {
    server.behave(MODEL, votes(0, { usage: { prompt_tokens, completion_tokens: 20 } }));
    return asker.ask(voteRequest({ ...request, question: 'long '.repeat(characters / 5) }));
  };
  const cut = { error: 'provider_error', calls: 1, billed_u: 0 } as const;
  t.match(await asked(4_096, 20_000), cut, 'to the whole context');
  t.match(await asked(2_050, 20_000), cut, 'to half of it');
  t.match(await asked(3_000, 40_000), cut, 'to fewer tokens than its characters can be');
  t.match(await asked(9_000, 40_000), { error: null }, 'a server with a longer context');
  t.match(await asked(3_000, 12_000), { error: null }, 'a prompt that fits');
  server.behave(MODEL, votes(0, { usage: undefined }));
  t.match(await asker.ask(voteRequest({ question: 'x'.repeat(40_000) })), { error: null }, 'nothing was counted');
  const other = voteRequest({ ...request, modelId: 't/bay-1', question: 'x'.repeat(40_000) });
  t.match(await asker.ask(other), { error: null }, 'no context is given');
});

t.test('a wait that leaves no time for the answer is not begun', async (t) => {
  const server = await misbehavingServer(t);
  const slow = modelEntry(MODEL, { p50_ms: 9_500, p90_ms: 9_500 });
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }, [slow]), random: () => 0 });
  server.behave(MODEL, retryAfter('1'), votes());
  t.match(await asker.ask(voteRequest({ deadlineMs: 10_000 })), { error: 'rate_limited', calls: 1 });
  server.behave(MODEL, retryAfter('0.01'), votes());
  t.match(await asker.ask(voteRequest({ deadlineMs: 1_000_000 })), { error: null, calls: 2 });
});

t.test('an answer after the deadline is no vote', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  let late = (): void => {};
  server.behave(MODEL, (call, res) => {
    late = () => votes()(call, res);
  });
  const answer = await asker.ask(voteRequest({ deadlineMs: 1_000 }));
  t.match(answer, { error: 'timeout', option: null, billed_u: 0, calls: 1 });
  late();
  await server.calls[0]!.closed;
});

t.test('what a failed call cost us is recorded, and not billed', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  const usage = { prompt_tokens: 400, completion_tokens: 20, cost: 0.0021 };
  server.behave(MODEL, says({ content: 'prose' }, { usage }));
  t.match(await asker.ask(voteRequest()), { error: 'malformed', billed_u: 0, provider_cost_u: 4200 });
  server.behave(MODEL, says({ content: 'prose' }, { usage }), votes(0, { usage }));
  t.match(await asker.ask(voteRequest()), { error: null, billed_u: 440, provider_cost_u: 4200 });
  server.behave(MODEL, votes());
  t.match(await asker.ask(voteRequest()), { error: null, billed_u: 440, provider_cost_u: null });
});

t.test('a repair asks again in plain words and repeats nothing of the answer', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  server.behave(MODEL, says({ content: 'obey me: VOTE: QJ' }), votes());
  await asker.ask(voteRequest());
  const [first, second] = server.calls;
  const [system, user] = first!.body.messages;
  t.equal(first!.body.messages.length, 2);
  // Chat templates of Gemma and Mistral take no two user messages in a row.
  t.same(second!.body.messages, [system, { role: 'user', content: `${user!.content}\n\n${REPAIR}` }]);
  t.notMatch(JSON.stringify(second!.body), 'obey me');
});

t.test('no call, and no further call, is made once beforeCall says no or the signal aborts', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  for (const [mine, behaviours] of [
    [0, [votes()]],
    [1, [says({ content: 'prose' }), votes()]],
    [1, [status(429), votes()]],
  ] as const) {
    for (const ends of ['says no', 'aborts']) {
      const taken = new AbortController();
      const before = server.calls.length;
      let asked = 0;
      const beforeCall = async () => {
        if (asked++ < mine) return true;
        if (ends === 'aborts') taken.abort();
        return ends !== 'says no';
      };
      server.behave(MODEL, ...behaviours);
      const vote = await asker.ask(voteRequest(), { signal: taken.signal, beforeCall });
      t.match(vote, { error: 'aborted', calls: mine }, ends);
      t.equal(server.calls.length - before, mine);
      server.behave(MODEL, votes());
    }
  }
});

t.test('what beforeCall allowed before a pause is asked again, in the moment of the call', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  for (const [answers, calls] of [
    [[true, true], 1],
    [[true, false], 0],
  ] as const) {
    const heard: string[] = [];
    const before = server.calls.length;
    server.behave(MODEL, votes());
    const vote = await asker.ask(voteRequest(), {
      beforeCall: async () => {
        heard.push('may it?');
        return answers[heard.filter((one) => one === 'may it?').length - 1] ?? false;
      },
      isCurrent() {
        heard.push('still?');
        return heard.length > 2;
      },
    });
    t.equal(server.calls.length - before, calls);
    t.equal(vote.error, calls === 1 ? null : 'aborted');
    t.same(heard, ['may it?', 'still?', 'may it?', ...(calls === 1 ? ['still?'] : [])]);
  }
});

t.test('a vote whose time is over while it waits for its lease is no call, and does not wait for ever', async (t) => {
  const server = await misbehavingServer(t);
  await using asker = openAsker({ panels: testPanels(t, { one: server.url }) });
  server.behave(MODEL, votes());
  let asked = 0;
  const vote = await asker.ask(voteRequest({ deadlineMs: 0 }), {
    async beforeCall() {
      asked++;
      if (asked > 3) throw new Error('asked again and again');
      // Timers of one length end in the order in which they began: that of the vote first.
      await new Promise((next) => setTimeout(next));
      return true;
    },
    isCurrent: () => false,
  });
  t.match(vote, { error: 'timeout', calls: 0, cost: { max_u: 0 } });
  t.equal(asked, 1);
  t.equal(server.calls.length, 0);
});

t.test('a model that is no longer in the roster file is a failed vote', async (t) => {
  await using asker = openAsker({ panels: testPanels(t, { one: 'http://127.0.0.1:9/v1' }) });
  t.match(await asker.ask(voteRequest({ modelId: 't/gone' })), {
    model_id: 't/gone',
    error: 'provider_error',
    calls: 0,
    labels: { length: 0 },
  });
});

t.test('a defect of ours is a failed vote that is logged', async (t) => {
  const faults: unknown[] = [];
  const panels = testPanels(t, { one: 'http://127.0.0.1:9/v1' });
  const spoilt = {
    ...panels,
    panelOf: () => {
      throw new Error('spoilt');
    },
  };
  await using asker = openAsker({ panels: spoilt, onError: (error) => faults.push(error) });
  t.match(await asker.ask(voteRequest({ panel: 'broad' })), { error: 'provider_error', calls: 0 });
  t.match(faults, [{ message: 'spoilt' }]);
});
