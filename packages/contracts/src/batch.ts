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
  description: `Your name for the row, unique in the batch, at most ${batch.custom_id} characters; its line without one.`,
});

export const BatchRow = Type.Object(
  {
    custom_id: Type.Optional(customId),
    ...SessionRequest.properties,
    gold: Type.Optional(
      Type.String({ description: 'The right answer, where it is known: the text of one of the options.' }),
    ),
  },
  { $id: 'BatchRow', description: 'A poll of a batch.' },
);

/** Of a whole batch: fields of the body, and query parameters of an upload. */
export const BatchTerms = Type.Object(
  {
    preset: Type.Optional(literals(PRESETS, { description: 'Of rows that name no preset, models or panel.' })),
    confidence_threshold: Type.Optional({ ...Probability, description: 'Of rows that have none.' }),
    reasons: Type.Optional(Type.Boolean({ description: 'Of rows that do not say.' })),
    max_cost_usd: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        description: 'The most that the whole batch may cost; rows that it does not cover are not run.',
      }),
    ),
    metadata: Type.Optional({ ...Metadata, description: 'Labels of your own, of the batch.' }),
    webhook_url: Type.Optional(WebhookUrl),
    skip_invalid: Type.Optional(
      Type.Boolean({ description: 'Leave out rows that are invalid, instead of refusing the batch.' }),
    ),
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
    line: Type.Integer({ minimum: 1, description: 'Of the file, or the place in `requests`; both begin at 1.' }),
    custom_id: nullable(Type.String()),
    field: nullable(Type.String({ description: '`options[1]`; null where the row as a whole is at fault.' })),
    message: Type.String(),
  },
  { $id: 'BatchRowError' },
);
export type BatchRowError = Static<typeof BatchRowError>;

const rowErrors = {
  errors: Type.Optional(
    Type.Array(Type.Ref(BatchRowError), { maxItems: batch.errors, description: 'With `batch_invalid`: the first.' }),
  ),
  error_count: Type.Optional(Type.Integer({ minimum: 1 })),
};

export const BatchError = Type.Object({ ...ErrorBody.properties, ...rowErrors }, { $id: 'BatchError' });
const problem = { ...Problem.properties, ...rowErrors };
export const BatchProblem = Type.Object(
  { ...problem, errors: Type.Optional(Type.Array(Type.Object({}))) },
  { $id: 'BatchProblem', description: '`errors` are as in BatchError with `batch_invalid`, otherwise as in Problem.' },
);

const costs = {
  required_usd: Type.Optional({ ...Usd, description: 'An available balance of this much would do.' }),
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
    has_gold: Type.Boolean({ description: 'Whether any row says its right answer.' }),
    cost_usd: Type.Number({ minimum: 0, description: 'What its polls have cost so far.' }),
    reserved_usd: Type.Number({
      minimum: 0,
      description: 'What is set aside for rows that wait; what running polls may cost is held beside it.',
    }),
    max_cost_usd: nullable(Usd),
    metadata: Metadata,
    created_at: DateTime,
    expires_at: { ...DateTime, description: 'Rows that have not begun by then are not run.' },
    ended_at: nullable(DateTime),
    status_url: Type.String(),
    results_url: Type.String(),
    report_url: nullable(
      Type.String({ description: 'How its answers compare with the right ones, where it has them.' }),
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
    not_run_reason: notRunReason('Why the row was not run; null where it was.'),
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
    has_more: Type.Boolean({ description: 'Whether to go on in the direction of this page.' }),
    after: position('Send it as `after` for the next page, of older batches; null where there is none.'),
    before: position('Send it as `before` for the page of newer batches; null where there is none.'),
  },
  { $id: 'BatchList' },
);
export type BatchList = Static<typeof BatchList>;

/** Closed: a filter with a mistyped name would find every batch. */
export const BatchListQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: batch.list.max, default: batch.list.default })),
    after: Type.Optional(Type.String({ description: 'A `batch_id`: batches that are older.' })),
    before: Type.Optional(Type.String({ description: 'A `batch_id`: newer ones. Not together with `after`.' })),
    status: Type.Optional(literals(BATCH_STATUSES)),
  },
  { additionalProperties: false },
);
export type BatchListQuery = Static<typeof BatchListQuery>;
