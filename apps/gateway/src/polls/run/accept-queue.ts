import { type Acceptance, type Accepted, pollAccepter, type Storage } from '@eloquentpoll/storage';
import { acceptSlots } from './accept-slots.ts';

/** Limit per account: polls that are being accepted, plus those that go with the next call. */
const MAX_ON_THE_WAY = 32;

interface Turns {
  connections: number;
  /** Once aborted, only what has begun is completed. */
  ending: AbortSignal;
  /** A call for several polls was sent and failed: they may have been made. Each is retried separately. */
  onLost(error: unknown): void;
}

/** Accepts polls. One payer uses at most `connections` of the pool; a poll waits as long as `acceptSlots` allows. */
export function acceptQueue(
  storage: Storage,
  { connections, ending, onLost }: Turns,
): (acceptance: Acceptance) => Promise<Accepted> {
  const calls = acceptSlots({ running: connections, ending });
  const polls = acceptSlots({ running: MAX_ON_THE_WAY, ending });
  const accept = pollAccepter(storage, calls.run, onLost);
  return (acceptance) => {
    const { accountId } = acceptance.poll;
    // Free polls are never accepted together, so each takes a slot for a call of its own.
    if (acceptance.free || accountId === null) return accept(acceptance);
    return polls.run(accountId, () => accept(acceptance));
  };
}
