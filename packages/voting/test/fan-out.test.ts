import t from 'tap';
import { decide } from '../src/decide.ts';
import { wantedInFlight } from '../src/fan-out.ts';
import { type Hedge, launched, newPoll, type Rules, received } from '../src/poll.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';

/** With two options and threshold 1 a panel of nine needs five for a lock. */
const LOCK_ONLY: Partial<Rules> = { optionCount: 2, threshold: 1 };
const fresh = (hedge: Hedge, more: Partial<Rules> = {}) =>
  newPoll({ ...RULES, ...LOCK_ONLY, hedge, ...more }, seatsOf(9));

t.test('a poll begins with what it needs, and its hedge', async (t) => {
  t.same(decide(fresh('when_slow'), { slow: false }), { kind: 'go', launch: [0, 1, 2, 3, 4] });
  t.same(decide(fresh('when_slow'), { slow: true }), { kind: 'go', launch: [0, 1, 2, 3, 4, 5] });
  t.same(decide(fresh('one'), { slow: false }), { kind: 'go', launch: [0, 1, 2, 3, 4, 5] });
  t.same(decide(fresh('one'), { slow: true }), { kind: 'go', launch: [0, 1, 2, 3, 4, 5] });
  t.same(decide(fresh('all'), { slow: false }), { kind: 'go', launch: [0, 1, 2, 3, 4, 5, 6, 7, 8] });
});

t.test('how many calls are wanted', async (t) => {
  t.equal(wantedInFlight('all', 2, 7, false), 7);
  t.equal(wantedInFlight('one', 2, 7, false), 3);
  t.equal(wantedInFlight('when_slow', 2, 7, false), 2);
  t.equal(wantedInFlight('when_slow', 2, 7, true), 3);
  t.equal(wantedInFlight('none', 2, 7, true), 2);
  t.equal(wantedInFlight('when_slow', 0, 7, false), 1, 'a poll that goes on asks at least one');
  t.equal(wantedInFlight('one', 0, 7, false), 2);
});

t.test('every vote tops the calls in flight up to what is wanted now', async (t) => {
  let poll = launched(fresh('when_slow'), [0, 1, 2, 3, 4]);
  t.same(decide(poll, { slow: false }), { kind: 'go', launch: [] }, 'nothing new: wait');
  t.same(decide(poll, { slow: true }), { kind: 'go', launch: [5] }, 'a slow call is hedged with the next juror');
  poll = received(poll, { seat: 3, option: 0, billedU: 1n });
  t.same(decide(poll, { slow: false }), { kind: 'go', launch: [] }, 'one needed less, one in flight less');
  const against = received(poll, { seat: 1, option: 1, billedU: 1n });
  t.same(decide(against, { slow: false }), { kind: 'go', launch: [5] }, 'a dissenter makes one more needed');
  const failed = received(poll, { seat: 1, option: null, billedU: 0n });
  t.same(decide(failed, { slow: false }), { kind: 'go', launch: [5] }, 'a failure frees a slot');
});

t.test('asks on where only the family guard holds a sure poll back', async (t) => {
  const poll = pollAfter([0, 0, 0], seatsOf(9, 'aaabbbccc'), { optionCount: 10, threshold: 0.8, hedge: 'when_slow' });
  t.same(decide(poll, { slow: false }), { kind: 'go', launch: [3] });
  t.same(decide(pollAfter([0, 0, 0], seatsOf(9), { optionCount: 10, threshold: 0.8 }), { slow: false }), {
    kind: 'stop',
    reason: 'confidence',
  });
});

t.test(
  'launches fit into the budget together; a seat that does not is passed over [§2.1-max-cost-usd-effect]',
  async (t) => {
    const maxCostU = 35n;
    t.same(decide(fresh('all', { maxCostU }), { slow: false }), { kind: 'go', launch: [0, 1, 2] });
    const prices = [10n, 30n, 10n, 15n, 5n, 10n];
    const seats = seatsOf(6).map((seat, i) => ({ ...seat, reserveU: prices[i]! }));
    const poll = newPoll({ ...RULES, ...LOCK_ONLY, hedge: 'all', maxCostU }, seats);
    t.same(decide(poll, { slow: false }), { kind: 'go', launch: [0, 2, 3] });
    const underway = launched(poll, [0, 2, 3]);
    t.same(decide(underway, { slow: false }), { kind: 'go', launch: [] }, 'full: wait for a vote');
    const cheaper = received(underway, { seat: 0, option: 0, billedU: 4n });
    t.same(decide(cheaper, { slow: false }), { kind: 'go', launch: [4] }, 'what it did not use lets the next one in');
  },
);
