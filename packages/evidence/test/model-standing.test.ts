import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { failedTest, MAX_FAILURES, type TestHistory, type Trials } from '../src/index.ts';

/** Days of tests of which a model fails this share. */
function days(count: number, testsPerDay: number, share: number, seed: string): Trials[] {
  const draw = seededRandom(seed);
  const fails = () => draw(1_000_000) < share * 1_000_000;
  return Array.from({ length: count }, () => ({
    trials: testsPerDay,
    hits: Array.from({ length: testsPerDay }, fails).filter(Boolean).length,
  }));
}

/** On which day it is taken out, looked at after each. */
function dayOut(history: TestHistory, length: number): number | null {
  for (let day = 1; day <= length; day++) {
    const seen = Object.fromEntries(Object.entries(history).map(([kind, all]) => [kind, all.slice(0, day)]));
    if (failedTest(seen)) return day;
  }
  return null;
}

t.test('models that fail as often as they may are taken out in at most one of twenty months', async (t) => {
  const months = 300;
  for (const [kind, share] of Object.entries(MAX_FAILURES)) {
    const out = Array.from({ length: months }, (_, i) => dayOut({ [kind]: days(30, 6, share, `${kind} ${i}`) }, 30));
    t.ok(out.filter((day) => day !== null).length <= 0.05 * months + 10, kind);
  }
});

t.test('a model that breaks is taken out within a day, also after a sound month', async (t) => {
  for (const kind of Object.keys(MAX_FAILURES)) {
    t.equal(dayOut({ [kind]: days(1, 6, 1, '') }, 1), 1, kind);
    const sound = days(29, 6, 0, '');
    t.ok([30, 31].includes(dayOut({ [kind]: [...sound, ...days(2, 6, 1, '')] }, 31)!), `${kind} after a sound month`);
  }
});

t.test('the clearest failure is named; without tests there is none', async (t) => {
  t.equal(failedTest({}), null);
  const [failing, worse] = [days(1, 6, 1, ''), days(2, 6, 1, '')];
  t.equal(failedTest({ known: failing, label: worse, place: days(2, 6, 0, '') }), 'label');
});
