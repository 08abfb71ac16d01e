import { newPoll, type PollState, received } from '@eloquentpoll/voting';
import t from 'tap';
import { leaderBeatsRunnerUp, stoppingRules, windowAgrees } from '../src/replay/stopping-rules.ts';

/** A poll of nine families with four options after these votes. */
const after = (votes: readonly (number | null)[], threshold = 0.95): PollState =>
  votes.reduce<PollState>(
    (poll, option, seat) => received(poll, { seat, option, billedU: 0n }),
    newPoll(
      { optionCount: 4, threshold, minVotes: 3, maxCostU: 0n, hedge: 'one' },
      [...'abcdefghi'].map((family) => ({ family, reserveU: 0n, failureRate: 0 })),
    ),
  );

const whoStops = (votes: readonly (number | null)[], threshold = 0.95) =>
  stoppingRules(threshold).flatMap(({ name, stops }) =>
    stops({ poll: after(votes, threshold), votes }) ? [name] : [],
  );

t.test('the Beta rule: the probability that the leader beats the runner-up', async (t) => {
  const beats = (votes: readonly number[]) => leaderBeatsRunnerUp({ poll: after(votes) });
  t.equal(beats([]), 0.5);
  t.equal(beats([0, 1]), 0.5);
  t.equal(beats([2]), 3 / 4);
  t.equal(beats([1, 1, 1]), 15 / 16);
  t.equal(beats([1, 1, 1, 1]), 31 / 32);
  t.equal(beats([1, 1, 1, 1, 1, 3]), 120 / 128);
  t.equal(beats([1, 1, 1, 1, 1, 3, 2]), 120 / 128, 'the third does not count');
});

t.test('the window rule: full windows whose votes all agree', async (t) => {
  const agrees = (votes: readonly (number | null)[]) => windowAgrees({ votes }, 3);
  t.equal(agrees([]), false);
  t.equal(agrees([0, 0]), false);
  t.equal(agrees([0, 0, 0]), true);
  t.equal(agrees([1, 0, 0, 0]), false, 'windows do not overlap');
  t.equal(agrees([1, 0, 0, 0, 0, 0]), true);
  t.equal(agrees([0, 0, 0, 1, 0, 0]), false);
  t.equal(agrees([null, null, null]), false, 'models that fail do not agree');
  t.equal(agrees([0, null, 0]), false);
});

t.test('who stops when', async (t) => {
  const [FULL, LOCK, OURS, BETA, ESC] = stoppingRules(0.95).map(({ name }) => name) as [
    string,
    string,
    string,
    string,
    string,
  ];
  t.same(whoStops([0, 0]), []);
  t.same(whoStops([0, 0, 0]), [OURS, ESC]);
  t.same(whoStops([0, 0, 0], 0.99), [ESC]);
  t.same(whoStops([0, 0, 0, 0]), [OURS, BETA]);
  t.same(whoStops([0, 0, 1, 0]), []);
  t.same(whoStops([0, 0, 0, 0, 0]), [LOCK, OURS, BETA, ESC], 'every rule uses a lock');
  t.notOk(whoStops([0, 0, 0, 0, 0]).includes(FULL), 'but the full panel');
});
