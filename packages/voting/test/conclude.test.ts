import fc from '@eloquentpoll/testkit/fast-check';
import t from 'tap';
import { conclude } from '../src/conclude.ts';
import { launched, newPoll, type PollState, received } from '../src/poll.ts';
import { standing } from '../src/standing.ts';
import { resultStatus } from '../src/status.ts';
import { stopReason, type TerminationReason } from '../src/stop-rules.ts';
import { holds } from './holds.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';
import { exactWinChance } from './oracle.ts';

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

const TWO = { optionCount: 2 };

function confidenceAfter(poll: PollState, reason: TerminationReason | null): number | null {
  const { status, confidence } = conclude(poll, { reason });
  t.equal(status, 'partial');
  return confidence;
}

const isNear = (given: number | null, exact: number): boolean => given !== null && Math.abs(given - exact) < 1e-12;

t.test('2 to 1 with six failures of nine is not certain, but 1549 of 2048', async (t) => {
  const poll = pollAfter([0, 1, 0, null, null, null, null, null, null], seatsOf(9), TWO);
  t.equal(stopReason(poll), 'roster_exhausted');
  t.equal(standing(poll).confidence, 1, 'no model is left to ask');
  t.ok(isNear(confidenceAfter(poll, 'roster_exhausted'), 1549 / 2048));
  const ofThree = pollAfter([0, 1, 0, null, null, null, null, null, null], seatsOf(9));
  t.ok(isNear(confidenceAfter(ofThree, 'roster_exhausted'), 14_422 / 19_683));
  const silent = pollAfter([0, 0, null, null, null, null, null, null, null], seatsOf(9), TWO);
  t.ok(isNear(confidenceAfter(silent, 'roster_exhausted'), 7771 / 8192), '2 to 0 with seven');
});

t.test('failures that could not have changed the winner leave a result certain', async (t) => {
  const seven = conclude(pollAfter([0, 0, 1, 0, 0, 0, 1, null, null], seatsOf(9)), { reason: 'roster_exhausted' });
  t.match(seven, { status: 'success', confidence: 1, failed: 2, chances: { options: [1, 0, 0], tie: 0 } });
});

t.test('a lock, a deadline, a budget and a stop on confidence, each with failures', async (t) => {
  const locked = pollAfter([0, 0, 0, 0, null, null], seatsOf(9), TWO);
  t.equal(stopReason(locked), 'mathematical_lock');
  t.ok(isNear(confidenceAfter(locked, 'mathematical_lock'), exactWinChance([4, 0], [0, 0, 0, 0, 0], 0)));

  const slow = seatsOf(5).map((seat) => ({ ...seat, failureRate: 0.3 }));
  const late = launched(pollAfter([0, 0], slow, TWO), [2, 3]);
  const inTime = exactWinChance([2, 0], [0, 0, 30], 0);
  t.ok(isNear(confidenceAfter(late, null), inTime), 'running calls are sure to vote, the model not asked is not');

  const poor = pollAfter([0, 0, 1, null], seatsOf(6), { ...TWO, maxCostU: 30n });
  t.equal(stopReason(poor), 'budget');
  t.ok(isNear(confidenceAfter(poor, 'budget'), exactWinChance([2, 1], [0, 0, 0], 0)));

  const sure = pollAfter([0, 0, 0, null, null, null, null], seatsOf(10), { ...TWO, threshold: 0.98 });
  t.equal(stopReason(sure), 'confidence');
  const stated = confidenceAfter(sure, 'confidence');
  t.ok(isNear(stated, exactWinChance([3, 0], [0, 0, 0, 0, 0, 0, 0], 0)));
  t.ok(standing(sure).confidence! >= 0.98 && stated! < 0.98, 'it may be below the threshold that was reached');
});

t.test('a tie that a missing vote could have broken has chances, and no confidence', async (t) => {
  const { status, confidence, chances } = conclude(pollAfter([0, 1, null], seatsOf(3), TWO), {
    reason: 'roster_exhausted',
  });
  t.match({ status, confidence }, { status: 'partial', confidence: null });
  t.same(chances, { options: [0.5, 0.5], tie: 0 });
  const ofFour = conclude(pollAfter([0, 1, null, null], seatsOf(4), TWO), { reason: 'roster_exhausted' }).chances;
  t.ok(isNear(ofFour.tie, 1 - 2 * exactWinChance([1, 1], [0, 0], 0)));
});

t.test('the odds of a result are those of its votes and of the models that it counts as still to vote', async (t) => {
  const votes = fc.array(fc.option(fc.nat({ max: 2 }), { freq: 2 }), { maxLength: 5 });
  const reasons = fc.constantFrom('roster_exhausted', 'mathematical_lock', 'confidence', 'budget', null);
  const percents = fc.array(fc.nat({ max: 30 }), { minLength: 5, maxLength: 5 });
  holds(
    t,
    'as counted vote by vote: a partial result with its failed models, any other without',
    fc.property(votes, reasons, percents, (cast, reason, failing) => {
      const seats = seatsOf(5).map((seat, i) => ({ ...seat, failureRate: failing[i]! / 100 }));
      const poll = pollAfter(cast, seats);
      const { status, tally, failed, winner, confidence, chances } = conclude(poll, { reason });
      const missing = status === 'partial' ? new Array<number>(failed).fill(0) : [];
      const left = [...missing, ...failing.slice(cast.length)];
      const running = standing(poll);
      const isAsBefore = status === 'partial' || running.confidence === confidence;
      const isCertain = status === 'partial' && confidence === 1;
      const sum = chances.options.reduce((total, chance) => total + chance, chances.tie);
      return (
        isAsBefore &&
        !isCertain &&
        Math.abs(sum - 1) < 1e-12 &&
        (winner === null ? confidence === null : confidence === chances.options[winner]) &&
        chances.options.every((chance, option) => Math.abs(chance - exactWinChance(tally, left, option)) < 1e-11)
      );
    }),
  );
});
