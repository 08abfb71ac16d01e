import { type Static, Type } from '@sinclair/typebox';
import { PollResponse } from './poll-response.ts';
import { Chances, Count, literals, Milliseconds, nullable, Probability, StoodAlike } from './vocabulary.ts';
import { VoteResult } from './vote-result.ts';

// What a worker publishes after every vote: the whole state of a running poll, numbered, so that a reader may miss
// any of them and trust the one with the highest number.

export const POLL_STATUSES = ['running', 'completed', 'failed'] as const;
export type PollStatus = (typeof POLL_STATUSES)[number];

export const Progress = Type.Object(
  { received: Count, succeeded: Count, failed: Count, total: Count },
  {
    $id: 'Progress',
    description: 'How many votes have arrived, how many are valid or failed, and how many models the panel has.',
  },
);

export const ProgressSnapshot = Type.Object({
  /** 0 when the poll starts, one more with every vote, the highest with the terminal snapshot. */
  seq: Count,
  /** The internal id, `ps_...`. */
  poll_id: Type.String(),
  status: literals(POLL_STATUSES),
  /** Size of the panel. */
  models_requested: Count,
  progress: Progress,
  /** Votes by option index. */
  tally: Type.Array(Count),
  /** Index of the option in the lead; null on a tie or before the first vote. */
  leader: nullable(Count),
  confidence: nullable(Probability),
  chances: Type.Optional(Chances),
  track_record: Type.Optional(StoodAlike),
  /** Models that were asked and have not answered. */
  asking: Type.Optional(Count),
  /** The vote that caused this snapshot; null in the first and the terminal one. */
  vote: Type.Union([VoteResult, Type.Null()]),
  /** Both are null until the poll has ended and its result is stored. */
  result_id: nullable(Type.String()),
  result: Type.Union([PollResponse, Type.Null()]),
  elapsed_ms: Milliseconds,
});
export type ProgressSnapshot = Static<typeof ProgressSnapshot>;
