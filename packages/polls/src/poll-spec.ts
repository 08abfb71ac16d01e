import type { Metadata, PollSpec, Seat } from '@eloquentpoll/contracts';
import { askingOrder } from '@eloquentpoll/voting';
import { drawnBytes } from './drawn-bytes.ts';

/** What a caller asked for, with aliases resolved, defaults filled in, and all rules checked. */
export interface PollOrder
  extends Omit<PollSpec, 'seats' | 'seed' | 'simulated' | 'price_ppm' | 'caller' | 'track_record' | 'expires_at'> {
  /** The models of a custom panel. A saved panel is only read when the poll is accepted. */
  models?: readonly string[];
  /** The caller's own labels. Not part of the spec, so neither workers nor models receive them. */
  metadata?: Metadata;
  /** Seconds after the deadline. Default: the retention of the service. */
  expires_in?: number;
  /** The address that is notified of the poll's end. Not part of the spec either. */
  webhook_url?: string;
}

export interface Freeze {
  /** In the order of the panel, at current prices. */
  seats: readonly Seat[];
  simulated: boolean;
  /** List price divided by the provider's price, in millionths. Undefined if they are equal. */
  pricePpm?: number | undefined;
  /** Pseudonym of the caller. */
  caller?: string | undefined;
  /** When the poll and its result are deleted. */
  expiresAt?: Date | undefined;
  seed?: string;
  /** The asking order and its track record. Default: shuffled, and only the urn stops polls early. */
  asking?: AskedBy | undefined;
}

export interface AskedBy {
  /** The price of each seat's call that determines the order, in micro-USD. */
  pricesU: readonly bigint[];
  /** Null if no track record is used. */
  trackRecord: NonNullable<PollSpec['track_record']> | null;
}

/** Fixes everything about an order: models, asking order, prices. A worker needs nothing else. */
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

/** The maximum cost of the poll: the sum of its seats' reserves, or the caller's limit if lower. */
export function holdOf({ seats, max_cost_u }: Pick<PollSpec, 'seats' | 'max_cost_u'>): bigint {
  const reserved = seats.reduce((sum, seat) => sum + seat.reserve_u, 0);
  return BigInt(Math.min(max_cost_u, reserved));
}

/** The limit as the caller wrote it, which can be finer than micro-USD. */
export const maxCostUsdOf = ({ max_cost_usd, max_cost_u }: Pick<PollSpec, 'max_cost_usd' | 'max_cost_u'>): number =>
  max_cost_usd ?? max_cost_u / 1_000_000;
