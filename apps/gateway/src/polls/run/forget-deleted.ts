import type { PollsContext } from '../context.ts';

/** Called after polls were deleted in Postgres: this gateway forgets them at once, others when they get the message. */
export async function forgetDeleted(
  { bus, runs, log }: Pick<PollsContext, 'bus' | 'runs' | 'log'>,
  pollIds: readonly string[],
): Promise<void> {
  if (pollIds.length === 0) return;
  for (const pollId of pollIds) runs.forget(pollId);
  try {
    await bus.forgetPolls(pollIds);
  } catch (error) {
    // A worker repeats the deletion.
    log.warn({ err: error, polls: pollIds.length }, 'polls.deletion_not_announced');
  }
}
