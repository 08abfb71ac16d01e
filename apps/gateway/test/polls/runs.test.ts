import { randomUUID } from 'node:crypto';
import { newPollId } from '@eloquentpoll/polls';
import { findPoll } from '@eloquentpoll/storage';
import t from 'tap';
import { build, type Gateway } from '../fixtures/build.ts';
import { takePoll } from '../fixtures/hand-worker.ts';
import { stored } from '../fixtures/stored.ts';

// slow: 3 s

const POLL = { question: 'Which of these is the best choice?', options: ['A', 'B'] };

const TEN = { windows: [{ limit: 10, seconds: 3600 }], withoutRedis: 'local' } as const;

const gateway = await build(t);
const { app, context, keyWith } = gateway;
const { bearer, accountId } = await keyWith(100);

const post = (payload: object, headers: object = bearer) =>
  app.inject({ method: 'POST', url: '/api/polls', headers: { ...headers }, payload });
const read = (id: string, what: 'status' | 'result', headers: object = bearer) =>
  app.inject({ url: `/api/polls/${id}/${what}`, headers: { ...headers } });
const begin = async (payload: object = POLL): Promise<string> => (await post(payload)).json().session_id;

t.test(
  '[§2.11-session-id, §2.11-status, §2.11-result-id, §2.11-status-url, §2.11-result-url, §3.2-create-202, §4.1-polls-202] a run starts at once',
  async (t) => {
    const answer = await post({ ...POLL, surface: 'ignored', status: 'completed' });
    t.equal(answer.statusCode, 202);
    const session = answer.json();
    const { session_id: id } = session;
    t.match(id, /^ps_[0-9a-z]{24}$/);
    t.same(session, {
      session_id: id,
      status: 'running',
      result_id: null,
      status_url: `https://polls.example/api/polls/${id}/status`,
      result_url: `https://polls.example/api/polls/${id}/result`,
    });
    t.equal(answer.headers.location, session.status_url);
    t.equal(answer.headers['retry-after'], '1');
    t.match(await findPoll(context.storage, id), { accountId, entryPoint: 'polls', status: 'running' });
    for (const url of [session.status_url, session.result_url]) {
      const followed = await app.inject({ url: new URL(url).pathname, headers: bearer });
      t.match(followed.json(), { session_id: id, status: 'running' });
    }
  },
);

t.test('[§A6-deadline] a poll has to end within two minutes, a fast one within 45 seconds', async (t) => {
  for (const [preset, seconds] of [
    ['broad', 120],
    ['strong', 120],
    ['fast', 45],
  ] as const) {
    const { createdAt, deadlineAt } = (await findPoll(context.storage, await begin({ ...POLL, preset })))!;
    t.equal((deadlineAt.getTime() - createdAt.getTime()) / 1_000, seconds, preset);
  }
});

t.test(
  '[§4.1-polls-preset, §4.1-polls-confidence-threshold, §4.1-polls-max-cost-usd] the terms of a run are those of its request',
  async (t) => {
    for (const preset of ['broad', 'fast', 'strong']) {
      const id = await begin({ ...POLL, preset, confidence_threshold: 0.5, max_cost_usd: 0.25 });
      const poll = await findPoll(context.storage, id);
      t.match(poll?.spec, { panel_name: preset, confidence_threshold: 0.5, max_cost_u: 250_000 });
    }
  },
);

t.test(
  '[§4.1-polls-400, §4.1-polls-401, §4.1-polls-402, §4.1-polls-question-required, §4.1-polls-options-required] what is refused leaves nothing behind',
  async (t) => {
    const poor = await keyWith(0);
    const before = await stored(context);
    for (const [payload, status, code] of [
      [{ options: ['A', 'B'] }, 400, 'validation_error'],
      [{ prompt: POLL.question, options: ['A', 'B'] }, 400, 'validation_error'],
      [{ question: POLL.question }, 400, 'validation_error'],
      [{ ...POLL, options: ['A'] }, 400, 'validation_error'],
      [{ ...POLL, options: ['A', ' A '] }, 400, 'validation_error'],
      [{ ...POLL, question: 'too short' }, 400, 'validation_error'],
      [{ ...POLL, confidence_threshold: '0.5' }, 400, 'validation_error'],
      [{ ...POLL, max_cost_usd: 0 }, 400, 'validation_error'],
      // A caller of a dry run must never be billed.
      [{ ...POLL, dry_run: true }, 400, 'validation_error'],
      [{ ...POLL, preset: 'slow' }, 400, 'invalid_preset'],
    ] as const) {
      const answer = await post(payload);
      t.match([answer.statusCode, answer.json().code], [status, code], JSON.stringify(payload));
    }
    t.equal((await post(POLL, {})).json().code, 'authentication_required');
    t.equal((await post(POLL, { authorization: 'Bearer unknown' })).json().code, 'invalid_api_key');
    t.equal((await post(POLL, poor.bearer)).json().code, 'insufficient_balance');
    t.same(await stored(context), before);
  },
);

t.test(
  '[§4.1-status-200, §4.1-result-202, §3.2-running-202, §6-async-progress] while a poll runs its status has its progress',
  async (t) => {
    const id = await begin();
    const queued = await read(id, 'status');
    t.same([queued.statusCode, queued.json()], [200, { session_id: id, status: 'running', result_id: null }]);
    const worker = await takePoll(context, id);
    await worker.open();
    await worker.vote();
    await worker.vote(null);
    const running = await read(id, 'status');
    const total = worker.claim.spec.seats.length;
    t.same(running.json(), {
      session_id: id,
      status: 'running',
      result_id: null,
      progress: { received: 2, succeeded: 1, failed: 1, total },
    });
    t.match(running.headers, { 'retry-after': '1', 'cache-control': 'private, no-cache', etag: '"2"' });
    const result = await read(id, 'result');
    t.equal(result.statusCode, 202);
    t.equal(result.headers['retry-after'], '1');
    t.same(result.json(), {
      session_id: id,
      status: 'running',
      status_url: `https://polls.example/api/polls/${id}/status`,
    });
  },
);

t.test(
  '[§4.1-result-200, §3.2-completed-200, §3.2-terminal] a completed run has its result, with and without its Redis record',
  async (t) => {
    const id = await begin();
    const worker = await takePoll(context, id);
    await worker.vote();
    const response = await worker.end();
    const expected = { session_id: id, status: 'completed', result_id: response.poll_id };
    for (let i = 0; i < 3; i++) {
      const status = await read(id, 'status');
      t.same(status.json(), expected);
      t.equal(status.headers.etag, '"completed"');
      t.notOk(status.headers['retry-after']);
      const result = await read(id, 'result');
      t.equal(result.statusCode, 200);
      t.same(result.json(), response);
      await context.bus.runs.open(id, 7, accountId, worker.running());
    }
  },
);

t.test(
  '[§4.1-result-422, §3.2-failed-422, §7-422-failed, §A6-failed-422] a failed run answers 422, with or without a result',
  async (t) => {
    const voteless = await begin();
    const worker = await takePoll(context, voteless);
    await worker.vote(null);
    const response = await worker.end();
    const penniless = await begin();
    const unasked = await (await takePoll(context, penniless)).end({ reason: 'budget' });
    const given = await begin();
    await (await takePoll(context, given)).bury();
    for (const [id, result_id, code] of [
      [voteless, response.poll_id, 'poll_failed'],
      [penniless, unasked.poll_id, 'budget_too_small'],
      [given, null, 'poll_failed'],
    ] as const) {
      t.same((await read(id, 'status')).json(), { session_id: id, status: 'failed', result_id });
      const result = await read(id, 'result');
      t.match([result.statusCode, result.json().code], [422, code]);
      if (code === 'budget_too_small') t.equal(result.json().min_cost_usd, unasked.min_cost_usd);
    }
  },
);

t.test(
  '[§4.1-status-401, §4.1-result-401] a run is read with a key, and a wrong key is refused before an unknown run',
  async (t) => {
    const id = await begin();
    for (const what of ['status', 'result'] as const) {
      for (const session of [id, newPollId(), 'nonsense']) {
        const none = await read(session, what, {});
        t.match([none.statusCode, none.json().code], [401, 'authentication_required']);
        const bad = await read(session, what, { authorization: 'Bearer unknown' });
        t.match([bad.statusCode, bad.json().code], [401, 'invalid_api_key']);
        t.match(bad.headers['www-authenticate'], /error="invalid_token"/);
        t.ok(bad.headers['ratelimit-limit']);
      }
    }
  },
);

t.test(
  '[§4.1-status-404, §4.1-result-404, §4.1-status-foreign-404, §7-404-not-found] what is not the caller’s is not there',
  async (t) => {
    const own = await begin();
    const ended = await begin();
    const worker = await takePoll(context, ended);
    await worker.vote();
    await worker.end();
    t.equal((await read(ended, 'status')).statusCode, 200);
    const other = await keyWith(1);
    for (const what of ['status', 'result'] as const) {
      for (const id of [own, ended]) {
        const foreign = await read(id, what, other.bearer);
        t.match([foreign.statusCode, foreign.json().code], [404, 'session_not_found']);
      }
      const unknown = await read(newPollId(), what);
      t.match([unknown.statusCode, unknown.json().code], [404, 'session_not_found']);
    }
  },
);

t.test('malformed ids reach neither Redis nor Postgres', async (t) => {
  const asked: string[] = [];
  const { briefs } = context.bus.runs;
  context.bus.runs.briefs = (ids) => {
    asked.push(...ids);
    return briefs(ids);
  };
  t.teardown(() => {
    context.bus.runs.briefs = briefs;
  });
  const good = newPollId();
  const bad = [good.slice(1), `${good}0`, good.toUpperCase(), good.replace('ps_', 'EP-'), 'ps_', "'--", '*', '%2A%0A'];
  for (const id of [...bad, `${good}%00`]) {
    const answer = await read(id, 'status');
    t.ok([400, 404].includes(answer.statusCode), `${id} is ${answer.statusCode}`);
  }
  t.same(asked, []);
  await read(good, 'status');
  t.same(asked, [good]);
});

t.test(
  '[§8-idempotency-key, §A6-idempotency-replayed, §A6-idempotency-422] a retry finds the run as it is now',
  async (t) => {
    const key = { 'idempotency-key': randomUUID() };
    const first = await post(POLL, { ...bearer, ...key });
    const { session_id: id } = first.json();
    const before = await stored(context);
    const again = await post(POLL, { ...bearer, ...key });
    t.same([again.statusCode, again.json(), again.headers['idempotent-replayed']], [202, first.json(), 'true']);
    t.equal(first.headers['idempotent-replayed'], undefined);
    t.same(await stored(context), before);
    const other = await post({ ...POLL, options: ['A', 'C'] }, { ...bearer, ...key });
    t.match([other.statusCode, other.json().code], [422, 'idempotency_key_reused']);

    const worker = await takePoll(context, id);
    await worker.vote();
    await worker.end();
    t.match((await post(POLL, { ...bearer, ...key })).json(), {
      session_id: id,
      status: 'completed',
      result_id: /^EP-/,
    });
  },
);

t.test('[§A6-idempotency-nothing-stored] a run that was given up leaves its key free', async (t) => {
  const headers = { ...bearer, 'idempotency-key': randomUUID() };
  const id = (await post(POLL, headers)).json().session_id;
  await (await takePoll(context, id)).bury();
  const again = await post(POLL, headers);
  t.equal(again.statusCode, 202);
  t.match(again.json(), { status: 'running' });
  t.not(again.json().session_id, id);
  t.equal(again.headers['idempotent-replayed'], undefined);
});

t.test('[§8-ratelimit-remaining, §7-429] reading is counted by key, however many read at once', async (t) => {
  const limited: Gateway = await build(t, { rateLimits: { ...context.config.rateLimits, session: TEN } });
  const caller = await limited.keyWith(10);
  const made = await limited.app.inject({ method: 'POST', url: '/api/polls', headers: caller.bearer, payload: POLL });
  const url = `/api/polls/${made.json().session_id}/status`;
  const answers = await Promise.all(
    Array.from({ length: 15 }, () => limited.app.inject({ url, headers: caller.bearer })),
  );
  t.same(answers.map(({ statusCode }) => statusCode).toSorted(), [...Array(10).fill(200), ...Array(5).fill(429)]);
  const left = answers.map(({ headers }) => Number(headers['ratelimit-remaining'])).toSorted((a, b) => b - a);
  t.same(left, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0]);
  const refused = answers.find(({ statusCode }) => statusCode === 429)!;
  t.match(refused.json(), { code: 'rate_limited' });
  t.ok(Number(refused.headers['retry-after']) > 0);
});
