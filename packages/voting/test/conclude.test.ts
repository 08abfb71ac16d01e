import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { conclude } from '../src/conclude.ts';
import { launched, newPoll, received } from '../src/poll.ts';
import { resultStatus } from '../src/status.ts';
import { stopReason } from '../src/stop-rules.ts';
import { holds } from './holds.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';

t.test('a full panel: every seat was asked, none skipped [§3.1-success, §A6-counts-sum]', async (t) => {
  t.same(conclude(pollAfter([0, 1, 0, 0, 2], seatsOf(5)), { reason: 'roster_exhausted' }), {
    status: 'success',
    winner: 0,
    isTie: false,
    tally: [3, 1, 1],
    confidence: 1,
    chances: { options: [1, 0, 0], tie: 0 },
    recordUsed: null,
    requested: 5,
    succeeded: 5,
    failed: 0,
    skipped: 0,
    earlyTerminated: false,
    reason: 'roster_exhausted',
  });
});

t.test('a tie of a full panel is a success without winner [§A6-status-success]', async (t) => {
  const tie = conclude(pollAfter([0, 1, 1, 0], seatsOf(4)), { reason: 'roster_exhausted' });
  t.match(tie, { status: 'success', winner: null, isTie: true, confidence: null, skipped: 0 });
});

t.test('no vote at all is a failure, and no tie [§3.1-failed, §A6-status-failed]', async (t) => {
  const silent = conclude(pollAfter([null, null], seatsOf(2)), { reason: 'roster_exhausted' });
  t.match(silent, { status: 'failed', winner: null, isTie: false, confidence: null, requested: 2, failed: 2 });
  const penniless = conclude(newPoll({ ...RULES, maxCostU: 0n }, seatsOf(2)), { reason: 'budget' });
  t.match(penniless, { status: 'failed', requested: 0, skipped: 2, earlyTerminated: true, reason: 'budget' });
});

t.test(
  'a stop skips models that did not answer, calls in flight included [§A6-models-skipped, §A6-models-requested, §2.2-early-terminated]',
  async (t) => {
    const poll = launched(pollAfter([0, 0, 0], seatsOf(5)), [3]);
    t.match(conclude(poll, { reason: 'mathematical_lock' }), {
      status: 'success',
      winner: 0,
      confidence: 1,
      requested: 3,
      failed: 0,
      skipped: 2,
      earlyTerminated: true,
    });
  },
);

t.test('models that confidence made unnecessary are not missing', async (t) => {
  const sure = conclude(pollAfter([0, 0, 0, 0], seatsOf(9)), { reason: 'confidence' });
  t.match(sure, { status: 'success', skipped: 5, requested: 4 });
  t.ok(sure.confidence! > 0.95 && sure.confidence! < 1, 'what it leaves open is in its confidence');
  t.equal(conclude(pollAfter([0, 0, 0, null], seatsOf(9)), { reason: 'confidence' }).status, 'success');
  t.equal(conclude(pollAfter([0, 0, 0, null, null, null], seatsOf(9)), { reason: 'confidence' }).status, 'partial');
});

t.test('a lock is a success where failed and unasked models together could not have changed it', async (t) => {
  const locked = (votes: readonly (number | null)[]) => {
    const poll = pollAfter(votes, seatsOf(9));
    t.equal(stopReason(poll), 'mathematical_lock');
    return conclude(poll, { reason: 'mathematical_lock' }).status;
  };
  t.equal(locked([0, 0, 0, 0, 0]), 'success', 'of models that a lock left out alone none is missing');
  t.equal(locked([0, 0, 0, 0, 0, null, null]), 'success', 'two failed, two left, five ahead');
  t.equal(locked([0, 0, 0, 0, null, null]), 'partial', 'two failed, three left, four ahead');
});

t.test(
  'failed models that could have changed the outcome make it partial [§3.1-partial, §A6-status-partial]',
  async (t) => {
    const after = (votes: readonly (number | null)[]) =>
      conclude(pollAfter(votes, seatsOf(votes.length)), { reason: 'roster_exhausted' }).status;
    t.equal(after([0, 0, 1, null]), 'partial', 'one more vote would have tied');
    t.equal(after([0, 0, null]), 'success', 'one vote does not reach two');
    t.equal(after([0, 0, null, null]), 'partial');
    t.equal(after([0, 1, null]), 'partial', 'one more vote would have broken the tie');
    t.equal(after([0, 1]), 'success');
  },
);

t.test('a poll cut short by its budget: seats that were not asked are missing', async (t) => {
  const short = conclude(pollAfter([0, 0, 1], seatsOf(5), { maxCostU: 30n }), { reason: 'budget' });
  t.match(short, { status: 'partial', winner: 0, skipped: 2, requested: 3, reason: 'budget' });
  t.ok(short.confidence! < 1);
});

t.test(
  'a deadline fails the calls in flight and has no reason [§A6-deadline-reason, §A6-deadline-early]',
  async (t) => {
    const poll = launched(pollAfter([0, 0], seatsOf(5)), [2, 3]);
    t.match(conclude(poll, { reason: null }), {
      status: 'partial',
      requested: 4,
      succeeded: 2,
      failed: 2,
      skipped: 1,
      earlyTerminated: true,
      reason: null,
      confidence: 1,
    });
    const allAsked = launched(pollAfter([0, 0, 0], seatsOf(4)), [3]);
    t.match(conclude(allAsked, { reason: null }), {
      status: 'success',
      skipped: 0,
      earlyTerminated: false,
      failed: 1,
    });
  },
);

t.test('status by lead and missing votes', async (t) => {
  t.equal(resultStatus([0, 0], 0), 'failed');
  t.equal(resultStatus([0, 0], 3), 'failed');
  t.equal(resultStatus([3, 1], 1), 'success');
  t.equal(resultStatus([3, 1], 2), 'partial');
  t.equal(resultStatus([2, 2], 0), 'success');
  t.equal(resultStatus([2, 2], 1), 'partial');
});

t.test('the same votes in any order give the same conclusion [§A6-counts-sum]', async (t) => {
  const votes = fc.array(fc.option(fc.nat({ max: 2 })), { maxLength: 9 });
  const reasons = fc.constantFrom('roster_exhausted', 'mathematical_lock', 'confidence', 'budget', null);
  holds(
    t,
    'counts add up and nothing depends on the order',
    fc.property(votes, reasons, fc.infiniteStream(fc.nat()), (options, reason, keys) => {
      const all = options.map((option, seat) => ({ seat, option, billedU: 1n }));
      const [...picks] = keys.take(all.length);
      const mixed = all.map((vote, i) => ({ vote, key: picks[i]! })).sort((a, b) => a.key - b.key);
      const seats = seatsOf(10);
      const once = all.reduce(received, newPoll(RULES, seats));
      const other = mixed.map(({ vote }) => vote).reduce(received, newPoll(RULES, seats));
      const end = conclude(once, { reason });
      const votes = end.tally.reduce((sum, count) => sum + count, 0);
      t.same(conclude(other, { reason }), end);
      return (
        end.requested + end.skipped === 10 &&
        end.succeeded + end.failed === end.requested &&
        end.requested === options.length &&
        votes === end.succeeded &&
        end.earlyTerminated === end.skipped > 0
      );
    }),
  );
});
