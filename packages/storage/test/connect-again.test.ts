import { eventually } from '@eloquentpoll/testkit/eventually';
import t from 'tap';
import { askingAgain } from '../src/connect-again.ts';

const AWAY = new Error('away');
const mayPass = (error: unknown): boolean => error === AWAY;

/** Answers once it is there; until then it fails, and counts. */
function source() {
  const state = { isThere: false, asked: 0 };
  const ask = async (): Promise<string> => {
    state.asked += 1;
    if (!state.isThere) throw AWAY;
    return 'had';
  };
  return { state, ask };
}

t.test('what cannot be had for a moment is asked for again, by each that needs it', async (t) => {
  const { state, ask } = source();
  const again = askingAgain({ forMs: 60_000, mayPass });
  const all = Promise.all(Array.from({ length: 20 }, () => again(ask)));
  await eventually('all have asked again', () => state.asked >= 60);
  state.isThere = true;
  t.same(new Set(await all), new Set(['had']));
});

t.test('the moment is one for all: who comes later in an outage hears of it at once, until it is over', async (t) => {
  const { state, ask } = source();
  const again = askingAgain({ forMs: 300, mayPass });
  const began = performance.now();
  await t.rejects(again(ask), AWAY);
  t.ok(performance.now() - began >= 300, 'the first one waits for the moment to pass');
  t.ok(state.asked > 1);
  // The moment of all began with that one's failure, a little after it had asked.
  await t.rejects(again(ask), AWAY);
  state.asked = 0;
  for (let i = 0; i < 5; i++) await t.rejects(again(ask), AWAY);
  t.equal(state.asked, 5, 'later ones ask once');
  state.isThere = true;
  t.equal(await again(ask), 'had');
  Object.assign(state, { isThere: false, asked: 0 });
  await t.rejects(again(ask), AWAY);
  t.ok(state.asked > 1, 'the next outage begins with a moment again');
});

t.test('so many wait at most, and none for what does not pass', async (t) => {
  const { state, ask } = source();
  const again = askingAgain({ forMs: 60_000, mayPass, max: 2 });
  const waiting = [again(ask), again(ask)];
  await eventually('both wait', () => state.asked >= 4);
  await t.rejects(again(ask), AWAY, 'a third one hears of it');
  const wrong = new Error('wrong password');
  let asked = 0;
  const refused = again(async () => {
    asked += 1;
    throw wrong;
  });
  await t.rejects(refused, wrong);
  t.equal(asked, 1);
  state.isThere = true;
  t.same(await Promise.all(waiting), ['had', 'had']);
});

t.test('a failure that no longer passes ends the wait', async (t) => {
  const over = new Error('the pool is closed');
  let asked = 0;
  const again = askingAgain({ forMs: 60_000, mayPass });
  await t.rejects(
    again(async () => {
      throw asked++ === 0 ? AWAY : over;
    }),
    over,
  );
});
