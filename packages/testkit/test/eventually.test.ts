import t from 'tap';
import { eventually } from '../src/eventually.ts';

t.test('what happens at the third look: its value is answered', async (t) => {
  let looks = 0;
  t.equal(await eventually('the third look', () => ++looks === 3 && 'there'), 'there');
  t.equal(looks, 3);
});

t.test('an error is not the end: what throws twice and then holds has happened', async (t) => {
  let looks = 0;
  const connect = () => {
    if (++looks < 3) throw new Error('refused');
    return true;
  };
  await eventually('a connection', connect);
  t.equal(looks, 3);
});

for (const [what, condition, tail] of [
  ['a condition that stays false', () => false, ''],
  ['a value that stays empty', async () => null, ' (last seen: null)'],
  ['a count that stays zero', () => 0, ' (last seen: 0)'],
  ['an error every time', () => Promise.reject(new Error('ECONNREFUSED')), ' (last error: ECONNREFUSED)'],
  ['a condition that never answers', () => new Promise<boolean>(() => {}), ' (the condition did not answer)'],
] as const)
  t.test(`${what} fails within the limit with a sentence`, async (t) => {
    const started = performance.now();
    await t.rejects(eventually<unknown>('the light goes on', condition, 120), {
      message: `did not happen within 120 ms: the light goes on${tail}`,
    });
    const took = performance.now() - started;
    // It may stand still for a while, but not for as long as it waits without a limit.
    t.ok(took >= 119 && took < 20_000, `after ${took} ms`);
  });

t.test('it sleeps between looks: fewer than 40 in 1,500 ms', async (t) => {
  let looks = 0;
  await t.rejects(eventually('never', () => ++looks < 0, 1_500));
  t.ok(looks > 1 && looks < 40, `${looks} looks`);
});
