import { balanceOf, FREE_POOL } from '@eloquentpoll/storage';
import t from 'tap';
import { build } from '../fixtures/build.ts';
import { standInWorker, type WorkerBehaviour } from '../fixtures/stand-in-worker.ts';

// slow: 4 s

const BODY = { q: 'Which of these is the best?', o: ['A', 'B', '__proto__'] };

for (const [name, opinion, expected] of [
  // [§2.15-quick-answer]
  [
    'a majority',
    (seat: number) => (seat < 4 ? 2 : 0),
    { answer: '__proto__', reasoning: '80% confidence after 5 variants' },
  ],
  [
    'a tie',
    (seat: number) => (seat < 4 ? seat % 2 : null),
    { answer: null, reasoning: 'No winner: tie at 50% after 4 variants' },
  ],
  ['no votes', () => null, { answer: null, reasoning: 'No successful votes from 5 variants' }],
] as const)
  t.test(`[§4.1-rule-reasoning] ${name}`, async (t) => {
    const { app, context, keyWith } = await build(t);
    await standInWorker(t, context, { opinion });
    const free = await app.inject({ method: 'POST', url: '/api/quick-poll', payload: BODY });
    t.match([free.statusCode, free.json()], [200, { ...expected, cost: 0, theme: 'free', poll_id: /^EP-/ }]);
    const { bearer, accountId } = await keyWith(1);
    const payload = { ...BODY, theme: 'fast' };
    const paid = await app.inject({ method: 'POST', url: '/api/quick-poll', headers: bearer, payload });
    const balance = await balanceOf(context.storage, accountId);
    t.match([paid.statusCode, paid.json()], [200, { ...expected, cost: Number(balance?.usageU) / 1_000_000 }]);
    t.equal(balance?.heldU, 0n);
  });

t.test('[§4.1-poll-500, §7-500-execution] a poll that was given up is 500 and costs nothing', async (t) => {
  const { app, context } = await build(t);
  const behaviour: WorkerBehaviour = { buries: true };
  await standInWorker(t, context, behaviour);
  const ask = () =>
    app.inject({ method: 'POST', url: '/api/quick-poll', headers: { 'idempotency-key': 'k' }, payload: BODY });
  const answer = await ask();
  t.match([answer.statusCode, answer.json().code], [500, 'poll_execution_failed']);
  t.match(await balanceOf(context.storage, FREE_POOL), { heldU: 0n, usageU: 0n });
  behaviour.buries = false;
  t.equal((await ask()).statusCode, 200, 'and its Idempotency-Key is free again: what was not charged is not kept');
});
