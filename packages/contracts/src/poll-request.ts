import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { FREE_PRESETS, PRESETS } from './poll.ts';
import { literals, Probability } from './vocabulary.ts';

// What a caller may ask. Unknown fields are ignored and never stored. Two options that look the same to a reader are
// duplicates too; that rule is the gateway's and cannot be said in JSON Schema.

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

/** How sure, how dear and with which models: the same three fields wherever a poll is asked. */
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
      description: 'How sure the outcome must be before the poll stops early.',
    }),
  ),
  max_cost_usd: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: LIMITS.max_cost_usd.max, default: LIMITS.max_cost_usd.default }),
  ),
};

export const PollRequest = Type.Object(
  {
    question: Type.Optional(question),
    prompt: Type.Optional(prompt),
    options,
    poll_type: Type.Optional(literals(['fptp'], { default: 'fptp' })),
    ...terms,
  },
  { $id: 'PollRequest' },
);
export type PollRequest = Static<typeof PollRequest>;

/** The body of asynchronous and of streaming polls. */
export const SessionRequest = Type.Object({ question, options, ...terms }, { $id: 'SessionRequest' });
export type SessionRequest = Static<typeof SessionRequest>;

export const DryRunRequest = Type.Object(
  {
    question: Type.Optional(Type.String()),
    options: Type.Optional(Type.Array(Type.String())),
    preset: Type.Optional(Type.String()),
    confidence_threshold: Type.Optional(Type.Number()),
    max_cost_usd: Type.Optional(Type.Number()),
  },
  { $id: 'DryRunRequest' },
);

export const QUICK_THEMES = ['broad', 'fast', 'strong', 'search', ...FREE_PRESETS] as const;

export const QuickPollRequest = Type.Object(
  {
    question: Type.Optional(Type.String()),
    options: Type.Optional(Type.Array(Type.String())),
    q: Type.Optional(Type.String({ description: 'Alias of `question`.' })),
    o: Type.Optional(Type.Array(Type.String(), { description: 'Alias of `options`.' })),
    poll: Type.Optional(
      Type.String({
        maxLength: LIMITS.shorthand,
        description: 'A question followed by the options in square brackets, separated by commas.',
      }),
    ),
    theme: Type.Optional(literals(QUICK_THEMES)),
  },
  { $id: 'QuickPollRequest' },
);
export type QuickPollRequest = Static<typeof QuickPollRequest>;

export const EstimateQuery = Type.Object({
  preset: Type.Optional(literals(PRESETS, { default: 'broad' })),
  options: Type.Optional(
    Type.Integer({
      minimum: LIMITS.options.min,
      maximum: LIMITS.options.max,
      default: 2,
      description: 'The number of options.',
    }),
  ),
  confidence_threshold: Type.Optional(Probability),
});
