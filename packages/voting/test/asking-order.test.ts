import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { askingOrder, type Certificate, type Certificates, orderInEffect } from '../src/asking-order.ts';
import { type EstimateSeat, estimate } from '../src/estimate.ts';
import { panelOrder } from '../src/panel-order.ts';
import { holds } from './holds.ts';
import { RULES, seatsOf } from './make-poll.ts';

const priced = (prices: readonly bigint[]) => prices.map((typicalCostU, i) => ({ family: `f${i % 3}`, typicalCostU }));

t.test('cheapest first, equal prices shuffled by the seed; shuffled is the order of before', async (t) => {
  t.same(askingOrder('cheapest', priced([30n, 10n, 20n]), 's'), [1, 2, 0]);
  const orders = new Set(
    Array.from({ length: 40 }, (_, i) => askingOrder('cheapest', priced([5n, 1n, 1n, 1n]), `${i}`).join()),
  );
  t.equal(orders.size, 6, 'three of one price in any order');
  t.ok([...orders].every((order) => order.endsWith('0')));
  holds(
    t,
    'every seat once, prices ascending',
    fc.property(fc.array(fc.bigInt({ min: 0n, max: 9n }), { maxLength: 12 }), fc.string(), (prices, seed) => {
      const seats = priced(prices);
      const order = askingOrder('cheapest', seats, seed);
      return (
        order.toSorted((a, b) => a - b).every((seat, i) => seat === i) &&
        order.length === prices.length &&
        order.every((seat, i) => i === 0 || prices[order[i - 1]!]! <= prices[seat]!) &&
        askingOrder('shuffled', seats, seed).join() === panelOrder(seats, seed).join()
      );
    }),
  );
});

t.test('the gate: 300 audits and a certificate, of the same kind of question', async (t) => {
  const open: Certificate = { audits: 300, isCertified: true, isAlarmed: false };
  const none: Certificate = { audits: 0, isCertified: false, isAlarmed: false };
  const both = (manyOptions: Certificate, fewOptions = none): Certificates => ({ fewOptions, manyOptions });
  t.equal(orderInEffect('cheapest', 4, both(open)), 'cheapest');
  t.equal(orderInEffect('cheapest', 3, both(open)), 'shuffled', 'few options have no audits of their own');
  t.equal(orderInEffect('cheapest', 2, both(none, open)), 'cheapest');
  t.equal(orderInEffect('cheapest', 4, both(none, open)), 'shuffled');
  t.equal(orderInEffect('cheapest', 4, both({ ...open, audits: 299 })), 'shuffled');
  t.equal(orderInEffect('cheapest', 4, both({ ...open, isCertified: false })), 'shuffled');
  t.equal(orderInEffect('cheapest', 4, both({ ...open, isAlarmed: true })), 'shuffled');
  t.equal(orderInEffect('cheapest', 4, both(open, { ...none, isAlarmed: true })), 'shuffled', 'an alarm is for all');
  t.equal(orderInEffect('cheapest', 4, null), 'shuffled');
  t.equal(orderInEffect('shuffled', 4, both(open, open)), 'shuffled');
});

const panel = (prices: readonly bigint[], more: Partial<EstimateSeat> = {}): EstimateSeat[] =>
  seatsOf(prices.length).map((seat, i) => ({
    ...seat,
    ...{ reserveU: 100n, typicalCostU: prices[i]!, p50Ms: 1_000, p90Ms: 1_000 },
    ...more,
  }));

t.test('an estimate of cheapest first: those who come first are paid, and waited for', async (t) => {
  // Three models, two options, lock only: two calls with probability 3/4, else three.
  const rules = { ...RULES, optionCount: 2, threshold: 1, hedge: 'all' as const };
  const seats = panel([10n, 20n, 90n]);
  const cheapest = estimate({ ...rules, order: 'cheapest' }, seats);
  const shuffled = estimate(rules, seats);
  t.same(cheapest.costU, { min: 30n, expected: 53n, max: 300n }, '30 and, one time in four, 90 more: 52.5');
  t.same(shuffled.costU.expected, 90n, '2.25 calls of 40');
  t.same(cheapest.calls, shuffled.calls);
  t.same(cheapest.latencyMs, shuffled.latencyMs, 'all models take the same time');
  const slowAndDear = seats.map((seat, i) => (i === 2 ? { ...seat, p50Ms: 9_000, p90Ms: 9_000 } : seat));
  t.ok(
    estimate({ ...rules, order: 'cheapest' }, slowAndDear).latencyMs.expected <
      estimate(rules, slowAndDear).latencyMs.expected,
  );
  const nothing = estimate({ ...rules, order: 'cheapest', maxCostU: 0n }, seats);
  t.same(nothing.latencyMs, { min: 0, expected: 0, max: 0, p50: 0, p95: 0 });
});

/** In the order in which they are asked. */
const cheapestFirst = (prices: readonly bigint[]) => panel(prices.toSorted((a, b) => Number(a - b)));

t.test('estimates of any panel, cheapest first', async (t) => {
  const panels = fc.array(fc.bigInt({ min: 0n, max: 100n }), { minLength: 1, maxLength: 8 });
  const options = fc.integer({ min: 2, max: 8 });
  holds(
    t,
    'cost no more than shuffled, for the same calls',
    fc.property(panels, options, fc.constantFrom(0.8, 0.95, 1), (prices, optionCount, threshold) => {
      const rules = { ...RULES, optionCount, threshold };
      const [cheap, even] = [
        estimate({ ...rules, order: 'cheapest' }, cheapestFirst(prices)),
        estimate(rules, panel(prices)),
      ];
      return cheap.costU.expected <= even.costU.expected + 1n && cheap.calls.expected === even.calls.expected;
    }),
    150,
  );
  holds(
    t,
    'with a record are never for fewer calls',
    fc.property(panels, options, fc.nat({ max: 400 }), fc.nat({ max: 400 }), (prices, optionCount, polls, won) => {
      const rules = { ...RULES, optionCount, threshold: 0.9, order: 'cheapest' as const };
      const optionClass = optionCount <= 4 ? 4 : optionCount <= 7 ? 7 : 'more';
      const situations = new Map([[`3 3 ${optionClass}`, { polls, won: Math.min(polls, won) }]]);
      const record = { panelSize: prices.length, situations, isAlarmed: false };
      const [braked, urn] = [
        estimate({ ...rules, record }, cheapestFirst(prices)),
        estimate(rules, cheapestFirst(prices)),
      ];
      return braked.calls.expected >= urn.calls.expected - 1e-9 && braked.calls.min >= urn.calls.min;
    }),
    150,
  );
});
