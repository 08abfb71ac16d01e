import type { PollSpec } from '@eloquentpoll/contracts';
import type { VoteRequest } from '@eloquentpoll/models/ask';
import { promptStyle } from '@eloquentpoll/models/panels';

/** The request for one seat of a poll. It is the same every time. */
export function requestFor(spec: PollSpec, seat: number): Omit<VoteRequest, 'pollId' | 'deadlineMs'> {
  const { question, options, seed, search, panel_name: panel, caller, price_ppm: pricePpm = 1_000_000 } = spec;
  const { model_id: modelId, reserve_u: reserveU, call_max_u: maxU, call_typical_u: typicalU } = spec.seats[seat]!;
  // Specs from older releases contain only the maximum that can be billed for a vote.
  const call = { maxU: maxU ?? reserveU, typicalU: typicalU ?? reserveU };
  const price = { reserveU, call, pricePpm };
  return { modelId, seat, question, options, seed, search, style: promptStyle(spec), ...price, caller, panel };
}
