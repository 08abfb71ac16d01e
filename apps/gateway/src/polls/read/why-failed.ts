import type { ErrorCode, PollResponse } from '@eloquentpoll/contracts';
import { wasCanceled } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';

export interface PollFailure {
  code: ErrorCode;
  /** A sentence about this poll; without it the catalogue's text is used. */
  detail?: string;
  members?: { min_cost_usd: number };
}

/** The error of a poll without a vote. A retry may succeed, unless the maximum cost does not cover a single call. */
export function whyFailed(
  result: Pick<PollResponse, 'votes' | 'termination_reason' | 'max_cost_usd' | 'min_cost_usd' | 'code'> | null,
): PollFailure {
  if (result?.code === 'poll_canceled') return { code: 'poll_canceled' };
  if (result?.termination_reason !== 'budget' || result.votes.length > 0) return { code: 'poll_failed' };
  const { max_cost_usd, min_cost_usd } = result;
  if (min_cost_usd === undefined) return { code: 'budget_too_small' };
  const detail = `$${decimal(max_cost_usd)} does not pay for one vote; the cheapest costs up to $${decimal(min_cost_usd)}.`;
  return { code: 'budget_too_small', detail, members: { min_cost_usd } };
}

/** All digits: a rounded limit could again be too low. */
const decimal = (usd: number): string => usd.toFixed(6).replace(/\.?0+$/, '');

/** The error of a poll that ended without a result: canceled before a worker claimed it, or given up. */
export const whyWithoutResult = async (
  { storage }: Pick<PollsContext, 'storage'>,
  pollId: string,
  otherwise: ErrorCode,
): Promise<PollFailure> => ({ code: (await wasCanceled(storage, pollId)) ? 'poll_canceled' : otherwise });
