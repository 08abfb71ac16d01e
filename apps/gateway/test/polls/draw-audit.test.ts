import t from 'tap';
import { build } from '../fixtures/build.ts';

// slow: 3 s

const ALL = { rate: 1, laterRate: 1, rateUntil: 500, gate: 300, refreshMs: 60_000 };
const QUESTION = 'Which of these is the best choice of all?';

t.test('each account has one audit of a question and its options, however often and in whichever order', async (t) => {
  const gateway = await build(t, { audits: ALL });
  const [one, other] = [await gateway.keyWith(100), await gateway.keyWith(100)];
  const ask = async ({ bearer }: typeof one, payload: object) => {
    const body = { question: QUESTION, options: ['A', 'B'], preset: 'fast', ...payload };
    const answer = await gateway.app.inject({
      method: 'POST',
      url: '/api/polls',
      headers: { ...bearer },
      payload: body,
    });
    t.equal(answer.statusCode, 202);
    t.notMatch(answer.body, 'audit', 'callers do not see which polls are audited');
    const id: string = answer.json().session_id;
    const polls = gateway.context.storage.db.selectFrom('polls').select('audit_version');
    return (await polls.where('id', '=', id).executeTakeFirstOrThrow()).audit_version !== null;
  };
  t.ok(await ask(one, {}), 'the first poll');
  for (const again of [{}, { options: ['B', 'A'] }, { confidence_threshold: 0.5 }, { metadata: { night: '2' } }])
    t.notOk(await ask(one, again), JSON.stringify(again));
  t.ok(await ask(other, {}), 'of another account');
  t.ok(await ask(one, { options: ['A', 'C'] }), 'with other options');
  t.ok(await ask(one, { preset: 'broad' }), 'of another panel');

  const draws = await gateway.context.storage.db.selectFrom('audit_draws').selectAll().execute();
  t.equal(new Set(draws.map(({ question }) => question!.toString('hex'))).size, 4);
  for (const { question } of draws) t.equal(question!.length, 32, 'a hash, no text');
});

t.test('all polls of a question are drawn, or none, at about the rate of the setting', async (t) => {
  const gateway = await build(t, { audits: { ...ALL, rate: 0.3, laterRate: 0.3 } });
  const { bearer } = await gateway.keyWith(100);
  const POLLS = 100;
  for (let n = 0; n < POLLS; n++)
    for (let again = 0; again < 2; again++) {
      const payload = { question: `${QUESTION} (${n})`, options: ['A', 'B'], preset: 'fast' };
      await gateway.app.inject({ method: 'POST', url: '/api/polls', headers: { ...bearer }, payload });
    }
  const polls = await gateway.context.storage.db.selectFrom('polls').select('audit_version').execute();
  const audited = polls.filter(({ audit_version }) => audit_version !== null).length;
  t.equal(polls.length, 2 * POLLS);
  t.ok(Math.abs(audited - 30) < 5 * Math.sqrt(POLLS * 0.3 * 0.7), `${audited}`);
});
