import { type Static, type TArray, type TString, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { Metadata } from './metadata.ts';
import { FREE_PRESETS, PRESETS, SERVICE_TIERS } from './poll.ts';
import { ChosenModels, SavedPanelName } from './saved-panel.ts';
import { literals, Probability } from './vocabulary.ts';
import { WebhookUrl } from './webhooks.ts';

// What a caller may ask. Unknown fields are ignored and never stored. Options that are the same text in other characters
// are duplicates too; that rule is the gateway's and cannot be said in JSON Schema.

const question = Type.String({ minLength: LIMITS.question.min });
const prompt = Type.String({
  minLength: LIMITS.question.min,
  deprecated: true,
  description: 'Deprecated alias of `question`.',
});
const options = Type.Array(Type.String({ minLength: 1, maxLength: LIMITS.options.length }), {
  minItems: LIMITS.options.min,
  maxItems: LIMITS.options.max,
  uniqueItems: true,
});

/** Instead of a preset: at most one of the three may be sent. */
const chosen = {
  models: Type.Optional({
    ...ChosenModels,
    description: 'Ids of the models that vote, instead of a preset. GET /api/panels lists them.',
  }),
  panel: Type.Optional({
    ...SavedPanelName,
    description: 'The name of a saved panel, instead of a preset.',
  }),
};

/** How sure, how dear and with which models: the same fields wherever a poll is asked. */
const terms = {
  preset: Type.Optional(
    literals(PRESETS, {
      default: 'broad',
      description: '`broad`: diverse providers; `fast`: lower latency; `strong`: frontier models.',
    }),
  ),
  confidence_threshold: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      default: LIMITS.confidence_threshold.default,
      description: 'The confidence at which the poll stops early.',
    }),
  ),
  max_cost_usd: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: LIMITS.max_cost_usd.max, default: LIMITS.max_cost_usd.default }),
  ),
  ...chosen,
};

const reasons = Type.Optional(
  Type.Boolean({
    description:
      'Asks each model to explain its vote in one sentence of at most 40 words, in `votes[].reason`. This is untrusted text by a model. It is included in the estimate and the price.',
  }),
);

const metadata = Type.Optional(Metadata);

const expires_in = Type.Optional(
  Type.Integer({
    minimum: LIMITS.expires_in.min,
    maximum: LIMITS.expires_in.max,
    description:
      'Seconds until the poll and its result are deleted, counted from the deadline of the poll. Maximum and default: the retention of this service. `expires_at` of the result is the time of deletion.',
  }),
);

const profile = Type.Optional(
  Type.String({
    description:
      'A named set of values for preset, confidence_threshold and max_cost_usd, listed at /api/profiles. Fields of the request override it.',
  }),
);
const poll_type = Type.Optional(literals(['fptp'], { default: 'fptp' }));
const dry_run = Type.Optional(
  Type.Boolean({ description: 'Only checks the request and estimates its cost; nothing is run or charged.' }),
);

export const PollRequest = Type.Object(
  {
    question: Type.Optional(question),
    prompt: Type.Optional(prompt),
    options,
    poll_type,
    ...terms,
    profile,
    reasons,
    metadata,
    expires_in,
    dry_run,
  },
  { $id: 'PollRequest' },
);
export type PollRequest = Static<typeof PollRequest>;

export const ServiceTierTerm = Type.Optional(
  literals(SERVICE_TIERS, {
    default: 'standard',
    description:
      '`flex` polls are cheaper, run only when no standard poll waits, and end within 24 hours. Once a flex poll runs, it has the deadline of its preset.',
  }),
);

/** The body of asynchronous and of streaming polls. */
export const SessionRequest = Type.Object(
  {
    question,
    options,
    ...terms,
    reasons,
    metadata,
    expires_in,
    service_tier: ServiceTierTerm,
    webhook_url: Type.Optional(WebhookUrl),
  },
  { $id: 'SessionRequest' },
);
export type SessionRequest = Static<typeof SessionRequest>;

export const DryRunRequest = Type.Object(
  {
    question: Type.Optional(Type.String()),
    options: Type.Optional(Type.Array(Type.String())),
    preset: Type.Optional(Type.String()),
    models: Type.Optional(Type.Array(Type.String())),
    panel: Type.Optional(Type.String()),
    confidence_threshold: Type.Optional(Type.Number()),
    max_cost_usd: Type.Optional(Type.Number()),
    service_tier: Type.Optional(Type.String()),
  },
  { $id: 'DryRunRequest' },
);

export const QUICK_THEMES = [...PRESETS, 'search', ...FREE_PRESETS] as const;
export type QuickTheme = (typeof QUICK_THEMES)[number];

/** The short ways to say a question and its options. */
const short = (question: TString, options: TArray<TString>) => ({
  question: Type.Optional({ ...question, description: 'Sufficient alone: the service then supplies the options.' }),
  options: Type.Optional(options),
  q: Type.Optional({ ...question, description: 'Alias of `question`.' }),
  o: Type.Optional({ ...options, description: 'Alias of `options`.' }),
  poll: Type.Optional(
    Type.String({
      maxLength: LIMITS.shorthand,
      description:
        'A question followed by the options in square brackets, separated by commas: `Which is larger? [A, B]`.',
    }),
  ),
});

export const QuickPollRequest = Type.Object(
  {
    ...short(question, options),
    theme: Type.Optional(
      literals(QUICK_THEMES, {
        description:
          'A preset, `search` for models that search the web, or `free` and `free_search` for open-weight models at no cost. Default: `broad` with an API key, `free` without one.',
      }),
    ),
    confidence_threshold: terms.confidence_threshold,
    max_cost_usd: terms.max_cost_usd,
    ...chosen,
    reasons,
    metadata,
    expires_in,
  },
  { $id: 'QuickPollRequest' },
);
export type QuickPollRequest = Static<typeof QuickPollRequest>;

/** A quick poll that costs its caller nothing: tighter limits, and only the free themes. */
export const FreePollRequest = Type.Object(
  {
    ...short(
      Type.String({ minLength: LIMITS.question.min, maxLength: LIMITS.free.question }),
      Type.Array(Type.String({ minLength: 1, maxLength: LIMITS.free.option }), {
        minItems: LIMITS.options.min,
        maxItems: LIMITS.free.options,
        uniqueItems: true,
      }),
    ),
    theme: Type.Optional(literals(FREE_PRESETS, { default: 'free' })),
    reasons,
    expires_in,
  },
  { $id: 'FreePollRequest' },
);
export type FreePollRequest = Static<typeof FreePollRequest>;

/** A poll in shorthand, with everything that a poll can be asked with. */
export const ShortPollRequest = Type.Object(
  { ...QuickPollRequest.properties, prompt: Type.Optional(prompt), poll_type, ...terms, profile, dry_run },
  { $id: 'ShortPollRequest' },
);
export type ShortPollRequest = Static<typeof ShortPollRequest>;

export const EstimateQuery = Type.Object({
  // No default, which the validator would write beside `models`.
  preset: Type.Optional(literals(PRESETS, { description: 'Default: `broad`.' })),
  models: Type.Optional(
    Type.String({
      maxLength: LIMITS.chosen_models.max * (LIMITS.chosen_models.id + 1),
      description: 'Ids of models, separated by commas, instead of a preset.',
    }),
  ),
  options: Type.Optional(
    Type.Integer({
      minimum: LIMITS.options.min,
      maximum: LIMITS.options.max,
      default: 2,
      description: 'The number of options.',
    }),
  ),
  confidence_threshold: Type.Optional(Probability),
  max_cost_usd: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: LIMITS.max_cost_usd.max,
      description: 'The `max_cost_usd` of the poll.',
    }),
  ),
  reasons: Type.Optional(Type.Boolean({ description: 'Whether each model is also asked for a reason.' })),
  service_tier: ServiceTierTerm,
});
export type EstimateQuery = Static<typeof EstimateQuery>;
