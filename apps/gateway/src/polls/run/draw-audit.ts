import { createHmac } from 'node:crypto';
import { noteRosterVersion } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import type { AskingNow } from '../order/asking-now.ts';

// Which polls are audited is decided when they are accepted, by a keyed hash of their id: neither a caller nor what became
// of the poll has a part in it.

/** Of this process; each is stored before the first poll that names it. */
const noted = new Set<string>();

/** The roster version that the poll is audited for; undefined for most polls. */
export async function drawAudit(
  { config, storage, log }: Pick<PollsContext, 'config' | 'storage' | 'log'>,
  pollId: string,
  { roster, known }: AskingNow,
): Promise<string | undefined> {
  const { rate, laterRate, rateUntil } = config.audits;
  if (rate === 0 || roster === null) return undefined;
  if (drawOf(config.keyPepper, pollId) >= ((known?.audits ?? 0) < rateUntil ? rate : laterRate)) return undefined;
  const key = `${config.database.url} ${roster.version}`;
  if (!noted.has(key)) {
    try {
      await noteRosterVersion(storage, roster);
    } catch (err) {
      log.warn({ err, roster_version: roster.version }, 'audit.roster_version_not_stored');
      return undefined;
    }
    noted.add(key);
  }
  return roster.version;
}

/** In [0, 1), evenly. */
const drawOf = (secret: string, pollId: string): number =>
  createHmac('sha256', secret).update(`audit of ${pollId}`).digest().readUInt32BE() / 2 ** 32;
