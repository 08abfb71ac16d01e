import type { PollSpec } from '@eloquentpoll/contracts';
import type { VoteRequest } from '@eloquentpoll/models/ask';
import { promptStyle } from '@eloquentpoll/models/panels';

/** What one seat of a poll is asked: the same whenever it is asked. */
export function requestFor(spec: PollSpec, seat: number): Omit<VoteRequest, 'pollId' | 'deadlineMs'> {
  const { question, options, seed, search, panel_name: panel, caller, price_ppm: pricePpm = 1_000_000 } = spec;
  const { model_id: modelId, reserve_u: reserveU, call_max_u: maxU, call_typical_u: typicalU } = spec.seats[seat]!;
  // A poll of an older release says only what a vote can be billed.
  const call = { maxU: maxU ?? reserveU, typicalU: typicalU ?? reserveU };
  const price = { reserveU, call, pricePpm };
  return { modelId, seat, question, options, seed, search, style: promptStyle(spec), ...price, caller, panel };
}
