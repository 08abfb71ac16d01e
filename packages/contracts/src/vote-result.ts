import { type Static, Type } from '@sinclair/typebox';
import { VOTE_ERRORS } from './poll.ts';
import { literals, Milliseconds, nullable, Usd } from './vocabulary.ts';

const vote = {
  model_id: Type.String(),
  success: Type.Boolean(),
  chosen_option: nullable(Type.String()),
  transition: literals(['vote']),
  latency_ms: Milliseconds,
};
const error = nullable(literals(VOTE_ERRORS));

/** One model's answer as the poll's owner sees it. */
export const VoteResult = Type.Object({ ...vote, estimated_cost: Usd, error }, { $id: 'VoteResult' });
export type VoteResult = Static<typeof VoteResult>;

/** The same answer in a public result, which carries no cost data. */
export const PublicVote = Type.Object({ ...vote, error }, { $id: 'PublicVote' });
export type PublicVote = Static<typeof PublicVote>;
