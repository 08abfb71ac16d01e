import type { TerminationReason } from '@eloquentpoll/contracts';
import type { AskingOrder } from '@eloquentpoll/voting';

/** The votes of an audited poll that its answer was made of. */
export interface HeardAudit {
  askedOrder: AskingOrder;
  threshold: number;
  optionCount: number;
  /** Model ids, in the order in which they answered. */
  models: readonly string[];
  /** One per model: an option, or null for none. */
  votes: readonly (number | null)[];
  /** The confidence sent to followers after each vote; null without a leader, or if not known. */
  said: readonly (number | null)[];
  reason: TerminationReason | null;
  /** The winner of these votes. */
  winner: number | null;
  /** The maximum that asking the other models can cost, in micro-USD. */
  maxU: number;
  /** The maximum that asking the whole panel can cost. */
  panelU: number;
}

/** As read by the SQL function note_audit. */
interface HeardJson extends Pick<HeardAudit, 'threshold' | 'models' | 'votes' | 'said' | 'reason' | 'winner'> {
  asked_order: AskingOrder;
  option_count: number;
  max_u: number;
  panel_u: number;
}

export const heardJson = ({ askedOrder, optionCount, maxU, panelU, ...same }: HeardAudit): HeardJson => ({
  ...same,
  asked_order: askedOrder,
  option_count: optionCount,
  max_u: maxU,
  panel_u: panelU,
});

export const heardOf = ({ asked_order, option_count, max_u, panel_u, ...same }: HeardJson): HeardAudit => ({
  ...same,
  askedOrder: asked_order,
  optionCount: option_count,
  maxU: max_u,
  panelU: panel_u,
});
