import { verifyReceipt } from '@eloquentpoll/receipts';
import { asOwner } from '@eloquentpoll/testkit/database';
import { eventually } from '@eloquentpoll/testkit/eventually';
import { keepSealing } from '@eloquentpoll/worker/receipt-seals';
import t from 'tap';
import { wholeService } from './whole-service.ts';

// slow: 3 s

// What a worker hashes when a poll ends is what a gateway signs when its receipt is read, whatever the poll came to.

const RECORDED = { 1: 'AAAAA', 2: 'AABBC', 3: 'AABB-', 4: '-----', 5: 'BBBA-', 6: 'A----' };
const service = await wholeService(t, RECORDED, {}, { RECEIPT_SIGNING_KEY: '07'.repeat(32) });
const { app, gateway, settings, headers } = service;
const get = async (url: string, more = {}) => {
  const answer = await app.inject({ url, headers: more });
  t.equal(answer.statusCode, 200, `${url}: ${answer.body.slice(0, 200)}`);
  return answer;
};

async function verified(id: string) {
  const receipt = await get(`/api/results/${id}/receipt`, headers);
  const [keys, days, result] = await Promise.all(
    ['/.well-known/jwks.json', '/api/receipts/days', `/api/results/${id}`].map(async (url) => (await get(url)).json()),
  );
  return verifyReceipt(receipt.body, { keys: keys.keys, days: days.days, result });
}

t.test('every kind of end has a receipt that holds', async (t) => {
  const polls = Object.keys(RECORDED).flatMap((id) => [
    { question: `Recorded question #${id}`, options: ['A', 'B', '__proto__'], preset: 'fast' },
    {
      question: `Recorded question #${id}`,
      options: ['A', 'B'],
      preset: 'fast',
      confidence_threshold: 0.6,
      reasons: true,
    },
    { question: `Recorded question #${id}`, options: ['A', 'B', 'C'], preset: 'fast', max_cost_usd: 0.0004 },
  ]);
  const statuses = new Set<string>();
  const reasons = new Set<string | null>();
  for (const payload of polls) {
    const answer = (await app.inject({ method: 'POST', url: '/api/poll', headers, payload })).json();
    const id = answer.poll_id ?? (await newestResult());
    const { parts, isGood, statement } = await verified(id);
    const wrong = parts.filter(({ name, state }) => state !== 'holds' && name !== 'inclusion');
    t.same(wrong, [], JSON.stringify(payload));
    t.ok(isGood);
    statuses.add(statement!.decision.status);
    reasons.add(statement!.decision.reason);
  }
  t.same([...statuses].sort(), ['failed', 'partial', 'success']);
  t.ok(reasons.has('confidence') && reasons.has('budget') && reasons.has('roster_exhausted'), [...reasons].join());
});

t.test('a partial result is not certain for its owner and the public, and its receipt says the same', async (t) => {
  // Of one vote and four refusals no order of arrival decides the poll early.
  const payload = { question: 'Recorded question #6', options: ['A', 'B'], preset: 'fast', confidence_threshold: 1 };
  const answer = (await app.inject({ method: 'POST', url: '/api/poll', headers, payload })).json();
  t.match(answer, {
    status: 'partial',
    winning_option: 'A',
    tally: { A: 1, B: 0 },
    termination_reason: 'roster_exhausted',
  });
  t.ok(Math.abs(answer.confidence - 109 / 128) < 1e-9, `${answer.confidence}`);
  t.equal(answer.timing.arrivals.at(-1).confidence, 1, 'while it ran, the failed models counted as absent');
  const { confidence, chances } = answer;
  t.match((await get(`/api/results/${answer.poll_id}`)).json(), { confidence, chances });
  const { statement, isGood } = await verified(answer.poll_id);
  t.ok(isGood);
  t.match(statement, { rule: { version: 3 }, decision: { confidence, chances } });
});

/** Of a poll that failed, whose answer is an error. */
async function newestResult(): Promise<string> {
  const newest = gateway.storage.db.selectFrom('results').select('result_id').orderBy('created_at', 'desc').limit(1);
  return (await newest.executeTakeFirstOrThrow()).result_id;
}

t.test('a worker seals the day when it is over, and logs the seal', async (t) => {
  const id = await newestResult();
  await asOwner(settings.DATABASE_URL, "update results set created_at = created_at - interval '1 day'");
  await asOwner(settings.DATABASE_URL, 'update receipt_leaves set day = day - 1');
  const logged: { day: string; seal: string }[] = [];
  const log = {
    info: (fields: object) => void logged.push(fields as (typeof logged)[0]),
    warn: () => void t.fail('nothing is warned of'),
  };
  await using sealing = keepSealing(service.worker.resources.storage, log, 20);
  t.ok(sealing);
  const [{ day, seal } = { day: '', seal: '' }] = await eventually(
    'the day is sealed',
    async () => logged.length > 0 && logged,
  );
  const { parts } = await verified(id);
  t.match(
    parts.find(({ name }) => name === 'inclusion'),
    { state: 'holds', says: new RegExp(`of ${day}, as published`) },
  );
  const [published] = (await get('/api/receipts/days')).json().days;
  t.equal(published.seal, Buffer.from(seal, 'hex').toString('base64url'));
});
