// Whether a poll asks its cheapest models first. That order saves most, and it is biased: the first voices resemble each
// other more than a shuffled panel's. So it is used only where audits of this very order have shown that it may be.
import { panelOrder } from './panel-order.ts';

export type AskingOrder = 'cheapest' | 'shuffled';

export interface PricedSeat {
  readonly family: string;
  /** What a vote of this model usually costs, in micro-USD. */
  readonly typicalCostU: bigint;
}

/** Indices into `seats` in the order in which they are asked; seats of one price are shuffled by the seed. */
export function askingOrder(order: AskingOrder, seats: readonly PricedSeat[], seed: string): number[] {
  const shuffled = panelOrder(seats, seed);
  const price = (seat: number) => seats[seat]!.typicalCostU;
  return order === 'shuffled' ? shuffled : shuffled.toSorted((a, b) => Number(price(a) - price(b)));
}

/** What the audits of one panel, asked in one order, say about questions of one kind. */
export interface Certificate {
  readonly audits: number;
  /** The rate of wrong early stops was shown to be within the promise. */
  readonly isCertified: boolean;
  /** It was shown to be beyond the promise. */
  readonly isAlarmed: boolean;
}

/** Questions of two or three options behave differently, and are certified by audits of their own. */
export interface Certificates {
  readonly fewOptions: Certificate;
  readonly manyOptions: Certificate;
}

export const MAX_FEW_OPTIONS = 3;
/** Audits of its own that a kind of question needs, unless an operator asks for more or fewer. */
export const MIN_AUDITS = 300;

/** The order that a poll of a panel that wants to be asked `wanted` is asked in, by the panel's audits in that order. */
export function orderInEffect(
  wanted: AskingOrder,
  optionCount: number,
  audits: Certificates | null,
  minAudits = MIN_AUDITS,
): AskingOrder {
  if (wanted === 'shuffled' || audits === null || hasAlarm(audits)) return 'shuffled';
  const own = optionCount <= MAX_FEW_OPTIONS ? audits.fewOptions : audits.manyOptions;
  return own.isCertified && own.audits >= minAudits ? 'cheapest' : 'shuffled';
}

/** An alarm about any kind of question distrusts the whole panel. */
export const hasAlarm = ({ fewOptions, manyOptions }: Certificates): boolean =>
  fewOptions.isAlarmed || manyOptions.isAlarmed;
