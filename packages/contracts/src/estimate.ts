import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { PANEL_NAMES, PRESETS, TERMINATION_REASONS } from './poll.ts';
import { Count, DateTime, literals, Milliseconds, Probability, Usd } from './vocabulary.ts';

// What a poll will take before it runs, and the named bundles of its terms.

const estimate = {
  preset: literals(PANEL_NAMES, { description: '`custom` if the request named the models.' }),
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
      description: 'The smallest possible number of votes at the usual price of a vote. A poll can cost less.',
    }),
    expected: Usd,
    max: Type.Number({ minimum: 0, description: 'The maximum that such a poll can cost.' }),
  }),
  latency_ms: Type.Object({ p50: Milliseconds, p95: Milliseconds }),
  early_termination: Type.Object({
    probability: Probability,
    likely_reason: literals(TERMINATION_REASONS, {
      description: 'The most likely reason for an early stop; `roster_exhausted` if the poll cannot stop early.',
    }),
  }),
  basis: literals(['recent_polls', 'catalog_prices'], {
    description: 'Whether latencies and failure rates come from recent calls or only from the model catalogue.',
  }),
  sample_size: Type.Integer({ minimum: 0, description: 'Number of recent calls behind the figures.' }),
  generated_at: DateTime,
};

export const Estimate = Type.Object(estimate, { $id: 'Estimate' });
export type Estimate = Static<typeof Estimate>;

/** An estimate of one particular poll, and whether its caller can pay for it. */
export const DryRunEstimates = Type.Object({
  ...estimate,
  max_cost_usd: Usd,
  within_budget: Type.Boolean({ description: 'Whether `max_cost_usd` covers every model of the panel.' }),
  min_cost_usd: Type.Number({ minimum: 0, description: 'The lowest `max_cost_usd` that covers one vote.' }),
  balance_sufficient: Type.Boolean({
    description: 'Whether the balance covers the maximum cost, as the poll requires.',
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
    errors: Type.Array(Type.String(), { description: 'The reasons why a poll with this body would be refused.' }),
    issues: Type.Array(Type.Object({ pointer: Type.String(), detail: Type.String() }), {
      description: 'The same reasons, each with a JSON pointer to its field.',
    }),
    warnings: Type.Array(Type.String(), {
      description: 'Possible mistakes that are not errors, such as options that look alike.',
    }),
    estimates: Type.Partial(DryRunEstimates, {
      description: 'Invalid fields are treated as absent. With an unknown preset, nothing can be estimated.',
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
