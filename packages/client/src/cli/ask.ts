import { EloquentPollError, type PollRequest } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import { followEvents } from './follow-events.ts';
import type { Invocation } from './invocation.ts';
import { progressView } from './progress-view.ts';
import { print, programOf } from './terminal.ts';

const DEFAULT_THRESHOLD = 0.95;

/** Runs a poll, shows its progress, then its result. */
export async function askCommand(invocation: Invocation, request: PollRequest): Promise<Exit> {
  const { question, options, confidence_threshold: threshold = DEFAULT_THRESHOLD } = request;
  const events = invocation.polls.stream(request, { signal: invocation.terminal.signal });
  try {
    return await followEvents(events, invocation, progressView({ question, options, threshold }, invocation));
  } catch (error) {
    const { terminal, json } = invocation;
    if (!json && isUnknown(error, invocation)) {
      print(terminal.err, 'The poll may have been created and charged. Before you ask again, look for it:');
      print(terminal.err, `  ${programOf(terminal)} polls`);
    }
    throw error;
  }
}

/** Whether the poll may have been sent, but no answer of the service says what its id is: none came, or one of a proxy. */
const isUnknown = (error: unknown, { heard }: Invocation): boolean =>
  heard.isAny &&
  error instanceof EloquentPollError &&
  error.sessionId === null &&
  /^(network_error|timeout|bad_response|http_5\d\d)$/.test(error.code);
