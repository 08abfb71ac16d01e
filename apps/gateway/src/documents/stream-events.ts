import { ERROR_CODES, LIMITS, PollResponse, Recovery, VoteResult } from '@eloquentpoll/contracts';
import { type TSchema, Type } from '@sinclair/typebox';

// The events of a streamed poll. `started` repeats: each is a whole snapshot with a higher number, so a reader may miss
// any of them. One `complete` or one `error` ends the stream.

const count = Type.Integer({ minimum: 0 });
const session = { seq: count, session_id: Type.String() };

const Started = Type.Object({
  ...session,
  phase: Type.Unsafe<'started' | 'voting'>({ type: 'string', enum: ['started', 'voting'] }),
  models_requested: count,
  progress: Type.Object({ received: count, succeeded: count, failed: count, total: count }),
  tally: Type.Record(Type.String({ maxLength: LIMITS.options.length }), count, {
    description: 'Votes of each option so far.',
  }),
  leader: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  vote: Type.Optional(Type.Union([VoteResult, Type.Null()], { description: 'The vote that caused this snapshot.' })),
});

const Complete = Type.Composite([PollResponse, Type.Object(session)]);

const Failed = Type.Object({
  ...session,
  error: Type.String(),
  code: Type.Unsafe<string>({ type: 'string', enum: ERROR_CODES }),
  retryable: Type.Boolean(),
  recovery: Type.Array(Type.Ref(Recovery)),
});

export interface StreamEvent {
  summary: string;
  payload: TSchema;
}

export const STREAM_EVENTS = {
  started: { summary: 'The poll runs; this is how it stands. One more with every ballot.', payload: Started },
  complete: { summary: 'The poll ended, and this is its result. The last event.', payload: Complete },
  error: { summary: 'The poll ended without a valid vote, or could not be run. The last event.', payload: Failed },
} as const satisfies Record<string, StreamEvent>;
