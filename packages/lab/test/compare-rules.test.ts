import t from 'tap';
import { calibrate, forecastsOf } from '../src/replay/calibration.ts';
import { compareRules } from '../src/replay/compare-rules.ts';
import { recordedPolls } from '../src/replay/recorded-poll.ts';
import { FIVE, votesOf } from './recorded-votes.ts';

const pollsOf = (votes: readonly string[]) => recordedPolls(votesOf(FIVE, votes), { name: 'five', models: FIVE });

t.test('figures of rules on a handful of polls', async (t) => {
  let watched = 0;
  // Unanimous and right; unanimous and wrong; a tie of the full panel; silence.
  const figures = compareRules(pollsOf(['AAAAA', 'BBBBB', 'AABB-', '-----']), 0.95, () => {
    watched += 1;
  });
  t.equal(watched, 4);
  const [full, lock, ours] = figures;
  t.same(full, {
    rule: 'full panel',
    callsSaved: 0,
    dollarsSaved: null,
    wrongStops: 0,
    stoppedEarly: 0,
    agreement: 1,
    accuracy: 0.25,
  });
  t.same(lock, {
    rule: 'lock only',
    callsSaved: 4 / 20,
    dollarsSaved: null,
    wrongStops: 0,
    stoppedEarly: 0.5,
    agreement: 1,
    accuracy: 0.25,
  });
  t.match(ours, { rule: 'EloquentPoll', callsSaved: 4 / 20, wrongStops: 0, agreement: 1 });
});

t.test('a stop is wrong when the full panel elects another option', async (t) => {
  // The option that comes first leads by one; a threshold of 0 stops as soon as three votes have a leader.
  const polls = pollsOf(['AABBB']);
  const [, , ours] = compareRules(polls, 0, () => {});
  const [early] = polls.map(({ votes }) => votes.slice(0, 3).filter((option) => option === 1).length);
  const stoppedOnA = early! < 2;
  t.equal(ours!.stoppedEarly, 1);
  t.equal(ours!.wrongStops, stoppedOnA ? 1 : 0);
  t.equal(ours!.agreement, stoppedOnA ? 0 : 1);
  t.equal(ours!.accuracy, stoppedOnA ? 1 : 0);
  t.equal(ours!.callsSaved, 2 / 5);
});

t.test('forecasts: one for each state with a leader before the last vote', async (t) => {
  const forecasts = forecastsOf(pollsOf(['AAAAA']));
  t.equal(forecasts.length, 4);
  t.ok(forecasts.every(({ cameTrue }) => cameTrue));
  t.ok(forecasts[0]!.confidence < forecasts[1]!.confidence);
  t.same(
    forecasts.slice(2).map(({ confidence }) => confidence),
    [1, 1],
    'three of five are a lock',
  );
  t.same(forecastsOf(pollsOf(['-----'])), []);
  t.ok(
    forecastsOf(pollsOf(['AABB-'])).every(({ cameTrue }) => !cameTrue),
    'a tie has no winner',
  );
});

t.test('calibration of known forecasts', async (t) => {
  const { states, ece, eceOpen, brier, bins } = calibrate([
    { confidence: 0.62, cameTrue: true },
    { confidence: 0.66, cameTrue: false },
    { confidence: 0.9, cameTrue: true },
    { confidence: 1, cameTrue: true },
  ]);
  const near = (actual: number, expected: number) =>
    t.ok(Math.abs(actual - expected) < 1e-12, `${actual} is ${expected}`);
  t.equal(states, 4);
  near(ece, (2 * (0.64 - 0.5) + 2 * (1 - 0.95)) / 4);
  near(eceOpen, (2 * (0.64 - 0.5) + (1 - 0.9)) / 3);
  near(brier, (0.38 ** 2 + 0.66 ** 2 + 0.1 ** 2) / 4);
  t.same(
    bins.filter((bin) => bin.states > 0).map(({ from, to, states, cameTrue }) => [from, to, states, cameTrue]),
    [
      [0.6, 0.7, 2, 0.5],
      [0.9, 1, 2, 1],
    ],
  );
  t.match(calibrate([]), { states: 0, ece: 0, eceOpen: 0, brier: 0 });
});
