// What a decision costs, in multiplications instead of time: the same on every machine, under any load.
import t from 'tap';
import { chancesOf } from '../src/chances.ts';
import { decide } from '../src/decide.ts';
import { launched, newPoll, received, type VotingSeat } from '../src/poll.ts';
import { seededRandom } from '../src/seeded-random.ts';
import { termsMultiplied } from '../src/urn.ts';
import { RULES, seatsOf } from './make-poll.ts';

/** A million multiplications of doubles take about a millisecond. */
const MAX_TERMS_OF_ONE_STEP = 60_000;

t.test('ten options, twenty models: the odds of every state and its decision', async (t) => {
  let most = 0;
  for (let round = 0; round < 60; round++) {
    const draw = seededRandom(`work ${round}`);
    const seats: VotingSeat[] = seatsOf(20).map((seat, i) => ({ ...seat, failureRate: 0.01 * (i % 7) }));
    let poll = newPoll({ ...RULES, optionCount: 10, threshold: 1 }, seats);
    for (;;) {
      const before = termsMultiplied();
      chancesOf(poll);
      const decision = decide(poll, { slow: false });
      most = Math.max(most, termsMultiplied() - before);
      if (decision.kind === 'stop') break;
      poll = launched(poll, decision.launch);
      const seat = poll.states.findIndex(({ kind }) => kind === 'in_flight');
      // Some polls agree and some are scattered over all options, which has the most different counts.
      const option = draw(10) < round % 10 ? 0 : draw(10);
      poll = received(poll, { seat, option, billedU: 1n });
    }
  }
  t.ok(most > 1_000, `${most} terms`);
  t.ok(most <= MAX_TERMS_OF_ONE_STEP, `${most} terms`);
});

t.test('the same state costs nothing the second time', async (t) => {
  const poll = newPoll({ ...RULES, optionCount: 10 }, seatsOf(20));
  chancesOf(poll);
  const before = termsMultiplied();
  chancesOf(poll);
  t.equal(termsMultiplied(), before);
});
