import { FREE_PRESETS, type Vote } from '@eloquentpoll/contracts';
import { failureLimit } from './failure-limit.ts';
import type { SharedHealth } from './fleet.ts';
import type { VoteRequest } from './vote-request.ts';

// Decides which votes count as evidence about their model. A model's failure rate affects every poll's confidence, so
// callers must not be able to move it: only failures of the line count, only in paid polls, and few per account.

/** Refusals, malformed answers and unknown labels are caused by the question. */
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
