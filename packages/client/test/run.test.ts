import type { ServerResponse } from 'node:http';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { EXIT } from '../src/cli/exit-codes.ts';
import { run } from '../src/cli/run.ts';
import type { Terminal } from '../src/cli/terminal.ts';
import { EloquentPoll } from '../src/eloquentpoll.ts';
import { pipes, screen, terminal } from './screen.ts';
import { type Asked, batch, complete, RESULT, serve, sse, started, withoutWaiting } from './service.ts';

const ASK = ['ask', 'Which is larger? [The Sun, The Moon]'];

const QUICK = {
  question: 'Q',
  options: [],
  answer: 'The Sun',
  reasoning: 'r',
  cost: 0,
  theme: 'free',
  poll_id: 'EP-1',
};

const streaming =
  (...events: string[]) =>
  (_asked: Asked, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));

const refusing =
  (status: number, code: string, more = {}) =>
  (_asked: Asked, response: ServerResponse) => {
    response.statusCode = status;
    return { error: `It says ${code}`, code, ...more };
  };

const at = (url: string, given: Partial<Terminal> = {}) =>
  terminal({ env: { EP_URL: url, EP_KEY: 'ep_k_x' }, ...given });

const said = <T extends object>(result: T, headline: string) => ({
  ...result,
  verdict: { ...RESULT.verdict, headline, text: `${headline}\nWhat it means.` },
});

t.test('on a terminal the CLI redraws bars', async (t) => {
  const { url } = await serve(t, streaming(sse('started', started(0)), sse('started', started(1)), complete(5)));
  const { out, text, written } = screen(80);
  t.equal(await run(ASK, at(url, { out, env: { EP_URL: url, EP_KEY: 'k', NO_COLOR: '1' } })), EXIT.winner);
  t.equal(
    text(),
    [
      'Which is larger?',
      '',
      '  The Sun: 2 of 3, stopped early',
      '  Agreement: split so far. 95% likely to stay the winner.',
      '  Not proof that it is true.',
      '',
      `  The Sun   ${'█'.repeat(21).padEnd(32)}┊${' '.repeat(30)}  2`,
      `  The Moon  ${`${'█'.repeat(10)}▌`.padEnd(32)}┊${' '.repeat(30)}  1`,
      `${' '.repeat(27)}enough to win: 3 ┊`,
      '',
      '  threshold reached · 2 models not asked · 1 failed · $0.004200 · 0.9 s',
      '  Simulated models: not a real answer.',
      `  ${url}/result/EP-2026-11-20-0123456789abcdef`,
      '  Check its receipt: eloquentpoll verify EP-2026-11-20-0123456789abcdef',
      '',
    ].join('\n'),
  );
  t.match(written.join(''), 'The Sun 73% · The Moon 20% · needs 95%', 'the odds while it runs');
  t.match(written.join(''), '1 of 6 models');
  t.match(written.join(''), `\x1b]8;;${url}/result/EP-2026-11-20-0123456789abcdef\x1b\\`, 'the link can be clicked');
  t.notMatch(written.join(''), /confidence|1\.000|100%/);
});

t.test('a small or dumb terminal gets lines', async (t) => {
  const { url } = await serve(t, streaming(sse('started', started(0)), sse('started', started(1)), complete(5)));
  const low = screen(60, 6);
  const { err, texts } = pipes();
  await run(ASK, at(url, { out: low.out, err }));
  t.match(texts.err, '1/6  sim/a  The Sun  0.3 s');
  t.ok(
    low.written.every((text) => !/\[\d+A/.test(text)),
    'nothing is drawn over',
  );
});

t.test('in a pipe the first line is the outcome', async (t) => {
  const { url, asked } = await serve(t, streaming(sse('started', started(0)), sse('started', started(1)), complete(5)));
  const { texts, ...outputs } = pipes();
  t.equal(await run([...ASK, '--preset', 'fast', '--max-cost', '0.5'], at(url, outputs)), EXIT.winner);
  t.equal(
    texts.out,
    [
      'The Sun: 2 of 3, stopped early',
      'Agreement: split so far. 95% likely to stay the winner.',
      'Not proof that it is true.',
      '   2  The Sun',
      '   1  The Moon',
      'threshold reached · 2 models not asked · 1 failed · $0.004200 · 0.9 s',
      `${url}/result/EP-2026-11-20-0123456789abcdef`,
      'Check its receipt: eloquentpoll verify EP-2026-11-20-0123456789abcdef',
      'Simulated models: not a real answer.',
      '',
    ].join('\n'),
  );
  t.equal(texts.err, 'asking up to 6 models\n1/6  sim/a  The Sun  0.3 s\n');
  t.match(asked[0], {
    path: '/api/poll/stream',
    headers: { authorization: 'Bearer ep_k_x' },
    body: { question: 'Which is larger?', options: ['The Sun', 'The Moon'], preset: 'fast', max_cost_usd: 0.5 },
  });
});

t.test('--json prints the poll response only', async (t) => {
  const { url } = await serve(t, streaming(sse('started', started(0)), complete(5)));
  const { texts, ...outputs } = pipes();
  t.equal(await run([...ASK, '--json'], at(url, outputs)), EXIT.winner);
  t.same(JSON.parse(texts.out), RESULT);
  t.equal(texts.err, '');
});

t.test('each outcome has its exit code', async (t) => {
  const tie = {
    ...RESULT,
    outcome: 'tie',
    winning_option: null,
    is_tie: true,
    confidence: null,
    tally: { 'The Sun': 2, 'The Moon': 2 },
  };
  const none = { ...RESULT, status: 'failed', outcome: 'no_votes', winning_option: null, tally: {}, confidence: null };
  for (const [result, exit, says] of [
    [said(tie, 'A tie: The Sun and The Moon, 2 votes each'), EXIT.undecided, /^A tie: The Sun and The Moon/],
    [said(none, 'No answer: no model gave a valid vote'), EXIT.undecided, /^No answer/],
    [said({ ...RESULT, status: 'partial' }, 'No safe answer yet: The Sun 2'), EXIT.partial, /^No safe answer yet/],
    [
      { ...said(none, 'No answer: no model could be asked'), code: 'budget_too_small', min_cost_usd: 0.001342 },
      EXIT.usage,
      /^The lowest limit that covers one vote: --max-cost 0\.001342$/m,
    ],
  ] as const) {
    const { url } = await serve(t, streaming(complete(1, result)));
    const { texts, ...outputs } = pipes();
    t.equal(await run(ASK, at(url, outputs)), exit, String(says));
    t.match(texts.out, says);
  }
});

t.test('an option with line breaks stays in the first line', async (t) => {
  const headline = 'The\nSun: 2 of 3, stopped early';
  const { url } = await serve(t, () => said(RESULT, headline));
  const { texts, ...outputs } = pipes();
  await run(['result', 'EP-1'], at(url, outputs));
  t.match(texts.out, /^The Sun: 2 of 3, stopped early\nWhat it means\.\n/);
});

t.test('the lines of a result are wrapped on a narrow terminal, not cut', async (t) => {
  const { url } = await serve(t, () => RESULT);
  const { out, text } = screen(30);
  await run(['result', 'EP-1'], at(url, { out }));
  t.match(text(), '  Agreement: split so far.\n  95% likely to stay the\n  winner.\n');
});

t.test('each error has its exit code', async (t) => {
  withoutWaiting(t);
  for (const [status, code, exit] of [
    [400, 'validation_error', EXIT.usage],
    [401, 'invalid_api_key', EXIT.refused],
    [402, 'insufficient_balance', EXIT.refused],
    [404, 'session_not_found', EXIT.usage],
    [429, 'rate_limited', EXIT.unavailable],
    [500, 'internal_error', EXIT.unavailable],
  ] as const) {
    const { url } = await serve(t, refusing(status, code));
    const { texts, ...outputs } = pipes();
    t.equal(await run(ASK, at(url, outputs)), exit, code);
    const hint = code === 'invalid_api_key' ? '  Check EP_KEY, or get a new one: eloquentpoll login\n' : '';
    t.equal(texts.err, `eloquentpoll: It says ${code}\n${hint}`);
    t.equal(texts.out, '');
  }
  const { texts, ...outputs } = pipes();
  const gone = at('http://127.0.0.1:9', { ...outputs, whenUnreachable: 'Start one.' });
  t.equal(await run(ASK, gone), EXIT.unavailable);
  t.equal(texts.err, 'eloquentpoll: Nothing is listening at http://127.0.0.1:9. Start one.\n');
});

t.test('a limit that pays for no vote is something to correct', async (t) => {
  const why = { seq: 1, error: '$0.0001 does not pay for one vote.', code: 'budget_too_small', min_cost_usd: 0.001342 };
  const { url } = await serve(t, streaming(sse('started', started(0)), sse('error', why)));
  const { texts, ...outputs } = pipes();
  t.equal(await run(ASK, at(url, outputs)), EXIT.usage);
  t.match(texts.err, 'eloquentpoll: $0.0001 does not pay for one vote.\n  Try --max-cost 0.001342\n');
  const programs = pipes();
  await run([...ASK, '--json'], at(url, programs));
  t.match(JSON.parse(programs.texts.err), { code: 'budget_too_small', min_cost_usd: 0.001342 });
});

t.test('an error is printed with its hint, or as JSON', async (t) => {
  const recovery = [
    { action: 'add_funds', description: 'Buy credit.', url: 'https://polls.example/api/deposit' },
    { action: 'open_documentation', description: 'Read.' },
  ];
  const { url } = await serve(t, refusing(402, 'insufficient_balance', { recovery, request_id: 'r1' }));
  const people = pipes();
  await run(ASK, at(url, people));
  t.equal(
    people.texts.err,
    'eloquentpoll: It says insufficient_balance\n  Buy credit. https://polls.example/api/deposit\n',
  );
  const programs = pipes();
  await run([...ASK, '--json'], at(url, programs));
  t.match(JSON.parse(programs.texts.err), { code: 'insufficient_balance', status: 402, recovery, request_id: 'r1' });
  t.equal(programs.texts.out, '');
  withoutWaiting(t);
  withoutWaiting(t, (ms) => ms === 60_000);
  const unknown = await serve(t, refusing(503, 'service_unavailable', { session_id: 'ps_1' }));
  const made = [pipes(), pipes()] as const;
  await run(ASK, at(unknown.url, made[0]));
  t.match(made[0].texts.err, '\n  The poll was created: eloquentpoll watch ps_1\n');
  await run([...ASK, '--json'], at(unknown.url, made[1]));
  t.match(JSON.parse(made[1].texts.err), { code: 'service_unavailable', session_id: 'ps_1' });
});

t.test('a connection that is lost names the poll that goes on, and does not say that nothing listens', async (t) => {
  withoutWaiting(t);
  withoutWaiting(t, (ms) => ms === 60_000);
  const losing = (first: boolean) => (_asked: Asked, response: ServerResponse, nth: number) => {
    if (!first || nth > 1) return void response.socket?.destroy();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.write(sse('started', started(1)), () => response.socket?.destroy());
  };
  const { url } = await serve(t, losing(true));
  const people = pipes();
  t.equal(await run(ASK, at(url, people)), EXIT.unavailable);
  t.match(people.texts.err, `eloquentpoll: The connection to ${url} was lost: `);
  const hint = '  The poll was created: eloquentpoll watch ps_1\n  To stop it: eloquentpoll cancel ps_1\n';
  t.equal(people.texts.err.slice(-hint.length), hint);
  const programs = pipes();
  const again = await serve(t, losing(true));
  await run([...ASK, '--json'], at(again.url, programs));
  const known = { code: 'network_error', session_id: 'ps_1', idempotency_key: /^[0-9a-f]{32}$/ };
  t.match(JSON.parse(programs.texts.err), known);

  const unknown = await serve(t, losing(false));
  const { texts, ...outputs } = pipes();
  t.equal(await run(ASK, at(unknown.url, outputs)), EXIT.unavailable);
  const key = unknown.asked[0]?.headers['idempotency-key'];
  const way = `may have been created and charged. Before you ask again, look for it:\n  eloquentpoll polls\nTo join it, repeat the command with --idempotency-key ${key}\neloquentpoll: The connection to`;
  t.match(texts.err, way);
  const joined = await serve(t, streaming(complete(1)));
  t.equal(await run([...ASK, '--idempotency-key', String(key)], at(joined.url, pipes())), EXIT.winner);
  t.equal(joined.asked[0]?.headers['idempotency-key'], key);
});

t.test('a poll that goes on while the network is away is waited for: it is paid', async (t) => {
  withoutWaiting(t);
  const away = 8;
  const answering =
    (ended: object, status = 200) =>
    (asked: Asked, response: ServerResponse, nth: number) => {
      if (nth === 1) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        return void response.write(sse('started', started(1)), () => response.socket?.destroy());
      }
      if (nth < away) return void response.socket?.destroy();
      if (asked.path.endsWith('/status')) return { session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id };
      response.statusCode = status;
      return ended;
    };
  const { url, asked } = await serve(t, answering(RESULT));
  const { texts, ...outputs } = pipes();
  t.equal(await run(ASK, at(url, outputs)), EXIT.winner, texts.err);
  t.match(texts.err, 'The connection was lost; the poll goes on. Waiting for its result.\n');
  t.match(texts.out, /^The Sun: 2 of 3, stopped early\n/);
  t.equal(asked.at(-1)?.path, '/api/polls/ps_1/result');
  const failed = await serve(t, answering({ error: 'No votes', code: 'poll_failed', retryable: false }, 422));
  const programs = pipes();
  t.equal(await run([...ASK, '--json'], at(failed.url, programs)), EXIT.undecided);
  t.match(JSON.parse(programs.texts.err), { code: 'poll_failed' }, 'how it ended is an answer');
});

t.test('watch and result wait for a poll as long as it takes', async (t) => {
  // Whatever has a time of its own for the whole poll is over at once.
  withoutWaiting(t, (ms) => ms === 150_000 || ms === 26 * 3_600_000);
  withoutWaiting(t);
  const { url } = await serve(t, ({ path }, response, nth) => {
    if (path.endsWith('/status')) return { session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id };
    if (path !== '/api/poll/stream') return RESULT;
    if (nth > 1 && nth < 6) return void response.socket?.destroy();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return void response.end(nth === 1 ? sse('started', started(0)) : complete(1));
  });
  for (const name of ['watch', 'result']) {
    const { texts, ...outputs } = pipes();
    t.equal(await run([name, 'ps_1'], at(url, outputs)), EXIT.winner, texts.err);
  }
  withoutWaiting(t);
  const gone = pipes();
  t.equal(await run(['result', 'ps_1'], at('http://127.0.0.1:9', gone)), EXIT.unavailable, 'but not for no service');
});

t.test('Ctrl-C stops following and prints where the result will be', async (t) => {
  const enough = new AbortController();
  const { url } = await serve(t, (_asked, response) => {
    response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .write(sse('started', { ...started(1), page_url: 'https://polls.example/result/EP-1' }));
  });
  const { texts, out } = pipes();
  const err = {
    write(text: string) {
      texts.err += text;
      enough.abort();
    },
  };
  t.equal(await run(ASK, at(url, { out, err, signal: enough.signal })), EXIT.interrupted);
  t.match(
    texts.err,
    /its votes are charged.*\n {2}eloquentpoll watch ps_1\n {2}https:\/\/polls\.example\/result\/EP-1\nTo stop it: eloquentpoll cancel ps_1\n/,
  );
});

t.test('a program that asked for JSON and is interrupted gets one line, with what goes on', async (t) => {
  withoutWaiting(t);
  for (const [argv, known] of [
    [ASK, { session_id: 'ps_1' }],
    [['watch', 'pb_1'], { batch_id: 'pb_1' }],
  ] as const) {
    const enough = new AbortController();
    const { url } = await serve(t, (asked, response, nth) => {
      if (nth === 2) return enough.abort();
      if (asked.path.startsWith('/api/batches')) return batch(0, 3);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return void response.write(sse('started', started(0)), () => response.socket?.destroy());
    });
    const { texts, ...outputs } = pipes();
    t.equal(await run([...argv, '--json'], at(url, { ...outputs, signal: enough.signal })), EXIT.interrupted);
    t.same(JSON.parse(texts.err), { error: 'The command was interrupted.', code: 'interrupted', ...known });
  }
});

t.test('a dry run prints acceptance and cost', async (t) => {
  const estimates = {
    cost_usd: { min: 0.001, expected: 0.002, max: 0.5 },
    models: { roster_size: 9, min_calls: 3, expected_calls: 5.2, max_calls: 9 },
    latency_ms: { p50: 900, p95: 2_000 },
    balance_sufficient: true,
  };
  const good = await serve(t, () => ({ dry_run: true, valid: true, errors: [], estimates }));
  const { texts, ...outputs } = pipes();
  t.equal(await run([...ASK, '--dry-run'], at(good.url, outputs)), EXIT.winner);
  t.equal(good.asked[0]?.path, '/api/poll/dry-run');
  t.match(texts.out, '$0.002000 expected, $0.5000 at most');
  t.match(texts.out, /^The poll would be accepted; nothing was run\.\n/);
  const poor = { ...estimates, balance_sufficient: false };
  const unpaid = await serve(t, () => ({ dry_run: true, valid: true, errors: [], estimates: poor }));
  const third = pipes();
  t.equal(await run([...ASK, '--dry-run'], at(unpaid.url, third)), EXIT.refused, 'the poll itself would be a 402');
  t.match(
    third.texts.out,
    /^The poll would be refused:\n {2}The balance does not cover .*#funds, or a lower --max-cost/,
  );
  const none = { roster_size: 9, min_calls: 0, expected_calls: 0, max_calls: 0 };
  const small = { ...poor, models: none, min_cost_usd: 0.001342, max_cost_usd: 0.001, within_budget: false };
  const tooSmall = await serve(t, () => ({ dry_run: true, valid: true, errors: [], estimates: small }));
  const fourth = pipes();
  t.equal(await run([...ASK, '--dry-run'], at(tooSmall.url, fourth)), EXIT.usage, 'and this one budget_too_small');
  t.equal(
    fourth.texts.out,
    'The poll would be refused:\n  The limit does not pay for one vote: --max-cost 0.001342\n',
    'without figures of a poll that asks no model',
  );
  const bad = await serve(t, () => ({ dry_run: true, valid: false, errors: ['question is too short'], estimates: {} }));
  const second = pipes();
  t.equal(await run([...ASK, '--dry-run'], at(bad.url, second)), EXIT.usage);
  t.match(second.texts.out, 'question is too short');
});

t.test('a free poll needs no key', async (t) => {
  const { url, asked } = await serve(t, ({ path }) => {
    if (path !== '/api/quick-poll') return { ...RESULT, models_requested: 6 };
    return QUICK;
  });
  const { texts, ...outputs } = pipes();
  t.equal(await run([...ASK, '--free'], terminal({ ...outputs, env: { EP_URL: url } })), EXIT.winner);
  t.match(texts.out, 'The Sun: 2 of 3, stopped early');
  t.match(asked[0], {
    body: { theme: 'free', options: ['The Sun', 'The Moon'] },
    headers: { authorization: undefined },
  });
  t.equal(asked[1]?.path, '/api/results/EP-1');
});

t.test('a free poll that is partial says so with --json too', async (t) => {
  for (const [status, exit] of [
    ['partial', EXIT.partial],
    ['success', EXIT.winner],
    [undefined, EXIT.winner],
  ] as const) {
    const { url } = await serve(t, () => ({ ...QUICK, ...(status && { status }) }));
    const { texts, ...outputs } = pipes();
    t.equal(
      await run([...ASK, '--free', '--json'], terminal({ ...outputs, env: { EP_URL: url } })),
      exit,
      status ?? 'without a status',
    );
    t.match(JSON.parse(texts.out), { answer: 'The Sun' });
  }
});

t.test('a free poll stays free where a theme is given that is undefined', async (t) => {
  const { url, asked } = await serve(t, () => QUICK);
  const polls = new EloquentPoll({ baseUrl: url, apiKey: 'ep_k_x' });
  const settings: { theme?: 'free_search' } = JSON.parse('{}');
  await polls.free({ question: 'Which is larger?', options: ['A', 'B'], theme: settings.theme } as {
    question: string;
  });
  await polls.free({ question: 'Which is larger?', options: ['A', 'B'], theme: 'free_search' });
  t.match(asked, [{ body: { theme: 'free' } }, { body: { theme: 'free_search' } }]);
});

t.test('what the MCP server refuses keeps its code and its words', async (t) => {
  const { url } = await serve(t, (_asked, response) => {
    response.statusCode = 400;
    const data = { error: 'It says what is wrong.', code: 'validation_error', request_id: 'r' };
    return { jsonrpc: '2.0', id: 1, error: { code: -32_602, message: data.error, data } };
  });
  const error = await new EloquentPoll({ baseUrl: url, apiKey: 'ep_k_x' }).balance().catch((caught: unknown) => caught);
  t.match(error, { code: 'validation_error', message: 'It says what is wrong.', status: 400 });
});

t.test('result and history are printed', async (t) => {
  const { url, asked } = await serve(t, ({ path }) => {
    if (path.startsWith('/api/results?')) {
      const row = {
        resultId: 'EP-1',
        status: 'success',
        totalCostUsd: '0.0042',
        createdAt: '2026-11-20T10:11:12.000Z',
      };
      return [
        { ...row, winningOption: 'The\x1b[2J Sun', isTie: false },
        { ...row, winningOption: null, isTie: true },
      ];
    }
    if (path === '/api/polls/ps_1/status') return { session_id: 'ps_1', status: 'completed', result_id: 'EP-1' };
    return RESULT;
  });
  for (const id of ['EP-1', 'ps_1']) {
    const { texts, ...outputs } = pipes();
    t.equal(await run(['result', id], at(url, outputs)), EXIT.winner);
    t.match(texts.out, 'The Sun: 2 of 3, stopped early');
  }
  const { texts, ...outputs } = pipes();
  t.equal(await run(['history'], at(url, outputs)), EXIT.refused, 'a key does not open it');
  t.match(texts.err, /no API key opens it.*\/dashboard\/polls.*EP_SESSION/);
  const session = { ...outputs, env: { EP_URL: url, EP_SESSION: 'sealed' } };
  t.equal(await run(['history', '--limit', '2'], terminal(session)), EXIT.winner);
  t.match(asked.at(-1), { path: '/api/results?limit=2&offset=0', headers: { cookie: 'ep_session=sealed' } });
  t.match(texts.out, '2026-11-20 10:11  EP-1  success  $0.0042     The [2J Sun\n');
  t.match(texts.out, '(tie)');
});

t.test('help is printed, and an unknown command is a usage error', async (t) => {
  const { texts, ...outputs } = pipes();
  t.equal(await run(['--help'], terminal(outputs)), EXIT.winner);
  for (const code of Object.values(EXIT)) if (code < 100) t.match(texts.out, `${code}  `);
  t.equal(
    await run(['ask', 'Which is it, then?', '--json'], terminal({ ...outputs, env: { EP_KEY: 'k' } })),
    EXIT.usage,
  );
  t.match(JSON.parse(texts.err), { code: 'usage' });
  const second = pipes();
  t.equal(await run(ASK, terminal(second)), EXIT.refused);
  t.match(second.texts.err, /--free.*eloquentpoll login/);
  const third = pipes();
  t.equal(await run(['--version'], terminal(third)), EXIT.winner);
  t.match(third.texts.out, /^eloquentpoll \d+\.\d+\.\d+\n$/);
  const fourth = pipes();
  t.equal(await run(['--version', '--json'], terminal(fourth)), EXIT.winner);
  t.match(JSON.parse(fourth.texts.out), { version: /^\d+\.\d+\.\d+$/ });
});

t.test('on a terminal a person is asked for what is missing, until it can be used', async (t) => {
  const { url, asked } = await serve(t, streaming(complete(1)));
  const answers = ['Which?', 'Which is larger?', '', 'The Sun', 'The Sun, The Moon'];
  const labels: string[] = [];
  const ask = async (label: string) => {
    labels.push(label);
    return answers.shift() ?? null;
  };
  const { texts, ...outputs } = pipes();
  t.equal(await run(['ask', '--preset', 'fast'], at(url, { ...outputs, ask })), EXIT.winner);
  t.match(asked[0]?.body, { question: 'Which is larger?', options: ['The Sun', 'The Moon'], preset: 'fast' });
  t.same(
    labels.map((label) => label.slice(0, 8)),
    ['Question', 'Question', 'Options,', 'Options,', 'Options,'],
  );
  t.equal(
    texts.err,
    'The question has 6 characters; at least 10 are needed.\nGive at least two options: [The Sun, …].\n',
  );
  const end = pipes();
  t.equal(await run(['ask'], at(url, { ...end, ask })), EXIT.usage, 'the input has ended');
  t.match(end.texts.err, 'Put the question after ask');
});

t.test('watch follows a running poll, and open shows its page', async (t) => {
  const asking = { question: RESULT.question, options: RESULT.options, confidence_threshold: 0.95 };
  let finish = () => {};
  const { url, asked } = await serve(t, ({ path }, response) => {
    if (path === '/api/polls/ps_1/status')
      return { session_id: 'ps_1', status: 'completed', result_id: RESULT.poll_id };
    if (path === '/api/polls/ps_2/status') return { session_id: 'ps_2', status: 'running', result_id: null };
    if (path !== '/api/poll/stream') return RESULT;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(sse('started', { ...started(2), ...asking }));
    finish = () => response.end(complete(3));
    return undefined;
  });
  const { texts, ...outputs } = pipes();
  const watching = run(['watch', 'ps_1'], at(url, outputs));
  await eventually('the vote is shown', () => texts.err === '2/6  sim/a  The Sun  0.3 s\n' || null);
  finish();
  t.equal(await watching, EXIT.winner);
  t.match(asked.at(-1)?.headers, { 'last-event-id': 'ps_1' });
  t.match(texts.out, /^The Sun: 2 of 3, stopped early\n/);

  const live = screen(80);
  const onTerminal = run(['watch', 'ps_1'], at(url, { out: live.out }));
  await eventually(
    'the odds are in the foot',
    () => live.text().includes('The Sun 73% · The Moon 20% · needs 95%') || null,
  );
  t.match(live.text(), /Which is larger\?.*The Sun .*█.* 2\n.*2 of 6 models/s);
  finish();
  t.equal(await onTerminal, EXIT.winner);

  const drawn = screen(80);
  t.equal(await run(['watch', RESULT.poll_id], at(url, { out: drawn.out })), EXIT.winner, 'one that has ended');
  t.match(drawn.text(), 'enough to win');

  const opened: string[] = [];
  const openBrowser = async (page: string) => opened.push(page) > 0;
  for (const id of ['ps_1', RESULT.poll_id]) {
    const { texts, ...outputs } = pipes();
    t.equal(await run(['open', id], at(url, { ...outputs, openBrowser })), EXIT.winner);
    t.equal(texts.out, `${url}/result/${RESULT.poll_id}\n`);
  }
  t.same(opened, Array(2).fill(`${url}/result/${RESULT.poll_id}`));
  const early = pipes();
  t.equal(await run(['open', 'ps_2'], at(url, { ...early, openBrowser })), EXIT.usage);
  t.match(early.texts.err, 'no result yet. To follow it: eloquentpoll watch ps_2');
});

t.test('balance with a key is read by the tool that takes one', async (t) => {
  const balance = { balance_cents: 1234, balance: '$12.34', usage_cents: 66, held_back_cents: 500 };
  const { url, asked } = await serve(t, ({ path }) =>
    path === '/api/mcp' ? { jsonrpc: '2.0', id: 1, result: { structuredContent: balance } } : balance,
  );
  const { texts, ...outputs } = pipes();
  t.equal(await run(['balance'], at(url, outputs)), EXIT.winner);
  t.match(texts.out, '$12.34 to spend, $0.66 spent\n$5.00 held back until a card payment has settled\nAdd funds: ');
  t.match(asked[0], { path: '/api/mcp', body: { params: { name: 'get_balance' } } });
  await run(['balance', '--json'], terminal({ env: { EP_URL: url, EP_SESSION: 's' } }));
  t.equal(asked[1]?.path, '/api/balance');
  const streamed = await serve(t, (_asked, response) => {
    const message = { jsonrpc: '2.0', id: 1, result: { structuredContent: balance } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  });
  t.equal(await run(['balance'], at(streamed.url)), EXIT.winner, 'a stream with the answer in it');
  const refusal = { isError: true, content: [{ type: 'text', text: '{"error":"No.","code":"rate_limited"}' }] };
  const busy = await serve(t, () => ({ jsonrpc: '2.0', id: 1, result: refusal }));
  const second = pipes();
  await run(['balance'], at(busy.url, second));
  t.equal(second.texts.err, 'eloquentpoll: No.\n');
});

t.test('keys are listed, created and revoked', async (t) => {
  const id = '0e8c5c9e-0000-4000-8000-000000000001';
  const key = { id, key_prefix: 'ep_k_AbCdE', label: 'lap\x1b[2Jtop', created_at: '2026-11-20T10:11:12.000Z' };
  const limits = { limit_usd: null, read_only: true, spent_month_usd: 0 };
  const listed = { ...key, ...limits, last_used_at: null, expires_at: null, revoked_at: null };
  const { url, asked } = await serve(t, ({ method }) =>
    method === 'GET' ? [listed] : method === 'POST' ? { ...key, key: 'ep_k_AbCdEf', warning: '' } : { revoked: true },
  );
  const { texts, ...outputs } = pipes();
  await run(['keys'], at(url, outputs));
  t.equal(
    texts.out,
    `${id}  ep_k_AbCdE…  made 2026-11-20  never used       reads only  $0.00 this month          lap [2Jtop\n`,
  );
  const made = pipes();
  await run(['keys', 'create', 'laptop'], at(url, made));
  t.equal(made.texts.out, 'ep_k_AbCdEf\n', 'the key alone, for a pipe');
  t.same(asked.at(-1)?.body, { label: 'laptop' });
  for (const name of [id, 'ep_k_AbCdEfGhI']) {
    t.equal(await run(['keys', 'revoke', name], at(url)), EXIT.winner);
    t.match(asked.at(-1), { method: 'DELETE', path: `/api/keys/${id}` });
  }
  const none = pipes();
  t.equal(await run(['keys', 'revoke', 'ep_k_other'], at(url, none)), EXIT.usage);
  t.match(none.texts.err, 'None of your active keys begins with this.');
});

t.test('the key of the service that runs here goes to no other service', async (t) => {
  const { url, asked } = await serve(t, () => []);
  await run(['keys'], terminal({ env: { EP_URL: url }, localKey: { siteUrl: url, key: 'ep_k_local' } }));
  t.equal(asked[0]?.headers.authorization, 'Bearer ep_k_local');
  const elsewhere = terminal({ env: { EP_URL: url }, localKey: { siteUrl: 'http://localhost:1', key: 'ep_k_local' } });
  t.equal(await run(['keys'], elsewhere), EXIT.refused);
  t.equal(asked.length, 1);
});

t.test('polls lists what the account asked, and says how to go on', async (t) => {
  const poll = {
    session_id: 'ps_0123456789abcdefghjkmnpq',
    status: 'completed',
    result_id: 'EP-2026-11-20-0123456789abcdef',
    question: 'Which is larger?\u202e',
    preset: 'fast',
    metadata: { customer: '42' },
    key_id: null,
    winning_option: 'The Sun',
    is_tie: false,
    is_close: true,
    cost_usd: 0.0042,
    created_at: '2026-11-20T12:00:00.000Z',
    ended_at: '2026-11-20T12:00:01.000Z',
  };
  const page = { polls: [poll], has_more: true, after: poll.session_id, before: null };
  const { url, asked } = await serve(t, () => page);
  const { out, err, texts } = pipes();
  const argv = ['polls', '--close', '--metadata', 'customer=42', '--status', 'completed', '--limit', '1'];
  t.equal(await run(argv, at(url, { out, err })), EXIT.winner);
  t.equal(
    texts.out,
    '2026-11-20 12:00  ps_0123456789abcdefghjkmnpq  completed  $0.0042    The Sun (close)  Which is larger?\n',
  );
  t.match(
    texts.err,
    `eloquentpoll polls --limit 1 --status completed --close --metadata customer=42 --after ${poll.session_id}`,
    'with the filters that were given',
  );
  t.equal(asked[0]!.path, '/api/polls?limit=1&status=completed&close=true&metadata%5Bcustomer%5D=42');
});

t.test('cancel stops a running poll, and says what that came to', async (t) => {
  const session = { session_id: 'ps_1', status: 'completed', result_id: 'EP-1', status_url: 'x', result_url: 'y' };
  const { url, asked } = await serve(t, () => session);
  const { out, err, texts } = pipes();
  t.equal(await run(['cancel', 'ps_1'], at(url, { out, err })), EXIT.winner);
  t.match(texts.out, /^The poll has ended with the votes received so far/);
  t.match(asked, [{ method: 'POST', path: '/api/polls/ps_1/cancel' }]);
  t.equal(await run(['cancel'], at(url, { out, err })), EXIT.usage);
});
