import { createHmac } from 'node:crypto';
import type { PollOrder } from '@eloquentpoll/polls';
import { noteRosterVersion } from '@eloquentpoll/storage';
import type { PollsContext } from '../context.ts';
import type { AskingNow } from '../order/asking-now.ts';

// Whether a question is audited is decided when it is asked, by a keyed hash: all its polls are drawn or none, and the
// SQL function draw_audit selects the first of them. Neither the caller nor a result can influence it.

/** Versions noted by this process. Each is stored before the first poll that names it. */
const noted = new Set<string>();

export interface DrawnAudit {
  /** The roster version under which the poll is audited, unless an earlier poll asked the same. */
  auditVersion?: string | undefined;
  auditQuestion?: string | undefined;
}

interface Asked extends Pick<PollOrder, 'question' | 'options'> {
  tenant: string;
}

/** Empty for most polls, which are not audited. */
export async function drawAudit(
  { config, storage, log }: Pick<PollsContext, 'config' | 'storage' | 'log'>,
  asked: Asked,
  { roster, known }: AskingNow,
): Promise<DrawnAudit> {
  const { rate, laterRate, rateUntil } = config.audits;
  if (rate === 0 || roster === null) return {};
  const hash = hashOf(config.keyPepper, roster.version, asked);
  if (drawOf(hash) >= ((known?.audits ?? 0) < rateUntil ? rate : laterRate)) return {};
  const key = `${config.database.url} ${roster.version}`;
  if (!noted.has(key)) {
    try {
      await noteRosterVersion(storage, roster);
    } catch (err) {
      log.warn({ err, roster_version: roster.version }, 'audit.roster_version_not_stored');
      return {};
    }
    noted.add(key);
  }
  return { auditVersion: roster.version, auditQuestion: hash.toString('hex') };
}

/** The same options in another order are the same question. */
const hashOf = (secret: string, version: string, { tenant, question, options }: Asked): Buffer =>
  createHmac('sha256', secret)
    .update(`audit of ${JSON.stringify([version, tenant, question, options.toSorted()])}`)
    .digest();

/** Evenly distributed in [0, 1). */
const drawOf = (hash: Buffer): number => hash.readUInt32BE() / 2 ** 32;
