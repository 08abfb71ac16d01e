import type { PollSpec, Vote } from '@eloquentpoll/contracts';
import { unanswered } from '@eloquentpoll/worker/collect-votes';
import type { Chance } from '../../terminal/chance.ts';
import type { ModelAnswer } from '../model-call.ts';

// Provider failures as the poll engine sees them: a vote that is late or has an error, or no vote although its time is
// up. How the model client handles them on the wire is tested there; here the effect on a poll matters.

interface ProviderBehaviour {
  /** The event on the wire. */
  readonly name: string;
  readonly error: Vote['error'];
  readonly afterMs: readonly [number, number];
  /** Continues after its time is up or its call is aborted; the poll must not wait for it. */
  readonly deaf?: boolean;
  /** Reports no usage, so it is billed by the reserve. */
  readonly unmetered?: boolean;
}

const VOTES: ProviderBehaviour = { name: 'a vote', error: null, afterMs: [20, 4_000] };

const FAULTS: readonly ProviderBehaviour[] = [
  { name: '429, with or without Retry-After', error: 'rate_limited', afterMs: [20, 4_000] },
  { name: '500, 502, 503, 529', error: 'provider_error', afterMs: [20, 4_000] },
  { name: 'connection reset', error: 'provider_error', afterMs: [1, 500] },
  { name: 'connect hangs', error: 'provider_error', afterMs: [3_000, 6_000] },
  { name: 'no first byte', error: 'timeout', afterMs: [15_000, 15_000] },
  { name: 'stream stops half-way', error: 'timeout', afterMs: [10_000, 14_000] },
  { name: '200 with a page of HTML', error: 'malformed', afterMs: [20, 2_000] },
  { name: 'truncated JSON', error: 'malformed', afterMs: [20, 4_000] },
  { name: 'unknown tool', error: 'malformed', afterMs: [20, 4_000] },
  { name: 'label outside the choice', error: 'invalid_choice', afterMs: [20, 4_000] },
  { name: 'two tool calls', error: 'malformed', afterMs: [20, 4_000] },
  { name: 'refusal', error: 'refusal', afterMs: [20, 4_000] },
  { name: 'empty answer', error: 'malformed', afterMs: [20, 4_000] },
  { name: 'usage missing', error: null, afterMs: [20, 4_000], unmetered: true },
  { name: 'slow drip', error: null, afterMs: [8_000, 44_000] },
  { name: '200 after the deadline', error: null, afterMs: [30_000, 130_000], deaf: true },
  { name: 'accepts and stays silent', error: null, afterMs: [1e9, 1e9], deaf: true },
];

export interface Temper {
  readonly faulty: number;
  readonly agreement: number;
  readonly favourite: number;
}

/** Draws what one call of a model returns; another call of the same model may differ. */
export function drawAnswer(draw: Chance, temper: Temper, spec: PollSpec, seat: number): ModelAnswer {
  const behaviour = draw.happens(temper.faulty) ? draw.pick(FAULTS) : VOTES;
  const afterMs = Math.round(draw.between(...behaviour.afterMs));
  const reserveU = spec.seats[seat]!.reserve_u;
  const option = draw.happens(temper.agreement) ? temper.favourite : draw.whole(0, spec.options.length - 1);
  const failed = behaviour.error !== null;
  return {
    afterMs,
    ignoresTime: behaviour.deaf === true,
    ignoresAbort: behaviour.deaf === true,
    vote: {
      ...unanswered(spec, seat, 'timeout', afterMs),
      option: failed ? null : option,
      error: behaviour.error,
      billed_u: failed ? 0 : behaviour.unmetered ? reserveU : draw.whole(0, reserveU),
    },
  };
}
