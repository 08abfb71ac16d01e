import type { CampaignHistory, StoredPoll } from '../history.ts';
import type { RecordedOperation } from '../operations.ts';

/** Maps what callers know (a poll id, a result id or an Idempotency-Key) to stored polls. */
export function askedPolls({ polls, keys }: Pick<CampaignHistory, 'polls' | 'keys'>) {
  const pollOf = new Map(polls.map((poll) => [poll.id, poll]));
  const ofResult = new Map(polls.map(({ id, resultId }) => [resultId, id]));
  const byKey = new Map(keys.map(({ key, pollId }) => [key, pollId]));
  const idOf = (name: string): string => ofResult.get(name) ?? name;
  return {
    pollOf,
    idOf,
    buried: new Set(polls.filter((poll) => poll.buried).map(({ id }) => id)),
    pollsOf({ named, key }: Pick<RecordedOperation, 'named' | 'key'>): StoredPoll[] {
      const kept = key === null ? undefined : byKey.get(key);
      const ids = new Set([...[...named].map(idOf), ...(kept === undefined ? [] : [kept])]);
      return [...ids].flatMap((id) => pollOf.get(id) ?? []);
    },
  };
}
