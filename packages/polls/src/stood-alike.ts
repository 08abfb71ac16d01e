import type { AskedByRecord, PollResponse } from '@eloquentpoll/contracts';
import type { PollState, recordUsed } from '@eloquentpoll/voting';

/** What a reader needs to recompute the confidence. Empty if no track record was used. */
export const stoodAlikeJson = (used: ReturnType<typeof recordUsed>): Pick<PollResponse, 'track_record'> =>
  used === null ? {} : { track_record: { audits: used.polls, same_leader: used.won } };

/** How the poll was actually run: its worker may have had no track record, or one with a newer alarm. */
export const askedByRecord = (
  { order, roster_version, lock_only }: AskedByRecord,
  { rules }: PollState,
): AskedByRecord => ({ order, roster_version, lock_only: rules.record?.isAlarmed ?? lock_only });
