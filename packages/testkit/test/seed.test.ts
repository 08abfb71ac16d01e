import t from 'tap';
import fc from '../src/fast-check.ts';
import { randomBelow, seed, seedFrom } from '../src/seed.ts';

t.test('the seed: the same without TEST_SEED, the given number, another for each random run', async (t) => {
  t.equal(seedFrom(undefined), seedFrom(''));
  t.equal(seedFrom('-7'), -7);
  t.not(seedFrom('random'), seedFrom('random'));
  t.throws(() => seedFrom('often'), { message: 'TEST_SEED is "often": use a whole number, or random.' });
});

t.test('fast-check starts from the seed of the run and says so when a property fails', async (t) => {
  const samples = () => fc.sample(fc.integer(), 5);
  t.same(samples(), fc.sample(fc.integer(), { numRuns: 5, seed }));
  t.throws(() => fc.assert(fc.property(fc.integer(), () => false)), { message: new RegExp(`seed: ${seed}\\b`) });
});

t.test('600 draws below 6: every number of a die, each about as often', async (t) => {
  const counts = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < 600; i++) counts[randomBelow(6)]! += 1;
  t.ok(
    counts.every((count) => count > 60 && count < 140),
    counts.join(),
  );
});
