import { type Static, Type } from '@sinclair/typebox';
import { Count, literals, nullable } from './vocabulary.ts';

// What rows of a batch came to, in a batch and in its event.

export const BatchCounts = Type.Object({
  total: Count,
  waiting: Count,
  running: Count,
  success: Count,
  partial: Count,
  failed: Count,
  canceled: Count,
  not_run: Count,
});
export type BatchCounts = Static<typeof BatchCounts>;

/** Why a row of a batch that has ended has no poll. */
const NOT_RUN_REASONS = ['canceled', 'expired', 'uncovered'] as const;
export type NotRunReason = (typeof NOT_RUN_REASONS)[number];

export const notRunReason = (description: string) =>
  nullable(
    literals(NOT_RUN_REASONS, {
      description: `${description} \`canceled\`: the batch was canceled, or its account was frozen or closed; \`expired\`: the 24 hours were over; \`uncovered\`: the rest of \`max_cost_usd\`, of the reservation or of the balance did not cover the next row.`,
    }),
  );

export const WHY_ROWS_WERE_NOT_RUN = notRunReason(
  'Why rows were not run. Null if all rows were run, and until the batch has ended.',
);
