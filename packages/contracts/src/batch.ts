import { type Static, Type } from '@sinclair/typebox';
import { BatchCounts, notRunReason, WHY_ROWS_WERE_NOT_RUN } from './batch-counts.ts';
import { ErrorBody, Problem } from './error-body.ts';
import { LIMITS } from './limits.ts';
import { Metadata } from './metadata.ts';
import { PRESETS } from './poll.ts';
import { SessionRequest } from './poll-request.ts';
import { PollResponse } from './poll-response.ts';
import { Count, DateTime, literals, nullable, Probability, Usd } from './vocabulary.ts';
import { WebhookUrl } from './webhooks.ts';

// Many polls handed over in one request, and what became of them.

export const BATCH_STATUSES = ['running', 'canceling', 'completed', 'canceled', 'expired'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];
/** What a row of a batch came to. */
export const BATCH_OUTCOMES = ['success', 'partial', 'failed', 'canceled', 'not_run'] as const;
export type BatchOutcome = (typeof BATCH_OUTCOMES)[number];

const { batch } = LIMITS;

const customId = Type.String({
  minLength: 1,
  maxLength: batch.custom_id,
  pattern: '^[^\\p{Cc}]*$',
  description: `Your id for the row, unique in the batch, at most ${batch.custom_id} characters. Default: its line number.`,
});

export const BatchRow = Type.Object(
  {
    custom_id: Type.Optional(customId),
    ...SessionRequest.properties,
    gold: Type.Optional(
      Type.String({ description: 'The right answer, if you know it: the text of one of the options.' }),
    ),
  },
  { $id: 'BatchRow', description: 'A poll of a batch.' },
);

/** Of a whole batch: fields of the body, and query parameters of an upload. */
export const BatchTerms = Type.Object(
  {
    preset: Type.Optional(literals(PRESETS, { description: 'For rows that name no preset, models or panel.' })),
    confidence_threshold: Type.Optional({ ...Probability, description: 'For rows that have no threshold.' }),
    reasons: Type.Optional(Type.Boolean({ description: 'For rows without this field.' })),
    max_cost_usd: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'The maximum cost of the whole batch. Rows that it does not cover are not run.',
      }),
    ),
    metadata: Type.Optional({ ...Metadata, description: 'Your own labels for the batch.' }),
    webhook_url: Type.Optional(WebhookUrl),
    skip_invalid: Type.Optional(Type.Boolean({ description: 'Skip invalid rows instead of refusing the batch.' })),
  },
  { $id: 'BatchTerms' },
);
export type BatchTerms = Static<typeof BatchTerms>;

export const BatchRequest = Type.Object(
  {
    requests: Type.Array(Type.Ref(BatchRow), { minItems: 1, maxItems: batch.inline_rows }),
    ...BatchTerms.properties,
  },
  { $id: 'BatchRequest' },
);

export const BatchRowError = Type.Object(
  {
    line: Type.Integer({
      minimum: 1,
      description: 'The line in the file, or the position in `requests`, counted from 1.',
    }),
    custom_id: nullable(Type.String()),
    field: nullable(Type.String({ description: 'Such as `options[1]`; null if the row as a whole is wrong.' })),
    message: Type.String(),
  },
  { $id: 'BatchRowError' },
);
export type BatchRowError = Static<typeof BatchRowError>;

const rowErrors = {
  errors: Type.Optional(
    Type.Array(Type.Ref(BatchRowError), {
      maxItems: batch.errors,
      description: 'The first invalid rows, with `batch_invalid`.',
    }),
  ),
  error_count: Type.Optional(Type.Integer({ minimum: 1 })),
};

export const BatchError = Type.Object({ ...ErrorBody.properties, ...rowErrors }, { $id: 'BatchError' });
const problem = { ...Problem.properties, ...rowErrors };
export const BatchProblem = Type.Object(
  { ...problem, errors: Type.Optional(Type.Array(Type.Object({}))) },
  { $id: 'BatchProblem', description: 'With `batch_invalid`, `errors` is as in BatchError, otherwise as in Problem.' },
);

const costs = {
  required_usd: Type.Optional({ ...Usd, description: 'The available balance that the batch needs.' }),
  available_usd: Type.Optional(Type.Number()),
};
export const BatchCostError = Type.Object({ ...ErrorBody.properties, ...costs }, { $id: 'BatchCostError' });
export const BatchCostProblem = Type.Object({ ...Problem.properties, ...costs }, { $id: 'BatchCostProblem' });

export const BatchSkipped = Type.Object({
  count: Count,
  first: Type.Array(Type.Ref(BatchRowError), { maxItems: batch.errors }),
});
export type BatchSkipped = Static<typeof BatchSkipped>;

export const Batch = Type.Object(
  {
    batch_id: Type.String(),
    status: literals(BATCH_STATUSES),
    service_tier: literals(['flex']),
    counts: BatchCounts,
    not_run_reason: WHY_ROWS_WERE_NOT_RUN,
    skipped: BatchSkipped,
    has_gold: Type.Boolean({ description: 'Whether any row contains its right answer.' }),
    cost_usd: Type.Number({ minimum: 0, description: 'What the polls of the batch have cost so far.' }),
    reserved_usd: Type.Number({
      minimum: 0,
      description: 'Reserved for waiting rows, in addition to the holds of running polls.',
    }),
    max_cost_usd: nullable(Usd),
    metadata: Metadata,
    created_at: DateTime,
    expires_at: { ...DateTime, description: 'Rows that have not started by then are not run.' },
    ended_at: nullable(DateTime),
    status_url: Type.String(),
    results_url: Type.String(),
    report_url: nullable(
      Type.String({ description: 'Compares outcomes with right answers; null if no row contains one.' }),
    ),
  },
  { $id: 'Batch' },
);
export type Batch = Static<typeof Batch>;

export const BatchDeleted = Type.Object({ batch_id: Type.String(), deleted: Type.Boolean() }, { $id: 'BatchDeleted' });
export type BatchDeleted = Static<typeof BatchDeleted>;

export const BatchResult = Type.Object(
  {
    custom_id: Type.String(),
    line: Type.Integer({ minimum: 1 }),
    status: literals(BATCH_OUTCOMES),
    not_run_reason: notRunReason('Why the row was not run; null if it was.'),
    session_id: nullable(Type.String()),
    result: Type.Union([Type.Ref(PollResponse), Type.Null()]),
    error: Type.Union([Type.Object({ code: Type.String(), error: Type.String() }), Type.Null()]),
    gold: nullable(Type.String()),
    is_right: nullable(Type.Boolean({ description: 'Null without `gold` or without an answer.' })),
  },
  { $id: 'BatchResult', description: 'One line of the results of a batch.' },
);
export type BatchResult = Static<typeof BatchResult>;

const position = (description: string) => nullable(Type.String({ description }));

export const BatchList = Type.Object(
  {
    batches: Type.Array(Type.Ref(Batch), { maxItems: batch.list.max, description: 'Newest first.' }),
    has_more: Type.Boolean({ description: 'Whether there are more batches in the direction of this page.' }),
    after: position('Send it as `after` to get the next page, with older batches; null if there is none.'),
    before: position('Send it as `before` to get the page with newer batches; null if there is none.'),
  },
  { $id: 'BatchList' },
);
export type BatchList = Static<typeof BatchList>;

/** Closed: a filter with a mistyped name would find every batch. */
export const BatchListQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: batch.list.max, default: batch.list.default })),
    after: Type.Optional(Type.String({ description: 'A `batch_id`; the response lists older batches.' })),
    before: Type.Optional(
      Type.String({ description: 'A `batch_id`; the response lists newer batches. Not together with `after`.' }),
    ),
    status: Type.Optional(literals(BATCH_STATUSES)),
  },
  { additionalProperties: false },
);
export type BatchListQuery = Static<typeof BatchListQuery>;
