import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { Count, DateTime, nullable, Probability } from './vocabulary.ts';

export const FeedbackRequest = Type.Object(
  {
    poll_id: Type.String({ minLength: 1 }),
    outcome_correct: Type.Optional(nullable(Type.Boolean())),
    confidence: Type.Optional(nullable(Probability)),
    notes: Type.Optional(nullable(Type.String({ maxLength: LIMITS.feedback_notes }))),
  },
  { $id: 'FeedbackRequest' },
);
export type FeedbackRequest = Static<typeof FeedbackRequest>;

export const FeedbackReceipt = Type.Object(
  { feedback_id: Type.String(), poll_id: Type.String(), recorded: Type.Boolean() },
  { $id: 'FeedbackReceipt' },
);
export type FeedbackReceipt = Static<typeof FeedbackReceipt>;

/** Public, so the entries carry neither notes nor an owner. */
export const FeedbackSummary = Type.Object(
  {
    poll_id: Type.String(),
    total_feedback: Count,
    correct: Count,
    incorrect: Count,
    accuracy_rate: nullable(Probability),
    entries: Type.Array(
      Type.Object({
        feedback_id: Type.String(),
        outcome_correct: nullable(Type.Boolean()),
        confidence: nullable(Probability),
        created_at: DateTime,
      }),
    ),
  },
  { $id: 'FeedbackSummary' },
);
export type FeedbackSummary = Static<typeof FeedbackSummary>;
