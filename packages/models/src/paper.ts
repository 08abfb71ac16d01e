import type { Ballot, RosterName } from '@eloquentpoll/contracts';
import type { BallotStyle } from './prompt.ts';

/** One ballot to be filled in. */
export interface Paper {
  pollId: string;
  modelId: string;
  question: string;
  options: readonly string[];
  /** Place of the model in the poll's order of asking. */
  seat: number;
  /** The poll's secret seed: labels, order and nonce follow from it. */
  seed: string;
  style: BallotStyle;
  search: boolean;
  /** Milliseconds this ballot may take from now, waits and retries included. */
  deadlineMs: number;
  /** The most that may be billed. */
  reserveU: number;
  /** Whose time limits apply on top of the provider's. */
  roster?: RosterName;
}

/** What came of it: a ballot without its seat. */
export type Answer = Omit<Ballot, 'seat'>;
