import { type Static, Type } from '@sinclair/typebox';
import { Count, DateTime, literals, Milliseconds, nullable, Probability, Usd } from './vocabulary.ts';

// How the service has done, counted from what is stored. A rate of nothing is null, never 0.

const Window = Type.Object({
  from: DateTime,
  to: DateTime,
  days: Count,
  most_polls: Type.Integer({
    minimum: 1,
    description:
      'Maximum number of polls that are counted, newest first. If it is reached, `from` is the time of the oldest one.',
  }),
});

const taken = {
  simulated: Type.Boolean({ description: 'Whether the models, and therefore the figures, are simulated.' }),
  generated_at: DateTime,
  cache_expires_at: DateTime,
};

export const Reputation = Type.Object(
  {
    service: Type.String(),
    window: Window,
    uptime: Type.Object({
      ratio: nullable(Probability),
      source: literals(['self'], {
        description:
          'Measured by the service itself: the share of minutes in which a gateway recorded that it was running.',
      }),
    }),
    polls: Type.Object({
      total: Count,
      success: Count,
      partial: Count,
      failed: Count,
      success_rate: nullable(Probability),
    }),
    latency_ms: Type.Object(
      { average: nullable(Milliseconds), p50: nullable(Milliseconds), p95: nullable(Milliseconds) },
      { description: 'Of polls that did not fail.' },
    ),
    cost_usd: Type.Object(
      { average: nullable(Usd), median: nullable(Usd) },
      { description: 'Of polls that did not fail and were not free.' },
    ),
    early_termination_rate: nullable(Probability),
    feedback: Type.Object(
      {
        total: Count,
        correct: Count,
        incorrect: Count,
        accounts: Type.Integer({ minimum: 0, description: 'Accounts that said whether an outcome was right.' }),
        accuracy_rate: nullable(
          Type.Number({
            minimum: 0,
            maximum: 1,
            description: 'The mean of these accounts’ shares of right outcomes: each account counts once.',
          }),
        ),
      },
      {
        description: 'Feedback of accounts about those of these polls that they paid for: the newest of each account.',
      },
    ),
    ...taken,
  },
  { $id: 'Reputation' },
);
export type Reputation = Static<typeof Reputation>;

export const ModelReputation = Type.Object(
  {
    model_id: Type.String(),
    provider: Type.String(),
    ballots: Type.Integer({ minimum: 0, description: 'How often the model was asked and the call not aborted.' }),
    votes: Type.Integer({ minimum: 0, description: 'How often the model gave a valid vote.' }),
    success_rate: nullable(Probability),
    average_latency_ms: nullable({
      ...Milliseconds,
      description:
        'Like `p95_latency_ms`, of valid votes: without calls that a stop aborted, so slow models look faster.',
    }),
    p95_latency_ms: nullable(Milliseconds),
    average_cost_usd: nullable(Type.Number({ minimum: 0, description: 'Average cost of a vote at the list price.' })),
    agreement_rate: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Share of votes for the option that the whole panel elected, on the basis `agreement_basis`. Null below 50 votes.',
      }),
    ),
    judged: Type.Integer({
      minimum: 0,
      description: 'The votes on which `agreement_rate` is based.',
    }),
    last_vote_at: nullable(DateTime),
  },
  { $id: 'ModelReputation' },
);
export type ModelReputation = Static<typeof ModelReputation>;

export const ModelReputations = Type.Object(
  {
    window: Window,
    agreement_basis: literals(['audits'], {
      description:
        'What `agreement_rate` is counted from. `audits`: polls that were drawn before they began and whose remaining models were asked after the answer, of the last 30 days; only votes that were heard whatever the others voted. Other polls are left out, because a model that is asked late votes there mostly on questions about which the others disagree.',
    }),
    count: Count,
    models: Type.Array(Type.Ref(ModelReputation)),
    ...taken,
  },
  { $id: 'ModelReputations' },
);
export type ModelReputations = Omit<Static<typeof ModelReputations>, 'models'> & { models: ModelReputation[] };
