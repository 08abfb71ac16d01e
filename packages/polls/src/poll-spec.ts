import type { Metadata, PollSpec, Seat } from '@eloquentpoll/contracts';
import { askingOrder } from '@eloquentpoll/voting';
import { drawnBytes } from './drawn-bytes.ts';

/** What a caller asked for: aliases folded, defaults filled in, every rule checked. */
export interface PollOrder
  extends Omit<PollSpec, 'seats' | 'seed' | 'simulated' | 'price_ppm' | 'caller' | 'track_record' | 'expires_at'> {
  /** Of a custom panel, once they are known: a saved panel is read when the poll is accepted. */
  models?: readonly string[];
  /** The caller's own labels; no part of the spec, so no worker and no model has them. */
  metadata?: Metadata;
  /** Seconds from when it is accepted; without them the service's own time. */
  expires_in?: number;
  /** Where its end is sent; no part of the spec either. */
  webhook_url?: string;
}

export interface Freeze {
  /** In the panel's own order, at the prices of this moment. */
  seats: readonly Seat[];
  simulated: boolean;
  /** List price by the provider's price, in millionths; left out where it is the provider's. */
  pricePpm?: number | undefined;
  /** Pseudonym of who asks. */
  caller?: string | undefined;
  /** When the poll and its result are deleted. */
  expiresAt?: Date | undefined;
  seed?: string;
  /** In which order the panel is asked, and what stops it; shuffled, and the urn, where it is left out. */
  asking?: AskedBy | undefined;
}

export interface AskedBy {
  /** What a call of each seat counts as in the order of prices, in micro-USD. */
  pricesU: readonly bigint[];
  /** Null where no track record has a say. */
  trackRecord: NonNullable<PollSpec['track_record']> | null;
}

/** Makes an order exact: which models, in which order, at which prices. A worker needs nothing else. */
export function specOf(
  { models: _models, metadata: _metadata, expires_in: _expiresIn, webhook_url: _webhookUrl, ...order }: PollOrder,
  { seats, simulated, pricePpm, caller, expiresAt, seed = newSeed(), asking }: Freeze,
): PollSpec {
  const trackRecord = asking?.trackRecord ?? null;
  const priced = seats.map(({ family }, i) => ({ family, typicalCostU: asking?.pricesU[i] ?? 0n }));
  return {
    ...order,
    seed,
    seats: askingOrder(trackRecord?.order ?? 'shuffled', priced, seed).map((seat) => seats[seat]!),
    ...(trackRecord && { track_record: trackRecord }),
    ...(pricePpm !== undefined && { price_ppm: pricePpm }),
    ...(caller !== undefined && { caller }),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
    simulated,
  };
}

const newSeed = (): string => drawnBytes(16).toString('hex');

/** The most that the poll can cost: what its seats can, or what its caller allows. */
export function holdOf({ seats, max_cost_u }: Pick<PollSpec, 'seats' | 'max_cost_u'>): bigint {
  const reserved = seats.reduce((sum, seat) => sum + seat.reserve_u, 0);
  return BigInt(Math.min(max_cost_u, reserved));
}

/** The maximum as its caller wrote it, which may be finer than micro-USD. */
export const maxCostUsdOf = ({ max_cost_usd, max_cost_u }: Pick<PollSpec, 'max_cost_usd' | 'max_cost_u'>): number =>
  max_cost_usd ?? max_cost_u / 1_000_000;
