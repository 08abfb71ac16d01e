import { type Static, Type } from '@sinclair/typebox';
import { LIMITS } from './limits.ts';
import { PanelStanding } from './panel-standing.ts';
import { AskedByRecord, TERMINATION_REASONS } from './poll.ts';
import { PollReading } from './poll-reading.ts';
import { RESULT_STATUSES, Timing, Verdict } from './poll-response.ts';
import {
  Chances,
  Count,
  DateTime,
  literals,
  Milliseconds,
  nullable,
  Probability,
  StoodAlike,
  Tally,
  Usd,
} from './vocabulary.ts';
import { PublicVote } from './vote-result.ts';

/** A result as anyone who holds its id may read it: no cost data, no owner. */
export const ResultDetail = Type.Object(
  {
    poll_id: Type.String(),
    status: literals(RESULT_STATUSES),
    question: nullable(Type.String()),
    options: Type.Array(Type.String()),
    poll_type: Type.String(),
    winning_option: nullable(Type.String()),
    is_tie: Type.Boolean(),
    confidence_threshold: nullable(Probability),
    max_cost_usd: nullable(Usd),
    early_terminated: Type.Boolean(),
    termination_reason: nullable(literals(TERMINATION_REASONS)),
    models_skipped: Count,
    tally: Tally,
    votes: Type.Array(Type.Ref(PublicVote)),
    models_requested: Count,
    models_succeeded: Count,
    models_failed: Count,
    timing: Type.Ref(Timing),
    created_at: DateTime,
    confidence: Type.Optional(nullable(Probability)),
    chances: Type.Optional(Chances),
    track_record: Type.Optional(StoodAlike),
    asking: Type.Optional(AskedByRecord),
    verdict: Type.Optional(Type.Ref(Verdict)),
    panel: Type.Optional(Type.Ref(PanelStanding)),
    reading: Type.Optional(Type.Ref(PollReading)),
    preset: Type.Optional(Type.String()),
    simulated: Type.Optional(Type.Boolean()),
    expires_at: Type.Optional({ ...DateTime, description: 'When the poll and its result are deleted.' }),
  },
  { $id: 'ResultDetail' },
);
export type ResultDetail = Static<typeof ResultDetail>;

const summary = {
  resultId: Type.String(),
  pollType: Type.String(),
  winningOption: nullable(Type.String()),
  isTie: Type.Boolean(),
  modelsRequested: Count,
  modelsSucceeded: Count,
  createdAt: DateTime,
};

export const RecentResult = Type.Object(summary, { $id: 'RecentResult' });
export type RecentResult = Static<typeof RecentResult>;

export const HistoryResult = Type.Object(
  {
    ...summary,
    status: literals(RESULT_STATUSES),
    totalCostUsd: Type.String({ description: 'US dollars as decimal text, so that no digit is lost.' }),
    totalMs: nullable(Milliseconds),
    expiresAt: Type.Optional(nullable({ ...DateTime, description: 'When the poll and its result are deleted.' })),
  },
  { $id: 'HistoryResult' },
);
export type HistoryResult = Static<typeof HistoryResult>;

export const HistoryQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMITS.history.max, default: LIMITS.history.default })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0 })),
});
export type HistoryQuery = Static<typeof HistoryQuery>;
