import { newResultId } from '@eloquentpoll/polls';
import { storeFeedback } from '@eloquentpoll/storage';
import t from 'tap';
import { build, type Gateway } from '../fixtures/build.ts';
import { standInWorker } from '../fixtures/stand-in-worker.ts';

// slow: 3 s

// Feedback on outcomes: one opinion per account, counted in public, without its author.

const gateway = await build(t);
const { app, context, keyWith } = gateway;
await standInWorker(t, context);
const asker = await keyWith(5);
const pollId = await aPoll(asker);

async function aPoll({ bearer }: Awaited<ReturnType<Gateway['keyWith']>>): Promise<string> {
  const payload = { question: 'Which of the two is larger?', options: ['A', 'B'] };
  return (await app.inject({ method: 'POST', url: '/api/poll', headers: bearer, payload })).json().poll_id;
}

const give = (headers: object, payload: object | string) =>
  app.inject({ method: 'POST', url: '/api/feedback', headers: { ...headers }, payload });
const summary = async (id: string) => (await app.inject({ url: `/api/feedback/${id}` })).json();

t.test(
  '[§4.3-feedback-201, §2.12-ack-feedback-id, §2.12-ack-poll-id, §2.12-ack-recorded, §1-support-feedback] anyone who holds the id may judge, once each',
  async (t) => {
    const id = await aPoll(asker);
    const first = await give(asker.bearer, { poll_id: id, outcome_correct: true, confidence: 0.5, notes: 'a secret' });
    t.equal(first.statusCode, 201);
    t.same(first.json(), { feedback_id: first.json().feedback_id, poll_id: id, recorded: true });
    t.match(first.json().feedback_id, /^[0-9a-f-]{36}$/);

    const stranger = await keyWith(0);
    const other = await give(stranger.bearer, { poll_id: id, outcome_correct: true });
    t.not(other.json().feedback_id, first.json().feedback_id);

    const again = await give(asker.bearer, { poll_id: id, outcome_correct: false });
    t.match([again.statusCode, again.json()], [201, first.json()], 'the same id');
    t.match(await summary(id), { total_feedback: 2, correct: 1, incorrect: 1, accuracy_rate: 0.5 });
    const own = (await summary(id)).entries.find(
      (entry: { feedback_id: string }) => entry.feedback_id === first.json().feedback_id,
    );
    t.match(own, { outcome_correct: false, confidence: null }, 'and nothing of the first opinion is left');
  },
);

t.test('one key that says the same thing a hundred times at once has one voice', async (t) => {
  const id = await aPoll(asker);
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, i) => give(asker.bearer, { poll_id: id, outcome_correct: i % 2 === 0 })),
  );
  // On a busy machine some may get 503.
  const given = answers.filter(({ statusCode }) => statusCode !== 503);
  t.equal(new Set(given.map((answer) => answer.json().feedback_id)).size, 1);
  t.match(await summary(id), { total_feedback: 1, entries: { length: 1 } });
});

t.test(
  '[§4.3-summary-200, §2.12-summary-poll-id, §2.12-summary-total, §2.12-summary-correct, §2.12-summary-incorrect, §2.12-summary-accuracy-rate] the summary is public and has neither notes nor names',
  async (t) => {
    t.same(await summary(pollId), {
      poll_id: pollId,
      total_feedback: 0,
      correct: 0,
      incorrect: 0,
      accuracy_rate: null,
      entries: [],
    });
    const opinions = [true, true, false, null];
    for (const outcome_correct of opinions)
      await give((await keyWith(0)).bearer, { poll_id: pollId, outcome_correct, notes: 'whatever I noted' });
    const counted = await summary(pollId);
    t.match(counted, { total_feedback: 4, correct: 2, incorrect: 1, accuracy_rate: 2 / 3 });
    t.same(
      counted.entries.map((entry: { outcome_correct: boolean | null }) => entry.outcome_correct),
      opinions.toReversed(),
      'newest first',
    );
    for (const entry of counted.entries)
      t.same(Object.keys(entry), ['feedback_id', 'outcome_correct', 'confidence', 'created_at']);
    t.notMatch(JSON.stringify(counted), /noted/);

    for (const id of [newResultId(), 'EP-nothing', '__proto__', "'; drop table feedback"])
      t.same(await summary(encodeURIComponent(id)), { ...counted, poll_id: id, ...NOTHING }, id);
  },
);

const NOTHING = { total_feedback: 0, correct: 0, incorrect: 0, accuracy_rate: null, entries: [] };

t.test('entries are at most a hundred', async (t) => {
  const id = await aPoll(asker);
  for (let i = 0; i < 103; i++) {
    const { accountId } = await keyWith(0);
    await storeFeedback(context.storage, { accountId, resultId: id, outcomeCorrect: true, confidence: 1, notes: null });
  }
  const { total_feedback, entries } = await summary(id);
  t.same([total_feedback, entries.length], [103, 100]);
});

t.test('[§4.3-feedback-401] without a key nothing is recorded', async (t) => {
  for (const headers of [{}, { authorization: 'Bearer ep_k_nonsense' }, await gateway.sessionFor(asker.accountId)])
    t.equal((await give(headers, { poll_id: pollId, outcome_correct: false })).statusCode, 401);
});

t.test('[§4.3-feedback-404] a poll that is not known, or not ended, cannot be judged', async (t) => {
  for (const poll_id of [newResultId(), 'ps_0123456789abcdefghjkmnpq', 'x', pollId.toUpperCase()]) {
    const answer = await give(asker.bearer, { poll_id, outcome_correct: true });
    t.match([answer.statusCode, answer.json().code], [404, 'poll_not_found'], poll_id);
  }
});

t.test(
  '[§4.3-feedback-400, §2.12-poll-id-required, §2.12-outcome-correct, §2.12-confidence, §2.12-notes] what is no opinion is refused',
  async (t) => {
    for (const body of [
      {},
      [],
      'null',
      '{"poll_id":',
      { outcome_correct: true },
      { poll_id: null },
      { poll_id: 7 },
      { poll_id: '' },
      { poll_id: pollId, outcome_correct: 'true' },
      { poll_id: pollId, outcome_correct: 1 },
      { poll_id: pollId, confidence: '0.5' },
      { poll_id: pollId, confidence: 1.01 },
      { poll_id: pollId, confidence: -0.01 },
      { poll_id: pollId, notes: 5 },
      { poll_id: pollId, notes: 'x'.repeat(2001) },
      { poll_id: pollId, notes: 'a\0b' },
    ]) {
      const answer = await give({ ...asker.bearer, 'content-type': 'application/json' }, body);
      t.equal(answer.statusCode, 400, JSON.stringify(body).slice(0, 60));
    }
    const nulls = { poll_id: pollId, outcome_correct: null, confidence: null, notes: null };
    t.equal((await give(asker.bearer, nulls)).statusCode, 201, 'each of them may be null');
    t.equal((await give(asker.bearer, { poll_id: pollId, notes: 'x'.repeat(2000) })).statusCode, 201);
  },
);
