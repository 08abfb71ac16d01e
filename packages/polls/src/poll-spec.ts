import { randomBytes } from 'node:crypto';
import type { PollSpec, Seat } from '@eloquentpoll/contracts';
import { panelOrder } from '@eloquentpoll/voting';

/** What a caller asked for: aliases folded, defaults filled in, every rule checked. */
export interface PollOrder extends Omit<PollSpec, 'seats' | 'seed' | 'simulated' | 'price_ppm' | 'caller'> {
  /** Of a custom panel, once they are known: a saved panel is read when the poll is accepted. */
  models?: readonly string[];
}

export interface Freeze {
  /** In the panel's own order, at the prices of this moment. */
  seats: readonly Seat[];
  simulated: boolean;
  /** List price by the provider's price, in millionths; left out where it is the provider's. */
  pricePpm?: number | undefined;
  /** Pseudonym of who asks. */
  caller?: string | undefined;
  seed?: string;
}

/** Makes an order exact: which models, in which order, at which prices. A worker needs nothing else. */
export function specOf(
  { models: _, ...order }: PollOrder,
  { seats, simulated, pricePpm, caller, seed = newSeed() }: Freeze,
): PollSpec {
  return {
    ...order,
    seed,
    seats: panelOrder(seats, seed).map((seat) => seats[seat]!),
    ...(pricePpm !== undefined && { price_ppm: pricePpm }),
    ...(caller !== undefined && { caller }),
    simulated,
  };
}

const newSeed = (): string => randomBytes(16).toString('hex');

/** The most that the poll can cost: what its seats can, or what its caller allows. */
export function holdOf({ seats, max_cost_u }: Pick<PollSpec, 'seats' | 'max_cost_u'>): bigint {
  const reserved = seats.reduce((sum, seat) => sum + seat.reserve_u, 0);
  return BigInt(Math.min(max_cost_u, reserved));
}

/** The maximum as its caller wrote it, which may be finer than micro-USD. */
export const maxCostUsdOf = ({ max_cost_usd, max_cost_u }: Pick<PollSpec, 'max_cost_usd' | 'max_cost_u'>): number =>
  max_cost_usd ?? max_cost_u / 1_000_000;
