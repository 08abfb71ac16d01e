import { openStorage } from '@eloquentpoll/storage';
import { testDatabase } from '@eloquentpoll/testkit/database';
import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { reportOfVotes } from '../src/replay/batch-of-votes.ts';
import { comparedAsAsked, comparedToProof, differs } from '../src/replay/compare-report.ts';
import { recordedPolls } from '../src/replay/recorded-poll.ts';
import { FIVE, votesOf } from './recorded-votes.ts';

// slow: 4 s

const POLLS = 150;
const SEVEN = [...FIVE, 'Qwen-x', 'jamba-x'];
const PRICES = new Map(SEVEN.map((model, i) => [model, 11.4 / 3 ** i] as const));

/** Models that are right three times out of five, agree more than by chance, and fail now and then. */
function someVotes(): string[] {
  const draw = seededRandom('votes of a batch');
  return Array.from({ length: POLLS }, () => {
    const easy = draw(3) === 0;
    return SEVEN.map(() => (easy || draw(10) < 4 ? 'A' : draw(20) === 0 ? '-' : 'ABCD'[draw(4)]!)).join('');
  });
}

t.test('recorded votes as a batch with right answers: its report says what the replay says', async (t) => {
  const storage = openStorage({
    databaseUrl: await testDatabase(t),
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 30_000,
  });
  t.teardown(() => storage[Symbol.asyncDispose]());
  const polls = recordedPolls(
    votesOf(SEVEN, someVotes()),
    { name: 'seven', models: SEVEN },
    { order: 'cheapest', prices: PRICES },
  );
  t.equal(polls.length, POLLS);

  const proven = await reportOfVotes(storage, polls, 1, () => {});
  const compared = comparedToProof(polls, proven);
  t.equal(compared.length, 1 + 6 * 11 + 3);
  t.same(compared.filter(differs), []);
  t.match(proven, {
    complete: true,
    polls: POLLS,
    simulated: true,
    rows: { total: POLLS, counted: POLLS, judged: POLLS },
  });
  const [{ thresholds } = { thresholds: [] }] = proven.panels;
  const low = thresholds.find(({ confidence_threshold }) => confidence_threshold === 0.6)!;
  t.ok(low.wrong_stops!.wrong > 0 && low.difference!.lost > 0, 'the votes are of a kind that shows differences');

  const asked = await reportOfVotes(storage, polls, 0.9, () => {});
  t.same(comparedAsAsked(polls, 0.9, asked).filter(differs), []);
  const [{ thresholds: replayed, calibration } = { thresholds: [], calibration: null }] = asked.panels;
  t.match(
    replayed.find(({ confidence_threshold }) => confidence_threshold === 0.8),
    { unknown: 0, accuracy: thresholds.find(({ confidence_threshold }) => confidence_threshold === 0.8)!.accuracy! },
    'a lower threshold is replayed from the votes that came',
  );
  const above = replayed.find(({ confidence_threshold }) => confidence_threshold === 1)!;
  t.ok(above.unknown > 0 && above.accuracy === null && above.wrong_stops === null, 'a higher one is not known');
  t.match(replayed[0], { wrong_stops: { share: null }, panel_agreement: null }, 'nor what the whole panel elects');
  t.ok(calibration!.unknown > 0 && calibration!.error === null);
});
