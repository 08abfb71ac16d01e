import type { TerminationReason } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';

/** What the answer of an audited poll was made of. */
export interface HeardAudit {
  askedOrder: AskingOrder;
  threshold: number;
  optionCount: number;
  /** Ids, in the order in which they were heard. */
  models: readonly string[];
  /** Of each: an option, or null for none. */
  votes: readonly (number | null)[];
  /** After each of them: the confidence that followers were sent; null without a leader and where it is not known. */
  said: readonly (number | null)[];
  reason: TerminationReason | null;
  /** Of these votes. */
  winner: number | null;
  /** The most that asking the other models can cost, in micro-USD. */
  maxU: number;
}

/** As the SQL function note_audit reads it. */
interface HeardJson extends Pick<HeardAudit, 'threshold' | 'models' | 'votes' | 'said' | 'reason' | 'winner'> {
  asked_order: AskingOrder;
  option_count: number;
  max_u: number;
}

export const heardJson = ({ askedOrder, optionCount, maxU, ...same }: HeardAudit): HeardJson => ({
  ...same,
  asked_order: askedOrder,
  option_count: optionCount,
  max_u: maxU,
});

export const heardOf = ({ asked_order, option_count, max_u, ...same }: HeardJson): HeardAudit => ({
  ...same,
  askedOrder: asked_order,
  optionCount: option_count,
  maxU: max_u,
});
