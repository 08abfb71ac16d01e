// Whether a poll asks its cheapest models first. That order saves most but is biased: the first votes resemble each
// other more than those of a shuffled panel. So it is used only if audits of this very order have certified it.
import { panelOrder } from './panel-order.ts';

export type AskingOrder = 'cheapest' | 'shuffled';

export interface PricedSeat {
  readonly family: string;
  /** The typical cost of a vote of this model, in micro-USD. */
  readonly typicalCostU: bigint;
}

/** Indices into `seats` in asking order. Seats with equal prices are shuffled by the seed. */
export function askingOrder(order: AskingOrder, seats: readonly PricedSeat[], seed: string): number[] {
  const shuffled = panelOrder(seats, seed);
  const price = (seat: number) => seats[seat]!.typicalCostU;
  return order === 'shuffled' ? shuffled : shuffled.toSorted((a, b) => Number(price(a) - price(b)));
}

/** What the audits of one panel in one order show about one kind of questions. */
export interface Certificate {
  readonly audits: number;
  /** The audits show that the rate of wrong early stops is within the promise. */
  readonly isCertified: boolean;
  /** The audits show that the rate is above the promise. */
  readonly isAlarmed: boolean;
}

/** Questions with two or three options behave differently, so they are certified by their own audits. */
export interface Certificates {
  readonly fewOptions: Certificate;
  readonly manyOptions: Certificate;
}

export const MAX_FEW_OPTIONS = 3;
/** How many audits of its own a kind of questions needs, unless an operator sets another number. */
export const MIN_AUDITS = 300;

/** The order in which a poll is asked: `wanted` only if the panel's audits in that order allow it. */
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

/** An alarm about one kind of questions counts for the whole panel. */
export const hasAlarm = ({ fewOptions, manyOptions }: Certificates): boolean =>
  fewOptions.isAlarmed || manyOptions.isAlarmed;
