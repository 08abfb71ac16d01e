import t from 'tap';
import { confidenceAmong } from '../src/confidence.ts';
import { launched, newPoll, received, type VotingSeat } from '../src/poll.ts';
import { isSettled, stopReason } from '../src/stop-rules.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';

t.test('roster_exhausted comes first, even where the last vote makes a lock [§1-reason-panel-exhausted]', async (t) => {
  t.equal(stopReason(pollAfter([0, 0, 1, 1, 0], seatsOf(5), { threshold: 1 })), 'roster_exhausted');
  t.equal(stopReason(pollAfter([null, null], seatsOf(2))), 'roster_exhausted');
  t.equal(stopReason(pollAfter([0, 0, 1, 1], seatsOf(5), { threshold: 1 })), null);
});

t.test('a lock comes before confidence and needs no guard [§1-reason-mathematical-lock]', async (t) => {
  t.equal(stopReason(pollAfter([0, 0], seatsOf(3), { threshold: 0 })), 'mathematical_lock');
  t.equal(stopReason(pollAfter([0, 0, 0], seatsOf(5, 'aaabb'), { threshold: 0 })), 'mathematical_lock');
  t.equal(stopReason(pollAfter([2, 2], seatsOf(4), { threshold: 1 })), null, 'two ahead of two to come');
  t.equal(
    stopReason(pollAfter([2, 2, null], seatsOf(4), { threshold: 1 })),
    'mathematical_lock',
    'a failure makes it one',
  );
});

t.test('a poll is settled once no vote can change its outcome, a tie of all too', async (t) => {
  t.ok(isSettled(pollAfter([0, 1], seatsOf(2))));
  t.notOk(isSettled(pollAfter([0, 1], seatsOf(3))), 'the last vote decides');
  t.ok(isSettled(pollAfter([0, 0], seatsOf(3))));
});

t.test('calls in flight are still to come', async (t) => {
  const poll = launched(pollAfter([0, 0], seatsOf(5), { threshold: 1 }), [2, 3, 4]);
  t.equal(stopReason(poll), null);
  t.equal(stopReason(received(poll, { seat: 4, option: 0, billedU: 0n })), 'mathematical_lock');
});

t.test(
  'confidence stops a poll once it reaches the threshold [§1-reason-confidence, §2.1-confidence-threshold-effect]',
  async (t) => {
    const reached = confidenceAmong([3, 0, 0], [0, 0, 0, 0])!;
    t.equal(stopReason(pollAfter([0, 0, 0], seatsOf(7), { threshold: reached })), 'confidence');
    t.equal(stopReason(pollAfter([0, 0, 0], seatsOf(7), { threshold: reached + 1e-9 })), null);
    t.equal(stopReason(pollAfter([0, 0, 0], seatsOf(7), { threshold: 1 })), null, 'threshold 1 means lock only');
    t.equal(stopReason(pollAfter([0, 0, 1, 1], seatsOf(9), { threshold: 0 })), null, 'a tie has no confidence');
  },
);

t.test('failure rates of the models left count', async (t) => {
  const unreliable: VotingSeat[] = seatsOf(7).map((seat, i) => ({ ...seat, failureRate: i < 3 ? 0 : 0.9 }));
  const threshold = confidenceAmong([3, 0, 0], [0, 0, 0, 0])! + 1e-6;
  t.equal(stopReason(pollAfter([0, 0, 0], unreliable, { threshold })), 'confidence');
  t.equal(stopReason(pollAfter([0, 0, 0], seatsOf(7), { threshold })), null);
});

t.test('confidence never stops a poll below its number of valid votes', async (t) => {
  t.equal(stopReason(pollAfter([0, 0], seatsOf(9), { threshold: 0.5 })), null);
  t.equal(stopReason(pollAfter([0, 0, null], seatsOf(9), { threshold: 0.5 })), null, 'a failed model is no vote');
  t.equal(stopReason(pollAfter([0, 0, 0], seatsOf(9), { threshold: 0.5 })), 'confidence');
  t.equal(stopReason(pollAfter([0], seatsOf(9), { threshold: 0.5, minVotes: 1 })), null, 'and one voter is one family');
  t.equal(stopReason(pollAfter([0], seatsOf(9, 'aaaaaaaaa'), { threshold: 0.5, minVotes: 1 })), 'confidence');
  t.equal(stopReason(pollAfter([0], seatsOf(2), { threshold: 0 })), null, 'a small panel runs to its end');
});

t.test('the voters for the leader come from two families where the panel has two', async (t) => {
  const threshold = 0.5;
  t.equal(stopReason(pollAfter([0, 0, 0, 1], seatsOf(9, 'aaabbbccc'), { threshold })), null);
  t.equal(stopReason(pollAfter([0, 0, 0, 0], seatsOf(9, 'aaabbbccc'), { threshold })), 'confidence');
  t.equal(stopReason(pollAfter([0, 0, 0, 1], seatsOf(9, 'aaaaaaaaa'), { threshold })), 'confidence');
  t.equal(
    stopReason(pollAfter([0, 0, 0, null], seatsOf(9, 'aaabbbccc'), { threshold })),
    null,
    'a failure is no voter',
  );
});

t.test('budget stops a poll when no seat left fits and nothing is in flight [§1-reason-budget]', async (t) => {
  t.equal(stopReason(newPoll({ ...RULES, maxCostU: 9n }, seatsOf(3))), 'budget', 'not even the first');
  t.equal(stopReason(newPoll({ ...RULES, maxCostU: 10n }, seatsOf(3))), null);
  t.equal(stopReason(pollAfter([0], seatsOf(3), { maxCostU: 19n })), 'budget');
  t.equal(stopReason(pollAfter([0], seatsOf(3), { maxCostU: 20n })), null);
  t.equal(
    stopReason(launched(newPoll({ ...RULES, maxCostU: 10n }, seatsOf(3)), [0])),
    null,
    'a call in flight may cost less',
  );
  const cheapLast = seatsOf(4).map((seat, i) => ({ ...seat, reserveU: i === 3 ? 5n : 10n }));
  t.equal(stopReason(pollAfter([0], cheapLast, { maxCostU: 15n })), null, 'a later seat still fits');
  t.equal(stopReason(pollAfter([0, 0], seatsOf(3), { maxCostU: 20n })), 'mathematical_lock', 'the better reason first');
});
