import t from 'tap';
import { comparePaired } from '../src/attacks/paired-times.ts';
import { chance } from '../src/terminal/chance.ts';

// A busy machine: times that wander for minutes, and one in ten that takes much longer.

function pairs(seed: string, count: number, plantedUs: number) {
  const draw = chance(seed);
  const [a, b]: [number[], number[]] = [[], []];
  let wanderUs = 0;
  const tookUs = () =>
    600 + wanderUs + draw.latency(60, 0.6) + draw.share() + (draw.happens(0.1) ? draw.latency(900, 1) : 0);
  for (let i = 0; i < count; i++) {
    wanderUs = wanderUs * 0.999 + draw.between(-5, 5);
    a.push(tookUs() + plantedUs);
    b.push(tookUs());
  }
  return comparePaired(a, b);
}

t.test('equal kinds seldom look different, however times wander', async (t) => {
  const found = Array.from({ length: 300 }, (_, i) => pairs(`equal ${i}`, 400, 0));
  const below = (level: number) => found.filter(({ p }) => p < level).length / found.length;
  t.ok(below(0.05) < 0.08, `p below .05 in ${below(0.05)}`);
  t.ok(below(0.5) > 0.3, `p below .5 in ${below(0.5)}`);
  const covered = found.filter(({ betweenUs: [low, high] }) => low <= 0 && high >= 0).length / found.length;
  t.ok(covered > 0.92, `the interval holds the truth in ${covered}`);
});

t.test('five microseconds are seen among noise of hundreds', async (t) => {
  const { p, apartUs, betweenUs } = pairs('planted', 20_000, 5);
  t.ok(p < 1e-6, `p ${p}`);
  t.ok(apartUs > 3 && apartUs < 7, `${apartUs} us`);
  t.ok(betweenUs[0] > 0 && betweenUs[1] > betweenUs[0]);
});

t.test('the smallest p are right: 40 of 40 differences of one sign', async (t) => {
  const ones = Array.from({ length: 40 }, (_, i) => i + 1);
  const { p } = comparePaired(
    ones,
    ones.map(() => 0),
  );
  t.ok(Math.abs(p / 5.0793e-10 - 1) < 1e-3, `p ${p}`);
  t.equal(comparePaired(ones, ones).p, 1);
});
