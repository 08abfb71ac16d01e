import type { Exit } from './exit-codes.ts';
import { followEvents } from './follow-events.ts';
import type { Invocation } from './invocation.ts';
import { showOutcome } from './show-outcome.ts';

/** Follows a poll to its end and shows its result; a result id belongs to a poll that has ended. */
export async function watchCommand(invocation: Invocation, id: string): Promise<Exit> {
  const { polls, terminal } = invocation;
  if (id.startsWith('ps_')) return followEvents(polls.session(id).stream({ signal: terminal.signal }), invocation);
  return showOutcome(await polls.result(id, { signal: terminal.signal }), invocation);
}
