import { type Acceptance, type Accepted, pollAccepter, type Storage } from '@eloquentpoll/storage';
import { acceptSlots } from './accept-slots.ts';

/** Of one account: those that are being accepted, and those that go with the next call. */
const MAX_ON_THE_WAY = 32;

interface Turns {
  connections: number;
  /** From then on only what was begun goes on. */
  ending: AbortSignal;
  /** Of several polls that were sent together it is not known whether they were made; each is tried by itself. */
  onLost(error: unknown): void;
}

/** Accepts polls; one payer has at most `connections` of the pool, and a poll waits so long for its turn as a slot may take. */
export function acceptQueue(
  storage: Storage,
  { connections, ending, onLost }: Turns,
): (acceptance: Acceptance) => Promise<Accepted> {
  const calls = acceptSlots({ running: connections, ending });
  const polls = acceptSlots({ running: MAX_ON_THE_WAY, ending });
  const accept = pollAccepter(storage, calls.run, onLost);
  return (acceptance) => {
    const { accountId } = acceptance.poll;
    // Free polls are never accepted together: their turn is a call.
    if (acceptance.free || accountId === null) return accept(acceptance);
    return polls.run(accountId, () => accept(acceptance));
  };
}
