import { type Static, Type } from '@sinclair/typebox';
import { ErrorBody, Recovery } from './error-body.ts';
import { PANEL_NAMES } from './poll.ts';
import { MinCostUsd, PollResponse } from './poll-response.ts';
import { QuickPollResult } from './poll-session.ts';
import { Progress } from './progress.ts';
import {
  Chances,
  DateTime,
  literals,
  Milliseconds,
  nullable,
  Probability,
  StoodAlike,
  Tally,
  Usd,
} from './vocabulary.ts';
import { VoteResult } from './vote-result.ts';

// The data of the three kinds of event that POST /api/poll/stream sends.

const { question, options, status, poll_id } = PollResponse.properties;
const sharedFields = { question, options, status, poll_id };

const numbered = {
  seq: Type.Integer({ minimum: 0, description: 'Increases with every event of a session; gaps have no meaning.' }),
  session_id: Type.String(),
};

/** `started`: the poll is running, and this is all that is known of it. The first on a connection says what is asked. */
export const StreamStarted = Type.Object(
  {
    ...numbered,
    phase: literals(['started', 'voting']),
    models_requested: Type.Integer({
      minimum: 0,
      description: 'Number of models in the panel. A poll that stops early asks fewer; see its result.',
    }),
    progress: Type.Ref(Progress),
    tally: Tally,
    leader: nullable(Type.String()),
    confidence: nullable(Probability),
    chances: Type.Optional(Chances),
    track_record: Type.Optional(StoodAlike),
    asking: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Models that had been asked but had not answered when this was recorded.',
      }),
    ),
    vote: Type.Union([Type.Ref(VoteResult), Type.Null()]),
    elapsed_ms: Milliseconds,
    question: Type.Optional(Type.String()),
    options: Type.Optional(Type.Array(Type.String())),
    poll_type: Type.Optional(literals(['fptp'])),
    preset: Type.Optional(literals(PANEL_NAMES)),
    confidence_threshold: Type.Optional(Probability),
    max_cost_usd: Type.Optional(Usd),
    status_url: Type.Optional(Type.String()),
    result_url: Type.Optional(Type.String()),
    page_url: Type.Optional(
      Type.String({ description: 'A page for people that shows the progress of the poll and later its result.' }),
    ),
    started_at: Type.Optional(DateTime),
  },
  { $id: 'StreamStarted' },
);
export type StreamStarted = Static<typeof StreamStarted>;

/** `complete`: the poll response, with two fields more; of a quick poll with its own too. */
export const StreamComplete = Type.Object(
  { ...numbered, ...PollResponse.properties, ...Type.Partial(QuickPollResult).properties, ...sharedFields },
  {
    $id: 'StreamComplete',
    description: 'The poll response plus `seq` and `session_id`; for a quick poll, also the fields of its response.',
  },
);
export type StreamComplete = Static<typeof StreamComplete>;

/** `error`: the poll ended without an outcome. */
export const StreamError = Type.Object(
  {
    ...numbered,
    ...Type.Omit(ErrorBody, ['session_id']).properties,
    retryable: Type.Boolean(),
    recovery: Type.Array(Type.Ref(Recovery)),
    min_cost_usd: Type.Optional(MinCostUsd),
  },
  { $id: 'StreamError' },
);
export type StreamError = Static<typeof StreamError>;
