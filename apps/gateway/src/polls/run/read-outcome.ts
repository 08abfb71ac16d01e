import { setTimeout as sleep } from 'node:timers/promises';
import type { PollResponse } from '@eloquentpoll/contracts';
import { findResultOfPoll, forgetPollKey, type IdempotencyKey } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import type { PollEnd } from './poll-follower.ts';
import { REREAD_MS } from './poll-rereads.ts';

const MAX_READS = 15;

/**
 * The result of a poll that has ended; null when it was given up. Such a poll cost nothing, so its Idempotency-Key is
 * released and a retry makes a new poll.
 */
export async function readOutcome(
  { storage }: Pick<PollsContext, 'storage'>,
  pollId: string,
  end: PollEnd,
  key: IdempotencyKey | undefined,
): Promise<PollResponse | null> {
  if (end.result) return end.result;
  const result = await findResultOfPoll(storage, pollId);
  if (result) return result.detail;
  if (key) await forgetPollKey(storage, key, pollId);
  return null;
}

/** The same for a stream: retries while Postgres is away and the stream is open. Undefined if Postgres stays away. */
export async function readOutcomeUntil(
  context: Pick<PollsContext, 'storage' | 'log'>,
  pollId: string,
  end: PollEnd,
  key: IdempotencyKey | undefined,
  isOver: () => boolean,
): Promise<PollResponse | null | undefined> {
  for (let reads = 0; reads < MAX_READS && !isOver(); reads++) {
    try {
      return await readOutcome(context, pollId, end, key);
    } catch (error) {
      context.log.warn({ poll_id: pollId, err: error }, 'stream.result_unread');
      await sleep(REREAD_MS, undefined, { ref: false });
    }
  }
  return undefined;
}

/** Runs the last step of a stream. If it fails, the stream ends without a last event, and the client can reconnect. */
export function endStream(
  { log }: Pick<PollsContext, 'log'>,
  stream: { end(): void },
  pollId: string,
  finish: () => Promise<void>,
): void {
  finish().catch((error: unknown) => {
    log.warn({ poll_id: pollId, err: error }, 'stream.result_unread');
    stream.end();
  });
}
