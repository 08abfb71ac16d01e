import { FREE_PRESETS, type Vote } from '@eloquentpoll/contracts';
import { failureLimit } from './failure-limit.ts';
import type { SharedHealth } from './fleet.ts';
import type { VoteRequest } from './vote-request.ts';

// Decides which votes say something about their model. A model's failure rate is part of every poll's confidence, so a
// caller must not be able to move it: only failures of the line count, only in polls that are paid for, and few per account.

/** Refusals, broken forms and unknown labels are brought about by the question. */
const LINE_FAILURES: ReadonlySet<Vote['error']> = new Set(['timeout', 'rate_limited', 'provider_error']);

export type RecordVote = (request: VoteRequest, ended: { callMs: number } | { error: Vote['error'] }) => void;

export function voteRecorder(fleet: Pick<SharedHealth, 'vote'>, now: () => number): RecordVote {
  const mayCount = failureLimit(now);

  return (request, ended) => {
    if (isFreePanel(request.panel)) return;
    if ('callMs' in ended) fleet.vote(request.modelId, ended.callMs);
    else if (LINE_FAILURES.has(ended.error) && mayCount(request)) fleet.vote(request.modelId, null);
  };
}

const isFreePanel = (panel: VoteRequest['panel']): boolean => FREE_PRESETS.some((free) => free === panel);
