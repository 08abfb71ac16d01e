import {
  decide,
  launched,
  newPoll,
  type PollState,
  type Rules,
  received,
  seededRandom,
  type VotingSeat,
} from '@eloquentpoll/voting';
import type { Row } from '../rows.ts';

const POLLS = 200;
const OPTIONS = 10;
const SEATS = 20;

/** The rule itself, on the largest poll there is: ten options, twenty models that agree as often as models do. */
export const decision: Row = {
  id: 'decision',
  about: 'p99 of one decision, ten options and twenty models',
  async measure() {
    const took: number[] = [];
    for (let poll = 0; poll < POLLS; poll++) decideAll(seededRandom(`bench ${poll}`), took);
    const sorted = took.toSorted((a, b) => a - b);
    const p99 = sorted[Math.floor(sorted.length * 0.99)]! * 1_000;
    const p50 = sorted[Math.floor(sorted.length / 2)]! * 1_000;
    return [
      {
        quantity: `decision p99, ${OPTIONS} options, ${SEATS} models`,
        ours: `${p99.toFixed(0)} us, p50 ${p50.toFixed(0)} us`,
        anchor: '',
        value: p99,
        unit: ' us',
        better: 'lower',
        must: 1_000,
        moonshot: null,
      },
    ];
  },
};

function decideAll(draw: (below: number) => number, took: number[]): void {
  const rules: Rules = { optionCount: OPTIONS, threshold: 0.999, maxCostU: 1_000_000n, minVotes: 3, hedge: 'one' };
  const seats: VotingSeat[] = Array.from({ length: SEATS }, (_, i) => ({
    family: `family-${i}`,
    reserveU: 1_000n,
    failureRate: 0.03,
  }));
  let state: PollState = newPoll(rules, seats);
  for (;;) {
    const begun = performance.now();
    const decided = decide(state, { slow: false });
    took.push(performance.now() - begun);
    if (decided.kind === 'stop') return;
    state = launched(state, decided.launch);
    const seat = state.states.findIndex(({ kind }) => kind === 'in_flight');
    if (seat < 0) return;
    const option = draw(10) < 5 ? 0 : draw(OPTIONS);
    state = received(state, { seat, option, billedU: 300n });
  }
}
