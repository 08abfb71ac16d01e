import t from 'tap';
import { budgetLeftU, spentU } from '../src/budget.ts';
import { launched, newPoll, received } from '../src/poll.ts';
import { seatsThatAre, standing, tally, unresolvedSeats } from '../src/standing.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';

t.test('a new poll waits with every seat', async (t) => {
  const poll = newPoll(RULES, seatsOf(3));
  t.same(seatsThatAre(poll, 'waiting'), [0, 1, 2]);
  t.same(tally(poll), [0, 0, 0]);
  t.equal(spentU(poll), 0n);
  t.equal(budgetLeftU(poll), 1_000n);
});

t.test('a poll that makes no sense is refused', async (t) => {
  const twoOptions = { ...RULES, optionCount: 2 };
  t.throws(() => newPoll({ ...RULES, optionCount: 1 }, seatsOf(3)), /two options/);
  t.throws(() => newPoll({ ...RULES, threshold: 1.01 }, seatsOf(3)), /threshold/);
  t.throws(() => newPoll({ ...RULES, threshold: -0.01 }, seatsOf(3)), /threshold/);
  t.throws(() => newPoll({ ...RULES, threshold: Number.NaN }, seatsOf(3)), /threshold/);
  t.throws(() => newPoll(RULES, []), /one seat/);
  for (const rules of [twoOptions, { ...RULES, threshold: 0 }, { ...RULES, threshold: 1 }])
    t.doesNotThrow(() => newPoll(rules, seatsOf(1)));
});

t.test('a seat goes from waiting to in flight to voted or failed', async (t) => {
  const asked = launched(newPoll(RULES, seatsOf(4)), [2, 0]);
  t.same(seatsThatAre(asked, 'in_flight'), [0, 2]);
  t.same(seatsThatAre(asked, 'waiting'), [1, 3]);
  t.same(unresolvedSeats(asked), [0, 2, 1, 3], 'those in flight answer first');
  t.equal(budgetLeftU(asked), 980n, 'their worst case is set aside');

  const voted = received(asked, { seat: 2, option: 1, billedU: 7n });
  t.same(tally(voted), [0, 1, 0]);
  t.equal(spentU(voted), 7n);
  t.equal(budgetLeftU(voted), 983n, 'what was set aside and not used is free again');

  const failed = received(voted, { seat: 0, option: null, billedU: 0n });
  t.same(seatsThatAre(failed, 'failed'), [0]);
  t.same(tally(failed), [0, 1, 0]);
  t.equal(budgetLeftU(failed), 993n);
  t.same(seatsThatAre(asked, 'in_flight'), [0, 2], 'earlier states stay as they were');
});

t.test('a seat is asked at most once and only within the budget', async (t) => {
  const poll = launched(newPoll({ ...RULES, maxCostU: 25n }, seatsOf(4)), [0]);
  t.throws(() => launched(poll, [0]), /seat 0 was asked before/);
  t.throws(() => launched(poll, [1, 1]), /seat 1 was asked before/);
  t.throws(() => launched(received(poll, { seat: 0, option: 0, billedU: 1n }), [0]), /asked before/);
  t.throws(() => launched(received(poll, { seat: 0, option: null, billedU: 0n }), [0]), /asked before/);
  t.throws(() => launched(poll, [1, 2]), /seat 2 exceeds the budget/);
  t.throws(() => launched(poll, [9]), /no seat 9/);
  t.doesNotThrow(() => launched(newPoll({ ...RULES, maxCostU: 20n }, seatsOf(2)), [0, 1]), 'to the last micro-USD');
});

t.test('a vote counts once', async (t) => {
  const poll = received(launched(newPoll(RULES, seatsOf(2)), [0]), { seat: 0, option: 1, billedU: 5n });
  t.equal(received(poll, { seat: 0, option: 2, billedU: 9n }), poll, 'a second vote of the seat changes nothing');
  t.equal(received(poll, { seat: 0, option: null, billedU: 0n }), poll);
  const failed = received(poll, { seat: 1, option: null, billedU: 0n });
  t.equal(received(failed, { seat: 1, option: 1, billedU: 5n }), failed, 'a late answer comes too late');
});

t.test('a vote that cannot be is refused', async (t) => {
  const poll = newPoll(RULES, seatsOf(2));
  t.throws(() => received(poll, { seat: 2, option: 0, billedU: 0n }), /no seat 2/);
  t.throws(() => received(poll, { seat: 0, option: 3, billedU: 0n }), /option/);
  t.throws(() => received(poll, { seat: 0, option: -1, billedU: 0n }), /option/);
  t.throws(() => received(poll, { seat: 0, option: 0.5, billedU: 0n }), /option/);
  t.throws(() => received(poll, { seat: 0, option: 0, billedU: 11n }), /more than its reserve/);
  t.doesNotThrow(() => received(poll, { seat: 0, option: 2, billedU: 10n }));
});

t.test('where a poll stands', async (t) => {
  const poll = launched(pollAfter([1, 1, null, 0], seatsOf(7)), [4]);
  t.same(standing(poll), {
    tally: [1, 2, 0],
    leader: 1,
    isTie: false,
    confidence: standing(poll).confidence,
    succeeded: 3,
    failed: 1,
    inFlight: 1,
    waiting: 2,
  });
  t.ok(standing(poll).confidence! > 0.5 && standing(poll).confidence! < 1);
  t.equal(standing(pollAfter([1, 0], seatsOf(3))).confidence, null);
  t.equal(standing(pollAfter([1, 0], seatsOf(3))).isTie, true);
  t.equal(standing(pollAfter([1, 1], seatsOf(3))).confidence, 1);
});
