import type { AskedByRecord, PollResponse } from '@eloquentpoll/contracts';
import type { PollState, recordUsed } from '@eloquentpoll/voting';

/** What a reader needs to work confidence out again; nothing where no track record was used. */
export const stoodAlikeJson = (used: ReturnType<typeof recordUsed>): Pick<PollResponse, 'track_record'> =>
  used === null ? {} : { track_record: { audits: used.polls, same_leader: used.won } };

/** As the poll was run: its worker may not have had the record, or an alarm that came since. */
export const askedByRecord = (
  { order, roster_version, lock_only }: AskedByRecord,
  { rules }: PollState,
): AskedByRecord => ({ order, roster_version, lock_only: rules.record?.isAlarmed ?? lock_only });
