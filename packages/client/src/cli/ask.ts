import type { PollRequest } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import { followEvents } from './follow-events.ts';
import type { Invocation } from './invocation.ts';
import { progressView } from './progress-view.ts';

const DEFAULT_THRESHOLD = 0.95;

/** Runs a poll and shows its progress, then its result. */
export function askCommand(invocation: Invocation, request: PollRequest): Promise<Exit> {
  const { question, options, confidence_threshold: threshold = DEFAULT_THRESHOLD } = request;
  const events = invocation.polls.stream(request, { signal: invocation.terminal.signal });
  return followEvents(events, invocation, progressView({ question, options, threshold }, invocation));
}
