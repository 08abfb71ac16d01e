import { randomBytes } from 'node:crypto';
import type { PollOptions, PollRequest } from '../eloquentpoll.ts';
import type { Exit } from './exit-codes.ts';
import { followEvents } from './follow-events.ts';
import { mayBeMade } from './heard.ts';
import type { Invocation } from './invocation.ts';
import { isLostPoll, showLostPoll } from './lost-poll.ts';
import { progressView } from './progress-view.ts';
import { print, programOf } from './terminal.ts';

const DEFAULT_THRESHOLD = 0.95;

/** Runs a poll, shows its progress, then its result. */
export async function askCommand(
  invocation: Invocation,
  request: PollRequest,
  { idempotencyKey = randomBytes(16).toString('hex') }: Pick<PollOptions, 'idempotencyKey'>,
): Promise<Exit> {
  const { question, options: choices, confidence_threshold: threshold = DEFAULT_THRESHOLD } = request;
  const { polls, terminal, json, heard } = invocation;
  heard.idempotencyKey = idempotencyKey;
  const events = polls.stream(request, { idempotencyKey, signal: terminal.signal });
  try {
    return await followEvents(events, invocation, progressView({ question, options: choices, threshold }, invocation));
  } catch (error) {
    if (isLostPoll(error) && !terminal.signal.aborted) return showLostPoll(error, invocation);
    if (!json && mayBeMade(error, heard, terminal.signal)) {
      print(
        terminal.err,
        'The poll may have been created and charged. Before you ask again, look for it:',
        `  ${programOf(terminal)} polls`,
        `To join it, repeat the command with --idempotency-key ${idempotencyKey}`,
      );
    }
    throw error;
  }
}
