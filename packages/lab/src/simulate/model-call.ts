import type { PollSpec, Vote } from '@eloquentpoll/contracts';
import type { Clock } from '@eloquentpoll/worker/clock';
import { unanswered } from '@eloquentpoll/worker/collect-votes';

/** What a call of a model returns, and which of its limits it ignores. The poll must enforce the limits anyway. */
export interface ModelAnswer {
  readonly vote: Vote;
  /** Infinity: it never answers on its own. */
  readonly afterMs: number;
  readonly ignoresTime: boolean;
  readonly ignoresAbort: boolean;
}

export interface ModelCall {
  readonly spec: PollSpec;
  readonly seat: number;
  readonly timeLeftMs: number;
  readonly signal: AbortSignal;
}

/** Resolves with whichever comes first: the model's vote, the end of its time, or the abort. */
export function callModel(
  clock: Clock,
  { spec, seat, timeLeftMs, signal }: ModelCall,
  { vote, afterMs, ignoresTime, ignoresAbort }: ModelAnswer,
): Promise<Vote> {
  return new Promise((resolve) => {
    const late = !ignoresTime && afterMs > timeLeftMs;
    const settlesMs = late ? timeLeftMs : afterMs;
    const settle = (settled: Vote) => {
      cancel();
      resolve(settled);
    };
    const answer = () => settle(late ? unanswered(spec, seat, 'timeout', timeLeftMs) : vote);
    const cancel = Number.isFinite(settlesMs) ? clock.after(settlesMs, answer) : () => {};
    const aborted = () => settle(unanswered(spec, seat, 'aborted', 0));
    if (ignoresAbort) return;
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted, { once: true });
  });
}
