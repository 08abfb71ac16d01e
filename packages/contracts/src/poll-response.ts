import { type Static, Type } from '@sinclair/typebox';
import { PanelStanding } from './panel-standing.ts';
import { AskedByRecord, PANEL_NAMES, TERMINATION_REASONS } from './poll.ts';
import { PollReading } from './poll-reading.ts';
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
  TokenUsage,
  Usd,
} from './vocabulary.ts';
import { VoteResult } from './vote-result.ts';

export const VERDICTS = ['final', 'kept', 'tied', 'unsafe', 'unanswered'] as const;
export const AGREEMENTS = ['unanimous', 'broad', 'clear', 'split', 'tied'] as const;

export const RESULT_STATUSES = ['success', 'partial', 'failed'] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/** When a vote came in, counted from when the poll was accepted, and how likely each outcome was then. */
const Arrival = Type.Object({
  at_ms: Milliseconds,
  confidence: nullable(Probability),
  chances: Type.Optional(Chances),
  track_record: Type.Optional(StoodAlike),
});

export const Timing = Type.Object(
  {
    gather_ms: Milliseconds,
    total_ms: Milliseconds,
    arrivals: Type.Optional(
      Type.Array(Arrival, {
        description:
          'One for each of `votes`, in the same order. Missing if the poll moved to another worker while running.',
      }),
    ),
  },
  { $id: 'Timing' },
);
export type Timing = Static<typeof Timing>;

/** What the poll came to, in words for people; every page and program says the same. */
export const Verdict = Type.Object(
  {
    kind: literals(VERDICTS),
    headline: Type.String(),
    agreement: nullable(
      literals(AGREEMENTS, {
        description:
          'How many votes would have to switch to end the lead. `split`: one. `clear`: more. `broad`: the winner leads by more than half of all votes.',
      }),
    ),
    likely_to_stay: nullable(
      Type.Number({
        minimum: 0,
        exclusiveMaximum: 1,
        description:
          'Probability that the winner stays the same if all models are asked; null if the winner is final or the probability unknown.',
      }),
    ),
    text: Type.String({ description: 'The headline with its details and their meaning.' }),
  },
  { $id: 'Verdict' },
);
export type Verdict = Static<typeof Verdict>;

export const MinCostUsd = Type.Number({
  minimum: 0,
  description: 'With `budget_too_small`: the lowest `max_cost_usd` that covers one vote.',
});

/** A finished poll as its owner sees it, and as it is stored with the result. */
export const PollResponse = Type.Object(
  {
    poll_id: Type.String({ description: 'Id of the result. Anyone who has the id can read the public result.' }),
    status: literals(RESULT_STATUSES),
    outcome: Type.String({
      description: 'Text of the winning option, `tie` or `no_votes`. `is_tie` and `winning_option` are authoritative.',
    }),
    question: Type.String(),
    options: Type.Array(Type.String()),
    poll_type: literals(['fptp']),
    winning_option: nullable(Type.String()),
    is_tie: Type.Boolean(),
    confidence_threshold: Probability,
    max_cost_usd: Usd,
    early_terminated: Type.Boolean(),
    termination_reason: nullable(literals(TERMINATION_REASONS)),
    models_skipped: Count,
    tally: Tally,
    votes: Type.Array(Type.Ref(VoteResult)),
    timing: Type.Ref(Timing),
    costs: Type.Object({
      total_estimated_cost: Usd,
      failed_calls_cost: Type.Optional(
        Type.Number({
          minimum: 0,
          description:
            'The part of the total for calls that failed because of the question (refusals, malformed answers, unknown options, repeated timeouts of a model that answers other callers) or were under way at a cancellation, and exceed the free allowance of the account per UTC day. Missing if there is none.',
        }),
      ),
    }),
    usage: Type.Optional(TokenUsage),
    confidence: nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description:
          'Probability that the models left would not change the winner; null for a tie and without votes. In a `partial` poll, failed models count as left.',
      }),
    ),
    chances: Type.Optional(Chances),
    track_record: Type.Optional(StoodAlike),
    asking: Type.Optional(AskedByRecord),
    verdict: Type.Optional(Type.Ref(Verdict)),
    panel: Type.Optional(Type.Ref(PanelStanding)),
    reading: Type.Optional(Type.Ref(PollReading)),
    code: Type.Optional(
      literals(['budget_too_small', 'poll_canceled'], {
        description:
          'Why there is no vote: `max_cost_usd` does not cover one, or the poll was canceled before the first one.',
      }),
    ),
    min_cost_usd: Type.Optional(MinCostUsd),
    preset: literals(PANEL_NAMES, { description: '`custom` if the caller named the models.' }),
    saved_panel: Type.Optional(Type.String({ description: 'The name of the saved panel, if the poll used one.' })),
    simulated: Type.Boolean({ description: 'Whether simulated models voted; their ids start with `sim/`.' }),
    expires_at: Type.Optional({ ...DateTime, description: 'When the poll and its result are deleted.' }),
  },
  { $id: 'PollResponse' },
);
export type PollResponse = Static<typeof PollResponse>;
