import { type Logger, repeat } from '@eloquentpoll/ops';
import { type Storage, sealReceipts } from '@eloquentpoll/storage';

// Seals the receipts of past days, one worker at a time. Each seal is logged, because the log is kept elsewhere: if a
// day were sealed again with changed receipts, the seals would differ.

const EVERY_MS = 60_000;
const NEXT_MS = 1_000;

export const keepSealing = (
  storage: Storage,
  log: Pick<Logger, 'info' | 'warn'>,
  everyMs = EVERY_MS,
): AsyncDisposable =>
  repeat(
    async () => {
      const outcome = await sealReceipts(storage, ({ day, receipts, root, seal }) =>
        log.info({ day, receipts, root: root.toString('hex'), seal: seal.toString('hex') }, 'receipts.day_sealed'),
      );
      return outcome === 'more' ? NEXT_MS : everyMs;
    },
    { everyMs, onError: (err) => log.warn({ err }, 'receipts.sealing_failed') },
  );
