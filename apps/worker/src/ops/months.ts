import { type Logger, repeat } from '@eloquentpoll/ops';
import { dropMonths, makeMonths, type Storage, withMonthsLock } from '@eloquentpoll/storage';

// Creates the partitions of coming months and drops those of past months, one worker at a time. An alarm reports
// missing partitions weeks before they are needed.

const FIRST_MS = 10_000;
const EVERY_MS = 3_600_000;

export const keepMonths = (
  storage: Storage,
  log: Pick<Logger, 'info' | 'error'>,
  { firstMs = FIRST_MS, everyMs = EVERY_MS } = {},
): AsyncDisposable =>
  repeat(
    async () => {
      await withMonthsLock(storage, async () => {
        for (const month of await makeMonths(storage)) log.info({ month }, 'month.made');
        await dropMonths(storage, (step) => log.info({ step }, 'month.dropped'));
      });
    },
    { firstMs, everyMs, onError: (err) => log.error({ err }, 'months.keeping_failed') },
  );
