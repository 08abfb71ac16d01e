import {
  decide,
  launched,
  learn,
  newPoll,
  type Outcomes,
  type PollState,
  type Rules,
  received,
  seededRandom,
  type TrackRecord,
  type VotingSeat,
} from '@eloquentpoll/voting';
import { chancesOf } from '@eloquentpoll/voting/chances';
import type { Line, Row } from '../bench-row.ts';
import { lowerQuartile } from '../windows.ts';

const POLLS = 400;
const ROUNDS = 8;
const OPTIONS = 10;
const SEATS = 20;
const AUDITS = 5_000;

/**
 * The rule itself, in the largest possible poll: ten options, twenty models that agree as often as real ones. Once
 * alone, once with a full track record and the chances of all options, which are sent after each vote.
 */
export const decision: Row = {
  id: 'decision',
  about: 'p99 of one decision and its odds by a track record, ten options and twenty models',
  async measure() {
    const record = auditedRecord(seededRandom('bench record'));
    return [line('decision', undefined), line('decision and odds by a record', record)];
  },
};

/** The lower quartile of several rounds, without decisions during which the processor was given to another process. */
function line(what: string, record: TrackRecord | undefined): Line {
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    const took: number[] = [];
    for (let poll = 0; poll < POLLS / ROUNDS; poll++) decideAll(seededRandom(`bench ${round} ${poll}`), took, record);
    return took.toSorted((a, b) => a - b);
  });
  const quantile = (share: number) =>
    lowerQuartile(rounds.map((took) => took[Math.floor(took.length * share)]!)) * 1_000;
  const [p50, p99] = [quantile(0.5), quantile(0.99)];
  return {
    quantity: `${what} p99, ${OPTIONS} options, ${SEATS} models`,
    ours: `${p99.toFixed(0)} us, p50 ${p50.toFixed(0)} us`,
    baseline: '',
    value: p99,
    unit: ' us',
    better: 'lower',
    must: 1_000,
    stretch: null,
  };
}

const preemptions = (): number => process.resourceUsage().involuntaryContextSwitches;

type Draw = (below: number) => number;

/** About 55 % of the votes are for option 0. */
const drawnVote = (draw: Draw): number => (draw(10) < 5 ? 0 : draw(OPTIONS));

function auditedRecord(draw: Draw): TrackRecord {
  const situations = new Map<string, Outcomes>();
  for (let audit = 0; audit < AUDITS; audit++)
    learn(situations, { optionCount: OPTIONS, votes: Array.from({ length: SEATS }, () => drawnVote(draw)) });
  return { panelSize: SEATS, situations, isAlarmed: false };
}

function decideAll(draw: Draw, took: number[], record: TrackRecord | undefined): void {
  const rules: Rules = {
    ...{ optionCount: OPTIONS, threshold: 0.999, maxCostU: 1_000_000n, minVotes: 3, hedge: 'one' },
    ...(record && { record }),
  };
  const seats: VotingSeat[] = Array.from({ length: SEATS }, (_, i) => ({
    family: `family-${i}`,
    reserveU: 1_000n,
    failureRate: 0.03,
  }));
  let state: PollState = newPoll(rules, seats);
  for (;;) {
    const switches = preemptions();
    const begun = performance.now();
    const decided = decide(state, { slow: false });
    if (record) chancesOf(state);
    const ms = performance.now() - begun;
    if (preemptions() === switches) took.push(ms);
    if (decided.kind === 'stop') return;
    state = launched(state, decided.launch);
    const seat = state.states.findIndex(({ kind }) => kind === 'in_flight');
    if (seat < 0) return;
    state = received(state, { seat, option: drawnVote(draw), billedU: 300n });
  }
}
