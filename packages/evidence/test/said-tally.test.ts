import fc from '@eloquentpoll/testkit/fast-check';
import { seededRandom } from '@eloquentpoll/voting';
import t from 'tap';
import { bandsOf, calibrationBands } from '../src/calibration.ts';
import { STRONG_EVIDENCE } from '../src/e-value.ts';
import { addedSaid, EMPTY_SAID, type SaidPoll, saidTally, statesOf, stopFigures } from '../src/said-tally.ts';
import { holds } from './holds.ts';

const stopped: SaidPoll = {
  panelSize: 5,
  optionCount: 2,
  votes: [0, 1, 0, 0, 1],
  said: [0.7, null, 0.75, 0.96],
  winner: 0,
  stoppedFor: 0.95,
};
const total = (polls: readonly SaidPoll[]) => polls.map(saidTally).reduce(addedSaid, EMPTY_SAID);

t.test('a state is what was said while votes were missing, against what the whole panel elected', async (t) => {
  t.same(statesOf(stopped), [
    { confidence: 0.7, cameTrue: true },
    { confidence: 0.75, cameTrue: true },
    { confidence: 0.96, cameTrue: true },
  ]);
  t.same(
    statesOf({ ...stopped, winner: null }).map(({ cameTrue }) => cameTrue),
    [false, false, false],
    'a tie is not what was said',
  );
  t.equal(statesOf({ ...stopped, said: [0.7, null, 0.75, 0.9, 1] }).length, 3, 'the last vote is no forecast');
});

t.test('a stop counts where the confidence ended the poll, by its threshold', async (t) => {
  t.same(saidTally(stopped).stops, { 0.95: [1, 0.96, 1] });
  t.same(saidTally({ ...stopped, stoppedFor: null }).stops, {});
  t.same(saidTally({ ...stopped, said: [0.7, null, 0.75, null] }).stops, {}, 'of a worker that died it is not known');
  t.same(saidTally({ ...stopped, said: [0.7, null, 0.75, 1] }).stops, {}, 'a proof is no forecast');
});

t.test('wrong stops against the promise of each threshold, with evidence for and against it', async (t) => {
  const wrong = { ...stopped, winner: 1 };
  const good = total([...new Array<SaidPoll>(300).fill(stopped), wrong, wrong]);
  t.match(stopFigures(good), { polls: 302, wrong: 2 });
  t.ok(Math.abs(stopFigures(good).allowed - 0.05 * 302) < 1e-9);
  t.ok(stopFigures(good).evidenceKept >= STRONG_EVIDENCE && stopFigures(good).evidenceBroken < 1);
  const bad = total([...new Array<SaidPoll>(80).fill(stopped), ...new Array<SaidPoll>(20).fill(wrong)]);
  t.ok(stopFigures(bad).evidenceBroken >= STRONG_EVIDENCE && stopFigures(bad).evidenceKept < 1);
  const lax = new Array<SaidPoll>(20).fill({ ...wrong, stoppedFor: 0.6 });
  const mixed = stopFigures(total([...new Array<SaidPoll>(80).fill(stopped), ...lax]));
  t.ok(mixed.allowed > 11.9 && mixed.allowed < 12.1, 'each stop is held to its own threshold');
  t.same(stopFigures(total([{ ...wrong, stoppedFor: 0 }])), {
    ...{ polls: 1, said: 0.96, wrong: 1, allowed: 1, evidenceKept: 1, evidenceBroken: 1 },
  });
  t.same(stopFigures(EMPTY_SAID), { polls: 0, said: 0, wrong: 0, allowed: 0, evidenceKept: 1, evidenceBroken: 1 });
});

t.test('sound stops at a lax threshold hide no broken promise at a strict one, and certify none', async (t) => {
  const wrong = { ...stopped, winner: 1 };
  const strict = [...new Array<SaidPoll>(32).fill(stopped), ...new Array<SaidPoll>(8).fill(wrong)];
  const lax = new Array<SaidPoll>(400).fill({ ...stopped, stoppedFor: 0.5 });
  const [alone, both] = [stopFigures(total(strict)), stopFigures(total([...strict, ...lax]))];
  t.ok(alone.evidenceBroken >= STRONG_EVIDENCE && alone.evidenceKept < 1);
  t.ok(both.evidenceBroken >= STRONG_EVIDENCE, String(both.evidenceBroken));
  t.equal(both.evidenceKept, alone.evidenceKept, 'the promise that is kept least');
  const sound = stopFigures(total([...new Array<SaidPoll>(300).fill(stopped), ...lax]));
  t.ok(sound.evidenceKept >= STRONG_EVIDENCE && sound.evidenceBroken < 1);
});

t.test('thresholds that callers choose neither pin nor dilute the evidence', async (t) => {
  const wrong = { ...stopped, winner: 1 };
  const at = (stoppedFor: number, count = 1) => new Array<SaidPoll>(count).fill({ ...stopped, stoppedFor });
  const sound = at(0.95, 300);
  const alone = stopFigures(total(sound)).evidenceKept;
  t.ok(stopFigures(total([...sound, ...at(0.9512)])).evidenceKept >= alone, 'one stop more of the same group');
  const bad = [...at(0.95, 176), ...new Array<SaidPoll>(24).fill(wrong)];
  const others = Array.from({ length: 12 }, (_, i) => at(0.951 + i / 400)).flat();
  const [few, many] = [stopFigures(total(bad)), stopFigures(total([...bad, ...others]))];
  t.ok(few.evidenceBroken > 50, String(few.evidenceBroken));
  t.ok(
    many.evidenceBroken > STRONG_EVIDENCE,
    `${many.evidenceBroken}: twelve right stops are twelve, not twelve promises`,
  );
  const nothing = stopFigures(total([...at(0.3), ...at(0.6), ...at(0.85), ...at(0.92), ...at(0.96), ...at(0.999)]));
  t.ok(nothing.evidenceBroken <= 1.01, String(nothing.evidenceBroken));
});

t.test('a group whose stops are as often wrong as each may be is no evidence, whatever their thresholds', async (t) => {
  // The mean over many worlds in which every promise is just kept: an e-value exceeds 1 on average only if one is broken.
  const draw = seededRandom('promises');
  let sum = 0;
  const worlds = 4_000;
  for (let world = 0; world < worlds; world++) {
    const polls = Array.from({ length: 30 }, () => {
      const stoppedFor = [0.5, 0.9, 0.95, 0.96, 0.97, 0.98][draw(6)]!;
      return { ...stopped, stoppedFor, ...(draw(1_000) < 1_000 * (1 - stoppedFor) && { winner: 1 }) };
    });
    sum += Math.min(100, stopFigures(total(polls)).evidenceBroken);
  }
  t.ok(sum / worlds < 1.1, String(sum / worlds));
});

t.test('sums of any polls, added in any grouping, are the bands of all their states', async (t) => {
  const poll = fc
    .record({
      votes: fc.array(fc.option(fc.nat({ max: 2 })), { minLength: 4, maxLength: 4 }),
      said: fc.array(fc.option(fc.double({ min: 0, max: 1, noNaN: true })), { maxLength: 4 }),
      winner: fc.option(fc.nat({ max: 2 })),
    })
    .map((some): SaidPoll => ({ ...some, panelSize: 4, optionCount: 3, stoppedFor: null }));
  holds(
    t,
    'as one list or as sums of months',
    fc.property(fc.array(poll, { maxLength: 40 }), fc.nat({ max: 40 }), (polls, cut) => {
      const months = addedSaid(total(polls.slice(0, cut)), total(polls.slice(cut)));
      const states = polls.flatMap((one, i) => statesOf(one).map((state) => ({ ...state, poll: i })));
      const [sums, list] = [bandsOf(months.bands, 5), calibrationBands(states, 5)];
      return (
        sums.length === list.length &&
        sums.every(
          (band, i) =>
            band.polls === list[i]!.polls &&
            band.from === list[i]!.from &&
            Math.abs(band.cameTrue - list[i]!.cameTrue) < 1e-9 &&
            Math.abs(band.said - list[i]!.said) < 1e-9,
        )
      );
    }),
  );
});
