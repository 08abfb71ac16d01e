import { createHmac } from 'node:crypto';
import { noteRosterVersion } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import type { AskingNow } from '../order/asking-now.ts';

// Whether a poll is audited is decided when it is accepted, by a keyed hash of its id. Neither the caller nor the
// poll's result can influence it.

/** Versions noted by this process. Each is stored before the first poll that names it. */
const noted = new Set<string>();

/** The roster version under which the poll is audited; undefined for most polls, which are not audited. */
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

/** Evenly distributed in [0, 1). */
const drawOf = (secret: string, pollId: string): number =>
  createHmac('sha256', secret).update(`audit of ${pollId}`).digest().readUInt32BE() / 2 ** 32;
