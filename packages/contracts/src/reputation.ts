import { type Static, Type } from '@sinclair/typebox';
import { Count, DateTime, literals, Milliseconds, nullable, Probability, Usd } from './vocabulary.ts';

// How the service has done, counted from what is stored. A rate of nothing is null, never 0.

const Window = Type.Object({
  from: DateTime,
  to: DateTime,
  days: Count,
  most_polls: Type.Integer({
    minimum: 1,
    description: 'No more than this many polls are counted, the newest ones; `from` is then the oldest of them.',
  }),
});

const taken = {
  simulated: Type.Boolean({ description: 'True when the models are simulated, and the figures with them.' }),
  generated_at: DateTime,
  cache_expires_at: DateTime,
};

export const Reputation = Type.Object(
  {
    service: Type.String(),
    window: Window,
    uptime: Type.Object({
      ratio: nullable(Probability),
      source: literals(['self'], { description: 'The share of minutes in which a gateway noted that it was alive.' }),
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
      { description: 'Of polls that brought an answer.' },
    ),
    cost_usd: Type.Object(
      { average: nullable(Usd), median: nullable(Usd) },
      { description: 'Of polls that brought an answer and were not free.' },
    ),
    early_termination_rate: nullable(Probability),
    feedback: Type.Object(
      { total: Count, correct: Count, incorrect: Count, accuracy_rate: nullable(Probability) },
      { description: 'What callers said about the outcomes of these polls.' },
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
    ballots: Type.Integer({ minimum: 0, description: 'How often it was asked and not interrupted.' }),
    votes: Type.Integer({ minimum: 0, description: 'How often it gave a valid vote.' }),
    success_rate: nullable(Probability),
    average_latency_ms: nullable(Milliseconds),
    p95_latency_ms: nullable(Milliseconds),
    average_cost_usd: nullable(Type.Number({ minimum: 0, description: 'Of a vote, at the list price.' })),
    agreement_rate: nullable(
      Type.Number({ minimum: 0, maximum: 1, description: 'Votes for the option that won, where one did.' }),
    ),
    judged: Type.Integer({
      minimum: 0,
      description: 'Votes in polls that some option won: what `agreement_rate` is a share of.',
    }),
    last_vote_at: nullable(DateTime),
  },
  { $id: 'ModelReputation' },
);
export type ModelReputation = Static<typeof ModelReputation>;

export const ModelReputations = Type.Object(
  { window: Window, count: Count, models: Type.Array(Type.Ref(ModelReputation)), ...taken },
  { $id: 'ModelReputations' },
);
export type ModelReputations = Omit<Static<typeof ModelReputations>, 'models'> & { models: ModelReputation[] };
