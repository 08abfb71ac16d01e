import { balanceOf, findPoll } from '@eloquentpoll/storage';
import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 8 s

const QUESTION = 'Which of these is the best choice?';

t.test(
  '[§4.1-poll-200, §4.1-poll-bearer, §5-bearer, §2.2-poll-id-form] a poll runs and answers with its stored result',
  async (t) => {
    const { app, context, keyWith } = await build(t);
    const { bearer, accountId } = await keyWith(10);
    const { ran } = await standInWorker(t, context);

    const answer = await app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: bearer,
      payload: { question: QUESTION, options: ['A', 'B'], surface: 'ignored', balance_cents: 1e9 },
    });

    t.equal(answer.statusCode, 200);
    const body = answer.json();
    t.match(body.poll_id, /^EP-\d{4}-\d\d-\d\d-[0-9a-z]{16}$/);
    t.match(body, { status: 'success', outcome: 'A', winning_option: 'A', question: QUESTION, options: ['A', 'B'] });
    t.match(body, { confidence_threshold: 0.95, max_cost_usd: 1, preset: 'broad', simulated: true, poll_type: 'fptp' });
    t.equal(body.tally.A, body.votes.length);
    t.equal(context.bus.watched(), 0, 'nothing is watched any more');

    const poll = await findPoll(context.storage, ran[0]!);
    t.notMatch(JSON.stringify(poll?.spec), /ignored|balance_cents/, 'unknown fields are not stored');
    const balance = await balanceOf(context.storage, accountId);
    t.equal(balance?.heldU, 0n);
    t.equal(balance?.usageU, BigInt(body.votes.length * 100));
  },
);

t.test('[§I2-prototype-options] options named like members of a prototype are tallied right', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  const options = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  await standInWorker(t, context, { opinion: (seat) => (seat === 0 ? 1 : 0) });
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: QUESTION, options },
  });
  t.equal(answer.statusCode, 200);
  const { tally, winning_option, votes } = answer.json();
  t.same(Object.keys(tally).sort(), options.toSorted());
  t.equal(Object.getOwnPropertyDescriptor(tally, '__proto__')?.value, votes.length - 1);
  t.equal(tally.constructor, 1);
  t.equal(tally.toString, 0);
  t.equal(winning_option, '__proto__');
});

t.test('[§2.1-prompt-alias] prompt stands for question, and must not contradict it', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  await standInWorker(t, context);
  const ask = (payload: object) => app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload });
  const options = ['A', 'B'];
  const aliased = await ask({ prompt: QUESTION, options });
  t.equal(aliased.statusCode, 200);
  t.equal(aliased.json().question, QUESTION);
  t.equal((await ask({ prompt: QUESTION, question: QUESTION, options })).statusCode, 200);
  t.equal((await ask({ prompt: QUESTION, question: `${QUESTION} Really?`, options })).statusCode, 400);
});

t.test('what is legal at the edge of a limit runs, as it was sent', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  await standInWorker(t, context);
  const good = { question: QUESTION, options: ['A', 'B'] };
  const legal: [object, object][] = [
    // [§2.1-preset-broad, §2.1-preset-fast, §2.1-preset-strong]
    [{ preset: 'broad' }, { preset: 'broad' }],
    [{ preset: 'fast' }, { preset: 'fast' }],
    [{ preset: 'strong' }, { preset: 'strong' }],
    // [§2.1-preset-default, §2.1-confidence-threshold-default, §2.1-max-cost-usd-default, §2.1-poll-type-default]
    [{}, { preset: 'broad', confidence_threshold: 0.95, max_cost_usd: 1, poll_type: 'fptp' }],
    // [§2.2-confidence-threshold, §2.2-max-cost-usd]
    [{ confidence_threshold: 0 }, { confidence_threshold: 0 }],
    [{ confidence_threshold: 1 }, { confidence_threshold: 1 }],
    [{ max_cost_usd: 0.29 }, { max_cost_usd: 0.29 }],
    [{ max_cost_usd: 25 }, { max_cost_usd: 25 }],
    [{ max_cost_usd: 0.1234567 }, { max_cost_usd: 0.1234567 }],
    // [§A6-option-text-kept, §2.2-options, §2.2-question, §A6-option-literal-tie]
    [{ question: '0123456789' }, { question: '0123456789' }],
    [{ question: 'two\nlines, \u202Eright to left' }, { question: 'two\nlines, \u202Eright to left' }],
    [{ options: [' A ', '\u{1F600}'.repeat(200)] }, { options: [' A ', '\u{1F600}'.repeat(200)], outcome: ' A ' }],
    [{ options: ['tie', 'no_votes'] }, { outcome: 'tie', winning_option: 'tie', is_tie: false }],
    [{ options: [...'0123456789'] }, { options: [...'0123456789'] }],
  ];
  for (const [more, expected] of legal) {
    const answer = await app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: bearer,
      payload: { ...good, ...more },
    });
    t.match([answer.statusCode, answer.json()], [200, expected], JSON.stringify(more).slice(0, 60));
  }
});

t.test('a lost message costs time, not the answer', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  await standInWorker(t, context, { silent: true });
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: QUESTION, options: ['A', 'B'] },
  });
  t.equal(answer.statusCode, 200);
  t.equal(answer.json().winning_option, 'A');
});

t.test('[§2.2-outcome-no-votes] a poll without a valid vote answers 200 with status failed', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer, accountId } = await keyWith(10);
  await standInWorker(t, context, { opinion: () => null });
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: QUESTION, options: ['A', 'B'] },
  });
  t.match(answer.json(), { status: 'failed', outcome: 'no_votes', winning_option: null, is_tie: false });
  t.equal((await balanceOf(context.storage, accountId))?.availableU, 10_000_000n);
});

t.test('[§7-500-execution, §4.1-poll-500] a poll that was given up answers 500 and holds nothing back', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer, accountId } = await keyWith(10);
  await standInWorker(t, context, { buries: true });
  const answer = await app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: QUESTION, options: ['A', 'B'] },
  });
  t.equal(answer.statusCode, 500);
  t.equal(answer.json().code, 'poll_execution_failed');
  t.equal((await balanceOf(context.storage, accountId))?.availableU, 10_000_000n);
});

t.test(
  '[§7-402-balance, §4.1-poll-402] a balance that does not cover the poll answers 402 and stores nothing',
  async (t) => {
    const { app, context, keyWith } = await build(t);
    const { bearer, accountId } = await keyWith(0.000001);
    const answer = await app.inject({
      method: 'POST',
      url: '/api/poll',
      headers: { ...bearer, accept: 'application/problem+json' },
      payload: { question: QUESTION, options: ['A', 'B'] },
    });
    t.equal(answer.statusCode, 402);
    t.match(answer.json(), {
      code: 'insufficient_balance',
      recovery: [{ action: 'add_funds', url: 'https://polls.example/api/deposit' }],
    });
    t.match(answer.json().detail, /may cost up to 0\.\d+ USD; the available balance is 0\.000001 USD/);
    t.equal((await balanceOf(context.storage, accountId))?.heldU, 0n);
  },
);

t.test('a caller whose gateway shuts down gets 503 with Retry-After, and its poll goes on', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  const gate = Promise.withResolvers<void>();
  const { ran } = await standInWorker(t, context, { holdUntil: gate.promise });
  const asking = app.inject({
    method: 'POST',
    url: '/api/poll',
    headers: bearer,
    payload: { question: QUESTION, options: ['A', 'B'] },
  });
  // It is watched before it is accepted; one that waits for its turn then would not be made.
  await eventually('one poll is accepted', async () => {
    const polls = await context.storage.db.selectFrom('polls').select('id').execute();
    return polls.length === 1;
  });
  context.shutdown.end();
  const answer = await asking;
  t.equal(answer.statusCode, 503);
  t.equal(answer.headers['retry-after'], '1');
  t.equal(context.bus.watched(), 0);
  gate.resolve();
  await eventually('one poll was run', () => ran.length === 1);
  t.equal((await findPoll(context.storage, ran[0]!))?.status, 'completed');
});

t.test('a caller who disconnects leaves no subscription, and the poll goes on', async (t) => {
  const { app, context, keyWith } = await build(t);
  const { bearer } = await keyWith(10);
  const gate = Promise.withResolvers<void>();
  const { ran } = await standInWorker(t, context, { holdUntil: gate.promise });
  const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/api/poll`;
  const caller = new AbortController();
  const body = JSON.stringify({ question: QUESTION, options: ['A', 'B'] });
  const headers = { ...bearer, 'content-type': 'application/json' };
  const asking = fetch(url, { method: 'POST', headers, body, signal: caller.signal });
  await eventually('one poll is watched', () => context.bus.watched() === 1);
  caller.abort();
  await t.rejects(asking);
  await eventually('no poll is watched', () => context.bus.watched() === 0);
  gate.resolve();
  await eventually('one poll was run', () => ran.length === 1);
  t.equal((await findPoll(context.storage, ran[0]!))?.status, 'completed');
});
