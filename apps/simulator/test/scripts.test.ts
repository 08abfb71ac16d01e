import t from 'tap';
import { type Running, start, vote } from './start.ts';

// Failures come in a listed order or by seeded chance, for one model, for some, or for all.

async function outcomes(running: Running, model: string, times: number, poll?: string): Promise<string> {
  let text = '';
  for (let n = 0; n < times; n += 1) {
    const headers = poll === undefined ? {} : { headers: { 'x-poll-id': poll } };
    const answered = await running.client.chat.completions.create(vote(model), headers).catch(() => null);
    text += answered === null ? 'x' : '.';
  }
  return text;
}

t.test('steps are walked once, then the model answers', async (t) => {
  const running = await start(t);
  await running.behave('sim/oak-1', { steps: [{ kind: 'status' }, 'answer', { kind: 'reset' }] });
  t.equal(await outcomes(running, 'sim/oak-1', 6), 'x.x...');
  t.equal(await outcomes(running, 'sim/oak-2', 2), '..', 'other models are unaffected');
  await running.behave('sim/oak-1', { steps: [{ kind: 'status' }] });
  t.equal(await outcomes(running, 'sim/oak-1', 2), 'x.', 'a new script starts from its beginning');
});

t.test('steps can be walked anew in every poll', async (t) => {
  const running = await start(t);
  await running.behave('sim/oak-1', { steps: [{ kind: 'status' }], steps_per: 'poll' });
  t.equal(await outcomes(running, 'sim/oak-1', 2, 'ps_one'), 'x.');
  t.equal(await outcomes(running, 'sim/oak-1', 2, 'ps_two'), 'x.');
});

t.test('after the steps, chance takes over at the given rates', async (t) => {
  const running = await start(t, { seed: 'chance' });
  await running.behave('sim/oak-1', { steps: ['answer'], failures: [{ kind: 'status', rate: 1 }] });
  t.equal(await outcomes(running, 'sim/oak-1', 3), '.xx');
  const half = { failures: [{ kind: 'status', rate: 0.2 } as const, { kind: 'reset', rate: 0.3 } as const] };
  await running.behave('sim/oak-1', half);
  const first = await outcomes(running, 'sim/oak-1', 200);
  const failed = [...first].filter((one) => one === 'x').length;
  t.ok(failed > 70 && failed < 130, `${failed} of 200 failed`);
  await running.behave('sim/oak-1', half);
  t.equal(await outcomes(running, 'sim/oak-1', 200), first, 'the same seed fails the same calls');
});

t.test('a pattern sets many models; the more exact one decides', async (t) => {
  const running = await start(t);
  await running.behave('*', { failures: [{ kind: 'status', rate: 1 }] });
  await running.behave('sim/oak-*', { failures: [] });
  await running.behave('sim/oak-9', { failures: [{ kind: 'reset', rate: 1 }] });
  t.equal(await outcomes(running, 'sim/elm-1', 1), 'x');
  t.equal(await outcomes(running, 'sim/oak-1', 1), '.');
  t.equal(await outcomes(running, 'sim/oak-9', 1), 'x');
  await running.control('DELETE', 'models/*');
  t.equal(await outcomes(running, 'sim/elm-1', 1), '.');
  await t.rejects(running.client.chat.completions.create(vote('gpt-x')), { status: 404, code: 'model_not_found' });
});
