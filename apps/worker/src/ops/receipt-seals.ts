import { type Logger, repeat } from '@eloquentpoll/ops';
import { type Storage, sealReceipts } from '@eloquentpoll/storage';

// Seals the receipts of days that are over, one worker at a time. A seal is logged, because the log is kept elsewhere: a
// day that was sealed anew would have another.

const EVERY_MS = 60_000;

export const keepSealing = (
  storage: Storage,
  log: Pick<Logger, 'info' | 'warn'>,
  everyMs = EVERY_MS,
): AsyncDisposable =>
  repeat(
    async () => {
      for (const { day, receipts, root, seal } of (await sealReceipts(storage)) ?? [])
        log.info({ day, receipts, root: root.toString('hex'), seal: seal.toString('hex') }, 'receipts.day_sealed');
    },
    { everyMs, onError: (err) => log.warn({ err }, 'receipts.sealing_failed') },
  );
