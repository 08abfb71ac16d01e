import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { panelOrder } from '../src/panel-order.ts';
import { seededRandom, shuffled } from '../src/seeded-random.ts';
import { holds } from './holds.ts';

const panels = fc.array(fc.constantFrom('ant', 'bee', 'cat', 'dog', 'elk'), { maxLength: 14 });
const seatsOf = (families: readonly string[]) => families.map((family) => ({ family }));

t.test('the order of a panel', async (t) => {
  holds(
    t,
    'names every seat once, the same for the same seed',
    fc.property(panels, fc.string(), (families, seed) => {
      const order = panelOrder(seatsOf(families), seed);
      return (
        order.toSorted((a, b) => a - b).every((seat, i) => seat === i) &&
        order.length === families.length &&
        panelOrder(seatsOf(families), seed).join() === order.join()
      );
    }),
  );
  holds(
    t,
    'takes the families in turn: none is heard a second time before every other that can was heard once',
    fc.property(panels, fc.string(), (families, seed) => {
      const heard = new Map<string, number>();
      let round = 0;
      for (const seat of panelOrder(seatsOf(families), seed)) {
        const times = (heard.get(families[seat]!) ?? 0) + 1;
        if (times < round) return false;
        round = times;
        heard.set(families[seat]!, times);
      }
      return true;
    }),
  );
  t.same(panelOrder([], 'x'), []);
});

t.test('every round keeps the order of the families', async (t) => {
  const families = ['ant', 'ant', 'bee', 'bee', 'cat', 'cat'];
  for (const seed of ['1', '2', '3', '4']) {
    const order = panelOrder(seatsOf(families), seed).map((seat) => families[seat]);
    t.same(order.slice(3), order.slice(0, 3));
  }
});

t.test('orders are spread evenly', async (t) => {
  const seats = seatsOf(['ant', 'ant', 'bee', 'cat']);
  const counts = new Map<string, number>();
  const polls = 12_000;
  for (let poll = 0; poll < polls; poll++) {
    const order = panelOrder(seats, `ps_${poll}`).join();
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  // Three families in any order, and either ant first: twelve orders, each a thousand times, give or take five sigma.
  t.equal(counts.size, 12);
  for (const [order, count] of counts)
    t.ok(Math.abs(count - polls / 12) < 5 * Math.sqrt(polls / 12), `${order}: ${count}`);
});

t.test('seeded draws', async (t) => {
  const draw = seededRandom('seed');
  const again = seededRandom('seed');
  const other = seededRandom('seeds');
  const first = Array.from({ length: 50 }, () => draw(1_000_000));
  t.same(
    Array.from({ length: 50 }, () => again(1_000_000)),
    first,
  );
  t.notSame(
    Array.from({ length: 50 }, () => other(1_000_000)),
    first,
  );
  t.equal(new Set(first).size, 50, 'no short cycle');
  const small = seededRandom('die');
  const faces = new Array<number>(6).fill(0);
  for (let i = 0; i < 6_000; i++) faces[small(6)]! += 1;
  for (const count of faces) t.ok(Math.abs(count - 1_000) < 150, `${count}`);
  t.equal(seededRandom('one')(1), 0);
  t.same(seededRandom('fixed')(1_000_000), seededRandom('fixed')(1_000_000));
});

t.test('the draws of a seed never change: polls that are running are resumed by the next version', async (t) => {
  const draw = seededRandom('ps_aaaaaaaaaaaaaaaaaaaaaaaa');
  // SplitMix64 from the FNV-1a hash of the seed, as computed by an independent implementation of both.
  const draws = Array.from({ length: 4 }, () => draw(2 ** 32));
  t.same(draws, [2_023_655_193, 612_245_157, 653_087_590, 3_830_717_953]);
});

t.test('shuffling keeps the items and leaves the list alone', async (t) => {
  const list = [1, 2, 3, 4, 5, 6, 7];
  const result = shuffled(list, seededRandom('s'));
  t.same(list, [1, 2, 3, 4, 5, 6, 7]);
  t.same(result.toSorted(), list);
  t.notSame(result, list);
  t.same(
    shuffled([1, 2, 3], () => 0),
    [2, 3, 1],
    'each item changes places with the one drawn',
  );
});

t.test('the draws of a seed never change: workers of two releases must agree on the order of a poll', async (t) => {
  const draws = (seed: string) => {
    const draw = seededRandom(seed);
    return Array.from({ length: 8 }, () => draw(1_000_000));
  };
  t.same(draws(''), [409_008, 188_822, 225_435, 638_002, 838_421, 143_151, 418_192, 367_831]);
  t.same(draws('seed'), [829_869, 95_204, 297_566, 563_137, 56_782, 472_203, 953_922, 454_114]);
  t.same(draws('ps_ü\u{1F600}'), [449_571, 476_069, 330_662, 978_815, 844_550, 405_975, 62_851, 706_364]);
});
