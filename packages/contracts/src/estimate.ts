import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { PANEL_NAMES, PRESETS, TERMINATION_REASONS } from './poll.ts';
import { Count, DateTime, literals, Milliseconds, Probability, Usd } from './vocabulary.ts';

// What a poll will take before it runs, and the named bundles of its terms.

const estimate = {
  preset: literals(PANEL_NAMES, { description: '`custom` where the models were named.' }),
  options: Type.Integer({ minimum: LIMITS.options.min, maximum: LIMITS.options.max }),
  poll_type: literals(['fptp']),
  confidence_threshold: Probability,
  currency: literals(['USD']),
  models: Type.Object({
    roster_size: Count,
    min_calls: Count,
    expected_calls: Type.Number({ minimum: 0 }),
    max_calls: Count,
  }),
  cost_usd: Type.Object({
    min: Type.Number({
      minimum: 0,
      description: 'The fewest votes at the usual price of a vote; a poll can cost less.',
    }),
    expected: Usd,
    max: Type.Number({ minimum: 0, description: 'Worst case: the most that such a poll is allowed to cost.' }),
  }),
  latency_ms: Type.Object({ p50: Milliseconds, p95: Milliseconds }),
  early_termination: Type.Object({
    probability: Probability,
    likely_reason: literals(TERMINATION_REASONS, {
      description: 'The likeliest way to end early; `roster_exhausted` where that is impossible.',
    }),
  }),
  basis: literals(['recent_polls', 'catalog_prices'], {
    description: 'Whether latencies and failure rates come from recent calls, or from the model catalogue alone.',
  }),
  sample_size: Type.Integer({ minimum: 0, description: 'Recent calls behind the figures.' }),
  generated_at: DateTime,
};

export const Estimate = Type.Object(estimate, { $id: 'Estimate' });
export type Estimate = Static<typeof Estimate>;

/** An estimate of one particular poll, and whether its caller can pay for it. */
export const DryRunEstimates = Type.Object({
  ...estimate,
  max_cost_usd: Usd,
  within_budget: Type.Boolean({ description: 'True when `max_cost_usd` allows every model of the panel.' }),
  min_cost_usd: Type.Number({ minimum: 0, description: 'The smallest `max_cost_usd` that pays for one vote.' }),
  balance_sufficient: Type.Boolean({
    description: 'True when the balance covers the worst case, as the poll demands.',
  }),
  estimated_cost_usd: Usd,
  estimated_models_invoked: Count,
  total_models: Count,
  estimated_latency_ms: Milliseconds,
});
export type DryRunEstimates = Static<typeof DryRunEstimates>;

export const DryRunResult = Type.Object(
  {
    dry_run: Type.Boolean(),
    valid: Type.Boolean(),
    errors: Type.Array(Type.String(), { description: 'What a poll with this body would be refused for.' }),
    issues: Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
      description: 'The same, each with a pointer to its field.',
    }),
    warnings: Type.Array(Type.String(), {
      description: 'What is no error and may be a mistake, such as options that look alike.',
    }),
    estimates: Type.Partial(DryRunEstimates, {
      description: 'Fields that are wrong count as absent; with an unknown preset there is nothing to estimate.',
    }),
  },
  { $id: 'DryRunResult' },
);
export type DryRunResult = Static<typeof DryRunResult>;

export const ProfileListing = Type.Object(
  {
    default: Type.String(),
    count: Count,
    profiles: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        preset: literals(PRESETS),
        confidence_threshold: Probability,
        max_cost_usd: Usd,
      }),
    ),
  },
  { $id: 'ProfileListing' },
);
export type ProfileListing = Static<typeof ProfileListing>;
