// The early stops of audited polls, as needed for certificate and alarm. Its size is bounded.
import type { Certificate } from '@eloquentpoll/voting';
import { evidenceBelow, evidenceOfRise, STRONG_EVIDENCE, TRIALS_OF_A_BLOCK, type Trials } from './e-value.ts';

export type Judgement = 'asked_all' | 'right_stop' | 'wrong_stop';

export interface StopLedger extends Certificate {
  readonly stops: Trials;
  /** The newest blocks of stops, to detect a rise that began with one of them. */
  readonly blocks: readonly Trials[];
}

const NO_TRIALS: Trials = { trials: 0, hits: 0 };
export const EMPTY_LEDGER: StopLedger = {
  audits: 0,
  isCertified: false,
  isAlarmed: false,
  stops: NO_TRIALS,
  blocks: [],
};

/**
 * Five thousand stops. A rise that began earlier is only detected by later bets: weaker evidence, but never false
 * evidence.
 */
const MAX_BLOCKS = 100;

/** Certificate and alarm are permanent once reached, because the evidence is valid at any time. */
export function withJudgement(before: StopLedger, promise: number, judgement: Judgement): StopLedger {
  const audits = before.audits + 1;
  if (judgement === 'asked_all') return { ...before, audits };
  const isHit = judgement === 'wrong_stop';
  const startsBlock = before.stops.trials % TRIALS_OF_A_BLOCK === 0;
  const earlier = startsBlock ? before.blocks : before.blocks.slice(0, -1);
  const current = startsBlock ? NO_TRIALS : before.blocks.at(-1)!;
  const stops = plus(before.stops, isHit);
  const blocks = [...earlier, plus(current, isHit)].slice(-MAX_BLOCKS);
  const begun = Math.ceil(stops.trials / TRIALS_OF_A_BLOCK);
  return {
    audits,
    isCertified: before.isCertified || evidenceBelow(promise, stops) >= STRONG_EVIDENCE,
    isAlarmed: before.isAlarmed || evidenceOfRise(promise, blocks, begun - blocks.length) >= STRONG_EVIDENCE,
    stops,
    blocks,
  };
}

const plus = ({ trials, hits }: Trials, isHit: boolean): Trials => ({ trials: trials + 1, hits: hits + Number(isHit) });

export const certificateOf = ({ audits, isCertified, isAlarmed }: StopLedger): Certificate => ({
  audits,
  isCertified,
  isAlarmed,
});
