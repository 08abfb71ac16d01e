import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { requireEnv } from '@eloquentpoll/testkit/require-env';
import t from 'tap';
import { waitOfTool } from '../src/day/activities/agents.ts';
import { ArrivalRate } from '../src/day/arrival-rate.ts';
import { caller, type DayCall } from '../src/day/call.ts';
import type { DayUser } from '../src/day/day-user.ts';
import { Diary } from '../src/day/diary.ts';
import { drawBoard } from '../src/day/draw-board.ts';
import { inUnit } from '../src/day/draw-panel.ts';
import { DurationHistogram } from '../src/day/duration-histogram.ts';
import { HOURS, hoursAt } from '../src/day/hours.ts';
import { type JudgedAnswer, type PollOfDay, problemsOf } from '../src/day/judge-answer.ts';
import { liveDay } from '../src/day/live-day.ts';
import { openReceiver } from '../src/day/receiver.ts';
import { recordQuestions } from '../src/day/recorded-questions.ts';
import type { DaySample } from '../src/day/timeline.ts';
import { boundsOfDay } from '../src/day/verdict.ts';
import { runExperiment } from '../src/fixture/experiment.ts';
import { surelyGrew } from '../src/fixture/linear-fit.ts';
import { namedPanel } from '../src/fixture/voting-panel.ts';
import { silent } from '../src/terminal/progress.ts';

// slow: 9 s

// The day that `npm run day` lives, for two seconds of it; and that its judge, its fit and its pace notice what is wrong.

const questions = recordQuestions('test', 50);

/** What the first models of the panel make of a question, as the service would answer it. */
function answered(number: number, voters: number): { poll: PollOfDay; answer: JudgedAnswer } {
  const asked = questions.ask(number, 'test');
  const votes = questions.models.slice(0, voters).map((model_id) => {
    const chosen_option = questions.voteOf(model_id, asked.question);
    const isVote = chosen_option !== null;
    return {
      model_id,
      success: isVote,
      chosen_option,
      estimated_cost: isVote ? 0.001 : 0,
      error: isVote ? null : 'refusal',
    };
  });
  const counts = asked.options.map((option) => votes.filter(({ chosen_option }) => chosen_option === option).length);
  const most = Math.max(...counts);
  const leaders = asked.options.filter((_, i) => counts[i] === most);
  const winner = leaders.length === 1 ? leaders[0]! : null;
  const second = counts.toSorted((a, b) => b - a)[1]!;
  const failed = votes.filter(({ success }) => !success).length;
  return {
    poll: { asked, panel: namedPanel(votes.map(({ model_id }) => model_id)) },
    answer: {
      ...asked,
      poll_id: 'EP-test',
      status: failed > 0 && failed >= most - second ? 'partial' : 'success',
      ...{ winning_option: winner, is_tie: winner === null, outcome: winner ?? 'tie' },
      ...{ termination_reason: 'roster_exhausted', early_terminated: false, models_skipped: 0 },
      ...{ confidence_threshold: 0.95, max_cost_usd: 1, confidence: winner === null ? null : 0.97 },
      tally: Object.fromEntries(asked.options.map((option, i) => [option, counts[i]!])),
      votes,
      costs: { total_estimated_cost: votes.reduce((sum, { estimated_cost }) => sum + estimated_cost, 0) },
    },
  };
}

t.test('a right answer passes, and each way to be wrong is noticed', async (t) => {
  for (let number = 0; number < 50; number++) {
    const { poll, answer } = answered(number, 7);
    t.same(problemsOf(questions, poll, answer), [], poll.asked.question);
  }
  const { poll, answer } = answered(
    Array.from({ length: 50 }, (_, i) => i).find((i) => {
      const { answer } = answered(i, 7);
      return answer.winning_option !== null && answer.votes.every(({ success }) => success);
    })!,
    7,
  );
  const [first, ...others] = answer.votes;
  const other = poll.asked.options.find((option) => option !== first!.chosen_option)!;
  const { confidence: _, ...unsure } = answer;
  const stranger = { ...first!, model_id: questions.models.at(-1)! };
  const wrong: [Partial<JudgedAnswer>, RegExp][] = [
    [{ votes: [{ ...first!, success: true, chosen_option: other }, ...others] }, /the answer says/],
    [{ votes: [...answer.votes, first!] }, /voted twice/],
    [{ votes: [stranger, ...others] }, /voted, asked were/],
    [{ votes: others }, /skips 0 of 7 with 6 votes/],
    [{ winning_option: null }, /elects null/],
    [{ is_tie: true }, /is a tie/],
    [{ tally: {} }, /has the tally/],
    [{ status: 'failed' }, /is a failed/],
    [{ status: 'partial' }, /is a partial/],
    [{ models_skipped: 9, early_terminated: true, termination_reason: 'mathematical_lock' }, /is locked|skips 9/],
    [{ termination_reason: 'confidence', confidence: 0.5 }, /stopped at confidence 0.5/],
    [{ termination_reason: 'confidence', confidence: null }, /its confidence is null/],
    [{ confidence: null }, /its confidence is null/],
    [{ models_skipped: 1, early_terminated: true }, /skips 1 of 7/],
    [{ termination_reason: 'whim' }, /stopped by whim/],
    [{ termination_reason: null }, /gives no reason/],
    [{ costs: { total_estimated_cost: 0.5 } }, /it costs 0.5/],
    [{ max_cost_usd: 0.0001 }, /of at most 0.0001/],
    [{ question: 'Another?' }, /another question/],
  ];
  for (const [change, problem] of wrong)
    t.match(problemsOf(questions, poll, { ...answer, ...change }).join('\n'), problem);
  t.match(problemsOf(questions, poll, unsure).join(), /its confidence is undefined/, 'an owner reads the confidence');
  const { costs: __, ...shared } = unsure;
  t.same(problemsOf(questions, poll, shared), [], 'who reads a shared result may do without');
  t.match(
    problemsOf(questions, poll, { ...shared, termination_reason: 'confidence' }).join(),
    /confidence is undefined/,
  );
  t.same(problemsOf(questions, { ...poll, isCanceled: true }, { ...answer, termination_reason: null }), []);
});

t.test(
  'a lock beside failed models is partial where they and the models left could have changed the winner',
  async (t) => {
    const { poll, answer } = answered(
      Array.from({ length: 50 }, (_, i) => i).find(
        (i) => new Set(answered(i, 7).answer.votes.map(({ chosen_option: option }) => option)).size === 1,
      )!,
      7,
    );
    const votes = answer.votes.slice(0, 5).map((vote, i) => (i < 2 ? failedVote(vote.model_id, 'refusal') : vote));
    const tally = { ...answer.tally, [answer.winning_option!]: 3 };
    const locked = {
      ...answer,
      votes,
      tally,
      models_skipped: 2,
      early_terminated: true,
      termination_reason: 'mathematical_lock',
    };
    const { costs: _, ...shared } = locked;
    const partial = { ...shared, status: 'partial' };
    t.same(problemsOf(questions, poll, partial), []);
    t.match(problemsOf(questions, poll, { ...partial, confidence: 1 }), [/partial and has confidence 1/]);
    t.match(problemsOf(questions, poll, { ...shared, status: 'success' }).join(), /is a success with/);
  },
);

const failedVote = (model_id: string, error: string) => ({
  model_id,
  success: false,
  chosen_option: null,
  estimated_cost: 0,
  error,
});

t.test('a webhook that comes before its secret is judged when it is known, or at the end', async (t) => {
  const diary = new Diary();
  await using receiver = await openReceiver(diary, 2);
  const send = (id: string, secret: string, owner: string) => {
    const body = JSON.stringify({ data: { session_id: `session of ${id}` } });
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    const signature = createHmac('sha256', key).update(`${id}.1.${body}`).digest('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': '1', 'webhook-signature': `v1,${signature}` };
    return fetch(receiver.urlFor(owner), { method: 'POST', headers, body });
  };
  const [known, late, never] = ['one', 'two', 'three'].map(
    (text) => `whsec_${Buffer.from(text).toString('base64')}`,
  ) as [string, string, string];
  receiver.learnSecret('first', known);
  for (const id of ['a', 'b', 'c']) receiver.expectPoll(`session of ${id}`);
  await send('a', known, 'first');
  await send('b', late, 'second');
  await send('c', never, 'third');
  t.match(receiver.figures(), { received: 1, missing: ['session of b', 'session of c'] });
  receiver.learnSecret('second', late);
  t.match(receiver.figures(), { received: 2, missing: ['session of c'] });
  t.same(diary.wrong, [], 'nothing is wrong while a secret may still come');
  receiver.settle();
  t.match(diary.wrong, [/c to third is not signed/]);
  receiver.settle();
  t.equal(diary.wrongCount, 1, 'it is called wrong once');
  await send('d', late, 'first');
  receiver.settle();
  t.match(diary.wrong[1], /d to first is not signed/, 'a secret counts only for its own account or endpoint');
  for (let i = 0; i <= 2; i++) await send(`${i}`, never, 'many');
  t.equal(diary.wrongCount, 3, 'beyond the bound the oldest is called wrong at once');
  t.match(diary.wrong[2], / 0 to many /);
});

t.test(
  'a request that is refused for a moment is repeated where that does nothing twice; other refusals are wrong',
  async (t) => {
    const asked: { to: string; key: string | undefined; network: string | undefined }[] = [];
    const refusals = new Map<string, number>();
    const server = createServer((request, response) => {
      const to = request.url!.slice(1);
      const [key, network] = ['idempotency-key', 'x-forwarded-for'].map((name) => request.headers[name]?.toString());
      asked.push({ to, key, network });
      const left = refusals.get(to) ?? 0;
      refusals.set(to, left - 1);
      if (left > 0) response.writeHead(503, to === 'silent' ? {} : { 'retry-after': to === 'long' ? '600' : '0' });
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const said: string[] = [];
    const diary = new Diary((line) => said.push(line));
    const call = caller([`http://127.0.0.1:${Object(server.address()).port}`], diary);
    const by = { name: 'a', key: 'ep_a', cookie: '' } as DayUser;
    const sent = async (to: string, refused: number, more: Partial<DayCall> = {}) => {
      refusals.set(to, refused);
      asked.length = 0;
      const { status } = await call({ way: to, path: `/${to}`, by, ...more });
      return [status, asked.length];
    };
    const ask = { body: { question: 'Which?' } };
    t.same(await sent('read', 2), [200, 3]);
    t.same(await sent('api/poll', 1, ask), [200, 2]);
    t.ok(asked[0]!.key && asked[0]!.key === asked[1]!.key, 'by the same key');
    const own = asked[0]!.key;
    await sent('api/poll', 0, ask);
    t.not(asked[0]!.key, own, 'and another poll has another');
    t.same(await sent('api/poll', 0, { ...ask, headers: { 'idempotency-key': 'mine' } }), [200, 1]);
    t.equal(asked[0]!.key, 'mine');
    t.same(await sent('api/keys', 1, ask), [503, 1], 'what may be done twice is not repeated');
    t.same([diary.refusedCount, diary.wrong], [4, []]);
    t.same(await sent('silent', 1), [503, 1]);
    t.same(await sent('long', 1), [503, 1]);
    t.same(await sent('always', 100), [503, 6]);
    t.same(
      [diary.refusedCount, diary.wrongCount],
      [10, 3],
      'without Retry-After, for long, and for as long as one asks',
    );
    t.match(said, [/^[\d:]{8} wrong: silent: GET \/silent was answered 503/, / wrong: long: /, / wrong: always: /]);
    t.same(await sent('meant', 1, { expect: [503] }), [503, 1]);
    t.equal(diary.wrongCount, 3);
    t.equal(asked[0]!.network, undefined, 'an account is known by its key');
    const networks = [];
    for (let person = 0; person < 3; person++) {
      t.same(await sent('read', 1, { by: null }), [200, 2]);
      t.equal(asked[0]!.network, asked[1]!.network, 'a person asks again from where they asked before');
      networks.push(asked[0]!.network);
    }
    t.equal(new Set(networks).size, 3, 'people without an account come from different networks');
  },
);

t.test('agents repeat what is refused for a moment and names no poll, also where the status is 200', async (t) => {
  const refusal = {
    code: 'service_unavailable',
    retryable: true,
    recovery: [{ action: 'back_off', after_seconds: 0 }],
  };
  const left: { status: number; error: object }[] = [];
  let asked = 0;
  const server = createServer((_, response) => {
    asked += 1;
    const next = left.shift();
    response.writeHead(next?.status ?? 200, { 'retry-after': '0' });
    const result = { isError: true, content: [{ type: 'text', text: JSON.stringify(next?.error) }] };
    response.end(JSON.stringify({ result: next ? result : {} }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const diary = new Diary();
  const call = caller([`http://127.0.0.1:${Object(server.address()).port}`], diary);
  const sent = async (status: number, errors: object[], more: Partial<DayCall> = {}) => {
    left.push(...errors.map((error) => ({ status, error })));
    asked = 0;
    const asking = { asksWithoutKey: true, waitSaidIn: waitOfTool, ...more };
    const { isExpected } = await call({ way: 'agent', path: '/api/mcp', body: {}, ...asking });
    left.length = 0;
    return [isExpected, asked];
  };
  t.same(await sent(200, [refusal, refusal]), [true, 3], 'a tool');
  t.same(await sent(503, [refusal]), [true, 2], 'a task or a completion');
  t.same([diary.refusedCount, diary.wrong], [3, []]);
  t.same(
    await sent(200, [{ ...refusal, session_id: 'ps_a' }]),
    [false, 1],
    'what may have made a poll is not repeated',
  );
  t.same([diary.refusedCount, diary.wrong], [4, []]);
  t.same(await sent(200, Array(6).fill(refusal)), [false, 6]);
  t.match([diary.refusedCount, diary.wrong], [10, [/agent: POST \/api\/mcp was answered 200: .*back_off/]]);
  for (const stands of [
    { ...refusal, retryable: false },
    { ...refusal, recovery: [] },
    { ...refusal, recovery: [{ action: 'back_off', after_seconds: 600 }] },
  ])
    t.same(await sent(200, [stands]), [true, 1], 'and the judge sees the error');
  t.equal(diary.refusedCount, 10);
});

t.test('what cannot be counted at the moment, and a long answer that is cut off, is asked for again', async (t) => {
  const left: number[] = [];
  const server = createServer((_, response) => {
    const status = left.shift() ?? 200;
    response.writeHead(status === 0 ? 200 : status, { 'retry-after': '0' });
    response.write('{"type":');
    if (status === 0) setImmediate(() => response.destroy());
    else response.end('"account"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const diary = new Diary();
  const call = caller([`http://127.0.0.1:${Object(server.address()).port}`], diary);
  left.push(429, 429);
  const free = await call({ way: 'free', path: '/api/quick-poll', body: {}, asksWithoutKey: true });
  t.same([free.isExpected, left.length, diary.refusedCount, diary.wrong], [true, 0, 2, []]);
  left.push(0);
  const whole = await call({ way: 'export', path: '/api/export', mayBeCutOff: true });
  t.same([whole.value, left.length, diary.refusedCount, diary.wrong], [{ type: 'account' }, 0, 3, []]);
  left.push(0);
  t.equal((await call({ way: 'page', path: '/pricing' })).status, 0);
  t.match(diary.wrong, [/page: GET \/pricing was not answered/], 'no other answer may be');
});

t.test('growth is found through noise, and noise is no growth', async (t) => {
  const points = (of: (i: number) => number) => Array.from({ length: 20 }, (_, i) => [i, of(i)] as const);
  const noise = (i: number) => 100 + 3 * Math.sin(i * 7.1);
  t.equal(surelyGrew(points(noise)), 0);
  t.ok(surelyGrew(points((i) => noise(i) + i)) > 0.1);
  t.equal(surelyGrew(points((i) => noise(i) - i)), 0, 'what shrinks does not grow');
});

t.test('the pace settles where the machine is as busy as it should be', async (t) => {
  const pace = new ArrivalRate(1);
  for (let step = 0; step < 60; step++) pace.adjust(Math.min(1, pace.perSecond / 50), 0.6);
  t.ok(Math.abs(pace.perSecond - 30) < 1, `${pace.perSecond}`);
  const before = pace.perSecond;
  pace.adjust(0.2, 0.6, 1);
  t.equal(pace.perSecond, before, 'a machine that others fill up is given no more');
  t.equal(HOURS.reduce((sum, { share }) => sum + share, 0).toFixed(6), '1.000000');
  t.equal(
    HOURS.reduce((sum, { share, load }) => sum + share * load, 0).toFixed(2),
    '1.00',
    'the day is as busy as it should be',
  );
  t.same([hoursAt(0).name, hoursAt(0.3).name, hoursAt(1).name], ['night', 'rush', 'evening batch']);
});

t.test('quantiles of long days, units, and a picture that is well-formed', async (t) => {
  const times = new DurationHistogram();
  for (let ms = 1; ms <= 1_000; ms++) times.add(ms);
  for (const [q, ms] of [
    [0.5, 500],
    [0.99, 990],
  ] as const)
    t.ok(Math.abs(times.quantile(q)! / ms - 1) < 0.06);
  t.equal(new DurationHistogram().quantile(0.5), null);
  t.same([inUnit(0.25, 's'), inUnit(0.5, 'percentunit'), inUnit(12_345, 'short')], ['250 ms', '50 %', '12K']);
  const line = {
    name: 'a <b>',
    points: [
      [0, 1],
      [60, 3],
    ] as const,
  };
  const panels = [true, false].map((isStacked) => ({ title: 'T & U', unit: 'short', isStacked, lines: [line, line] }));
  const svg = drawBoard('Day', 'of a test', [{ title: 'S', panels }], { from: new Date(0), to: new Date(60_000) });
  t.match(svg, 'T &#38; U');
  t.notMatch(svg, /<b>|NaN|undefined/);
  t.equal(svg.match(/<g /g)?.length, svg.match(/<\/g>/g)?.length);
});

/** Two hours in which memory grows by half until the rush hour is over, and by this share after it. */
const longDay = (last: DaySample, after: number): DaySample[] =>
  Array.from({ length: 121 }, (_, minute) => {
    const share = minute / 121;
    const grown = share < 0.45 ? 1 + share : 1.5 + after * (share - 0.45);
    const processes = last.processes.map((one) => ({ ...one, rssBytes: 2e8 * grown }));
    return { ...last, atS: minute * 60, hours: hoursAt(share).name, processes };
  });

t.test('two seconds of a day: everything is answered, right, and paid for', async (t) => {
  const servers = { databaseUrl: requireEnv('TEST_DATABASE_URL'), redisUrl: requireEnv('TEST_REDIS_URL') };
  const plan = {
    ...{ minutes: 2 / 60, load: 0.5, seed: 'test', people: { byWallet: 1, byLogin: 1 }, instances: 1 },
    ...{ sampleEveryMs: 500, scrapeEveryS: 0, browserEveryMs: 0 },
  };
  const { signal } = new AbortController();
  await runExperiment(servers, signal, async ({ group }) => {
    const day = await liveDay(plan, { group, servers, signal, progress: silent });
    t.same(day.diary.wrong, []);
    t.match(day.end, { running: 0, openHolds: 0, violations: { length: 0 }, accounts: 2 });
    t.ok(day.end.polls > 0 && day.end.chargedU > 0 && day.samples.length > 0);
    t.ok(
      day.end.stopped.some(({ costU, stoppedU }) => costU > 0 && stoppedU <= costU),
      'shares of stopped calls',
    );
    const bounds = boundsOfDay(day, null);
    t.match(bounds[0], { holds: true, says: /every answer is right/ });
    t.match(bounds[1], { holds: true, says: /models fail where/ });
    t.match(bounds[2], { holds: true, says: /refused for a moment/ });
    day.diary.refusedCount = 1_000;
    t.match(boundsOfDay(day, null)[2], { holds: false, found: /^1,000 of / });
    day.diary.refusedCount = 0;
    t.ok(day.diary.votes > 0, 'votes were compared with the record of the provider');
    const grown = (after: number) =>
      boundsOfDay({ ...day, samples: longDay(day.samples.at(-1)!, after) }, null).find(({ says }) =>
        says.startsWith('resident memory after the rush hour of gateway-1'),
      );
    t.match(grown(0), { holds: true }, 'what the busiest hour takes is kept');
    t.match(grown(0.2), { holds: false }, 'and what grows after it is found');
    const beside = (others: number) => {
      const samples = longDay(day.samples.at(-1)!, 0).map((one) => ({ ...one, busy: 0.6, machine: 0.6 + others }));
      return boundsOfDay({ ...day, samples }, null).find(({ says }) => says.startsWith('other programs'));
    };
    t.match([beside(0.09), beside(0.11)], [{ holds: true }, { holds: false, found: '11.0 %' }]);
    const broken = boundsOfDay(
      { ...day, end: { ...day.end, openHolds: 1 } },
      { rules: 1, fired: ['X'], pending: [], failing: [] },
    );
    const ruleless = boundsOfDay(day, { rules: 0, fired: [], pending: [], failing: [] });
    t.match(
      ruleless.find(({ says }) => /alarms/.test(says)),
      { holds: false },
      'without rules there are no alarms to fire',
    );
    t.same(
      broken.filter(({ says }) => /ledger|alarms/.test(says)).map(({ holds }) => holds),
      [false, false],
    );
  });
});
