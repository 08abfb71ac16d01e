import type { PollResponse } from '@eloquentpoll/contracts';
import type { recordUsed } from '@eloquentpoll/voting';

/** What a reader needs to work confidence out again; nothing where no track record was used. */
export const stoodAlikeJson = (used: ReturnType<typeof recordUsed>): Pick<PollResponse, 'track_record'> =>
  used === null ? {} : { track_record: { audits: used.polls, same_leader: used.won } };
