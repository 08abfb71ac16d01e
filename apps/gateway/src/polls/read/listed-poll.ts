import type { ListedPoll } from '@eloquentpoll/contracts';
import type { PollLine } from '@eloquentpoll/storage';

/** Shown only to the account that asked the poll. */
export const toListedPoll = (line: PollLine): ListedPoll => ({
  session_id: line.pollId,
  status: line.status,
  result_id: line.resultId,
  question: line.question,
  preset: line.panelName,
  service_tier: line.serviceTier,
  metadata: line.metadata ?? {},
  key_id: line.keyId,
  winning_option: line.winningOption,
  is_tie: line.isTie,
  is_close: line.isClose,
  cost_usd: line.costU === null ? null : Number(line.costU) / 1_000_000,
  created_at: line.createdAt.toISOString(),
  ended_at: line.finishedAt?.toISOString() ?? null,
  expires_at: line.expiresAt?.toISOString() ?? null,
});
