import t from 'tap';
import { standing } from '../src/index.ts';
import { replay } from '../src/replay.ts';
import { stopReason } from '../src/stop-rules.ts';
import { situationOf, type TrackRecord } from '../src/track-record.ts';
import { pollAfter, RULES, seatsOf } from './make-poll.ts';

const VOTES = [0, 0, null, 1, 0, 0, 0];
const ended = (votes: readonly (number | null)[]) => votes.map((option, seat) => ({ seat, option, billedU: 0n }));

t.test('each step is where the poll stood, and stops where its rules did', (t) => {
  const seats = seatsOf(9);
  const steps = replay(RULES, seats, ended(VOTES));
  for (const [i, step] of steps.entries()) {
    const live = pollAfter(VOTES.slice(0, i + 1), seats);
    t.equal(step.confidence, standing(live).confidence);
    t.equal(step.stop, stopReason(live), `after vote ${i + 1}`);
  }
  t.same(
    steps.map(({ stop }) => stop),
    [null, null, null, null, null, 'confidence', 'mathematical_lock'],
  );
  t.end();
});

t.test('what the track record said at a step is all that it takes of it', (t) => {
  const seats = seatsOf(9);
  const outcomes = { polls: 180, won: 120 };
  const votes = ended(VOTES).map((vote, i) => (i === 5 ? { ...vote, outcomes } : vote));
  const record: TrackRecord = {
    panelSize: 9,
    situations: new Map([[situationOf([4, 1, 0], 6), outcomes]]),
    isAlarmed: false,
  };
  const live = pollAfter(VOTES.slice(0, 6), seats, { record });
  const step = replay(RULES, seats, votes)[5]!;
  t.equal(step.confidence, standing(live).confidence);
  t.equal(step.stop, null, 'the brake keeps it going');

  const alarmed = { ...RULES, record: { ...record, situations: new Map(), isAlarmed: true } };
  t.equal(replay(alarmed, seats, ended(VOTES))[5]!.stop, null, 'after an alarm nothing but a lock stops it');
  t.end();
});
