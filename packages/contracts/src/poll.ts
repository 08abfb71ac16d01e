import { type Static, Type } from '@sinclair/typebox';
import { DateTime, literals } from './vocabulary.ts';

// The shapes that travel inside the service: from the gateway to Postgres, from Postgres to the worker, from the
// worker to every follower. Money is integer micro-USD and fits a JSON number (a poll costs at most 25 USD).

export const PRESETS = ['broad', 'fast', 'strong'] as const;
export const FREE_PRESETS = ['free', 'free_search'] as const;
export const TERMINATION_REASONS = ['mathematical_lock', 'confidence', 'budget', 'roster_exhausted'] as const;
/** In which order a panel's models are asked. */
export const ASKING_ORDERS = ['cheapest', 'shuffled'] as const;
/** `flex`: later and cheaper, behind every poll that is of the other tier. */
export const SERVICE_TIERS = ['standard', 'flex'] as const;
export const VOTE_ERRORS = [
  'timeout',
  'refusal',
  'invalid_choice',
  'malformed',
  'rate_limited',
  'provider_error',
  'aborted',
] as const;

export type Preset = (typeof PRESETS)[number];
export type FreePreset = (typeof FREE_PRESETS)[number];
/** The panels of the roster file: the three presets of the contract and the two panels of free polls. */
export const ROSTER_PANELS = [...PRESETS, ...FREE_PRESETS] as const;
export type RosterPanel = (typeof ROSTER_PANELS)[number];
/** What a poll can be asked with; `custom` is a panel of models that its caller named. */
export const PANEL_NAMES = [...ROSTER_PANELS, 'custom'] as const;
export type PanelName = (typeof PANEL_NAMES)[number];
export type TerminationReason = (typeof TERMINATION_REASONS)[number];
export type ServiceTier = (typeof SERVICE_TIERS)[number];
export type VoteError = (typeof VOTE_ERRORS)[number];

const MicroUsd = Type.Integer({ minimum: 0 });

/** One place in a poll's panel, with the price it had when the poll was accepted. */
export const Seat = Type.Object({
  model_id: Type.String(),
  family: Type.String(),
  /** The most that this seat's vote can be billed, retry and repair included. */
  reserve_u: MicroUsd,
  /** What one call to the model costs us: at most, and usually. Missing in polls of older releases. */
  call_max_u: Type.Optional(MicroUsd),
  call_typical_u: Type.Optional(MicroUsd),
  /** What the vendor charges besides for a refused question. Missing where that is nothing. */
  refusal_fee_u: Type.Optional(MicroUsd),
  /** Chance that the model gives no vote, from its own record; 0 where nothing is known. */
  failure_rate: Type.Number({ minimum: 0, maximum: 1 }),
  /** The model's 90th percentile latency; a `strong` poll hedges once its oldest call is slower. */
  p90_ms: Type.Integer({ minimum: 0 }),
});
export type Seat = Static<typeof Seat>;

/** How a poll is asked whose panel has a track record. */
export const AskedByRecord = Type.Object(
  {
    order: literals(ASKING_ORDERS, { description: 'Cheapest models first, or shuffled (after an alarm).' }),
    roster_version: Type.String({
      description:
        'Identifies the models of the panel and their order by price. Audits are counted per roster version.',
    }),
    lock_only: Type.Boolean({
      description:
        'True if the track record raised an alarm or could not be read, so that the poll was not stopped by confidence.',
    }),
  },
  { description: 'Missing if the panel was shuffled and confidence is computed from the votes alone.' },
);
export type AskedByRecord = Static<typeof AskedByRecord>;

/** Everything a worker needs to run a poll, frozen when the poll was accepted. */
export const PollSpec = Type.Object({
  question: Type.String(),
  options: Type.Array(Type.String(), { minItems: 2, maxItems: 10 }),
  panel_name: literals(PANEL_NAMES),
  /** What the account calls its panel, where it named one that it saved. */
  saved_panel: Type.Optional(Type.String()),
  confidence_threshold: Type.Number({ minimum: 0, maximum: 1 }),
  max_cost_u: MicroUsd,
  /** The same as the caller said it, where it is finer than micro-USD: an answer repeats what was asked. */
  max_cost_usd: Type.Optional(Type.Number()),
  /** Valid votes before confidence may stop the poll. */
  min_votes: Type.Integer({ minimum: 1 }),
  /** Ask the web-search variant of a model where it has one. */
  search: Type.Boolean(),
  /** Missing where it is `standard`. */
  service_tier: Type.Optional(literals(SERVICE_TIERS)),
  /** Each model gives a reason with its vote. */
  reasons: Type.Optional(Type.Boolean()),
  /** Seeds labels and option order, so that a resumed poll asks the same question. */
  seed: Type.String(),
  /** In the order in which models are asked. */
  seats: Type.Array(Seat, { minItems: 1 }),
  /** List price by the provider's price, in millionths; the provider's price where it is missing. */
  price_ppm: Type.Optional(Type.Integer({ minimum: 1_000_000 })),
  /** Where a track record has a say. Missing: shuffled, and confidence is what the urn says. */
  track_record: Type.Optional(AskedByRecord),
  /** Pseudonym of who asks, for providers that take one. */
  caller: Type.Optional(Type.String()),
  /** When the poll and its result are deleted; missing where nothing deletes them but their owner. */
  expires_at: Type.Optional(DateTime),
  simulated: Type.Boolean(),
});
export type PollSpec = Static<typeof PollSpec>;

/** What the calls of one vote cost us, in micro-USD. */
export const CallCost = Type.Object({
  /** What providers say, else the tokens at their price, else what a call usually costs. */
  estimated_u: MicroUsd,
  /** The same, with the most that a call can cost where nothing is known. */
  max_u: MicroUsd,
  /** The part of `max_u` that is for calls which the question made fail: refused, malformed, an unknown label, repeatedly too slow. */
  fault_u: MicroUsd,
});
export type CallCost = Static<typeof CallCost>;

/** One model's answer, as it is logged while the poll runs and stored when it ends. */
export const Vote = Type.Object({
  seat: Type.Integer({ minimum: 0 }),
  model_id: Type.String(),
  /** Index into the poll's options; null when the model gave no valid vote. */
  option: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  error: Type.Union([literals(VOTE_ERRORS), Type.Null()]),
  latency_ms: Type.Integer({ minimum: 0 }),
  /** What the customer pays for the call that brought the vote; 0 for a failed vote. Storing the poll may add `fault_u`. */
  billed_u: MicroUsd,
  /** What the provider says it charged us, where it says so. */
  provider_cost_u: Type.Union([MicroUsd, Type.Null()]),
  /** Missing in votes of older releases, which have `provider_cost_u` only. */
  cost: Type.Optional(CallCost),
  /** Label shown to the model for each option, by option index. */
  labels: Type.Array(Type.String()),
  /** The model's reason, cleaned; absent where none was asked for. */
  reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** Exchanges with the provider for this vote, retries and repair included. */
  calls: Type.Integer({ minimum: 0 }),
  searched: Type.Boolean(),
  /** Of all its calls, as their providers counted them; absent where one of them did not. */
  tokens: Type.Optional(
    Type.Object({ prompt: Type.Integer({ minimum: 0 }), completion: Type.Integer({ minimum: 0 }) }),
  ),
});
export type Vote = Static<typeof Vote>;
