import type { PollsContext } from '../context.ts';

/** After polls were deleted in Postgres: here at once, in other gateways as soon as they hear of it. */
export async function forgetDeleted(
  { bus, runs, log }: Pick<PollsContext, 'bus' | 'runs' | 'log'>,
  pollIds: readonly string[],
): Promise<void> {
  if (pollIds.length === 0) return;
  for (const pollId of pollIds) runs.forget(pollId);
  try {
    await bus.forgetPolls(pollIds);
  } catch (error) {
    // A worker repeats it.
    log.warn({ err: error, polls: pollIds.length }, 'polls.deletion_not_announced');
  }
}
