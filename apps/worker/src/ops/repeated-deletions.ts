import type { Bus } from '@eloquentpoll/bus';
import { type Logger, repeat } from '@eloquentpoll/ops';
import { repeatDeletions, type Storage } from '@eloquentpoll/storage';

// A Redis replica that became master may lack a deletion, and a Redis that was down never received it. So each deletion
// is repeated after any failover at that time has ended. Several workers may repeat the same one.

const EVERY_MS = 5_000;
const AFTER_MS = 30_000;
const MAX_AT_ONCE = 500;

export const keepRepeatingDeletions = (
  storage: Storage,
  bus: Pick<Bus, 'forgetPolls'>,
  log: Pick<Logger, 'warn'>,
  { everyMs = EVERY_MS, afterMs = AFTER_MS } = {},
): AsyncDisposable =>
  repeat(
    async () => {
      const forget = (pollIds: readonly string[]) => bus.forgetPolls(pollIds);
      const repeated = await repeatDeletions(storage, { afterMs, limit: MAX_AT_ONCE, forget });
      return repeated < MAX_AT_ONCE ? everyMs : 0;
    },
    { everyMs, onError: (err) => log.warn({ err }, 'polls.deletion_not_repeated') },
  );
